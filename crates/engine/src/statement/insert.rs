//! INSERT: rows of a query into a table's files.

use super::Runner;
use super::create_table::table_folder;
use super::partition::unknown_changes;
use super::rows::nothing;
use crate::catalog_state::Found;
use crate::python::source::Target;
use datafusion::logical_expr::LogicalPlan;
use firesteel_analyzer::environment::Environment;
use firesteel_analyzer::{Analyzer, LocalRows, Resolved, attribute, resolved};
use firesteel_catalog::{CatalogTable, QualifiedName, TableKind};
use firesteel_config::PartitionOverwriteMode;
use firesteel_error::{Result, SparkError};
use firesteel_functions::TypedExpr;
use firesteel_functions::cast::store::store_assign;
use firesteel_functions::function::BuildContext;
use firesteel_plan::{Expr, ExprKind, Insert, Relation, RelationKind, TableName};
use firesteel_sources::SaveMode;
use firesteel_sources::request::WriteRequest;
use firesteel_types::{Literal, StructField, StructType};
use std::collections::BTreeMap;

/// Where a table's column gets its values from.
enum Source {
    /// A column of the query, by position.
    Query(usize),
    /// An expression of the statement.
    Value(Expr),
    /// The column's default.
    Default,
}

/// Files to be written.
pub(crate) struct Files<'a> {
    pub format: &'a str,
    pub path: String,
    pub mode: SaveMode,
    pub partition_by: Vec<String>,
    pub options: Vec<(String, String)>,
}

impl Runner {
    pub(super) fn insert(&self, insert: &Insert) -> Result<LocalRows> {
        if let Some(directory) = &insert.directory {
            let path = directory.path.clone().or_else(|| {
                directory.options.iter().find(|(key, _)| key.eq_ignore_ascii_case("path")).map(|(_, path)| path.clone())
            });
            let (Some(path), Some(provider)) = (path, &directory.provider) else {
                return Err(SparkError::new("NOT_SUPPORTED_COMMAND_WITHOUT_HIVE_SUPPORT")
                    .with("cmd", "INSERT OVERWRITE DIRECTORY with the Hive format"));
            };
            let resolved = self.analyse(&insert.query)?;
            let schema = attribute::schema_of(&resolved.output);
            let files = Files {
                format: &crate::write::format_name(provider),
                path,
                mode: SaveMode::Overwrite,
                partition_by: Vec::new(),
                options: directory.options.clone(),
            };
            self.write_files(resolved.exact()?, schema, files)?;
            return Ok(nothing());
        }
        if insert.with_schema_evolution {
            return Err(SparkError::new("UNSUPPORTED_INSERT_WITH_SCHEMA_EVOLUTION"));
        }
        if let Some(table) = self.database_view(&insert.table)? {
            self.insert_rows(&table, insert)?;
            return Ok(nothing());
        }
        let table = self.target_table(&insert.table, "INSERT")?;
        if insert.replace_where.is_some() {
            return Err(SparkError::new("_LEGACY_ERROR_TEMP_1012").with("identifier", table.name.quoted()));
        }
        self.insert_into(&table, insert)?;
        Ok(nothing())
    }

    /// The table of a database that a temporary view is.
    fn database_view(&self, name: &TableName) -> Result<Option<CatalogTable>> {
        let (name, view) = match self.find(&self.parts(name)?)? {
            Some(Found::Temporary { name, .. }) => {
                let view = self.session.catalog_state().view_queries.read().get(&name.to_lowercase()).cloned();
                (name, view)
            }
            Some(Found::Global { name, .. }) => {
                let view = self.session.engine().global_view_queries().read().get(&name).cloned();
                (name, view)
            }
            _ => return Ok(None),
        };
        let Some(view) = view else { return Ok(None) };
        let RelationKind::DataSource(source) = view.query.kind() else { return Ok(None) };
        if !source.format.as_deref().is_some_and(crate::jdbc::is_jdbc) {
            return Ok(None);
        }
        Ok(Some(CatalogTable {
            name: QualifiedName::new(&view.database, &name),
            kind: TableKind::External,
            provider: Some(crate::jdbc::JDBC.to_string()),
            schema: view.schema.as_nullable(),
            partition_columns: Vec::new(),
            bucketing: None,
            location: Some(String::new()),
            comment: None,
            properties: BTreeMap::new(),
            options: source.options.iter().cloned().collect(),
            collation: None,
            created: super::now(),
            owner: String::new(),
            statistics: None,
            view: None,
            unknown_partitions: Vec::new(),
        }))
    }

    fn insert_into(&self, table: &CatalogTable, insert: &Insert) -> Result<()> {
        self.insert_rows(table, insert)?;
        self.forget_statistics(&table.name)
    }

    fn insert_rows(&self, table: &CatalogTable, insert: &Insert) -> Result<()> {
        let static_values = self.partition_values(table, &insert.partition)?;
        if static_values.iter().any(|(_, value)| value.is_empty()) {
            let spec: Vec<String> = static_values.iter().map(|(column, value)| format!("{column}={value}")).collect();
            let details = format!("The spec ([{}]) contains an empty partition column value", spec.join(", "));
            return Err(SparkError::new("_LEGACY_ERROR_TEMP_1076").with("details", details));
        }
        let is_static = |name: &str| static_values.iter().any(|(c, _)| c.eq_ignore_ascii_case(name));
        if let Some(column) = insert.columns.iter().find(|c| is_static(c)) {
            return Err(SparkError::new("STATIC_PARTITION_COLUMN_IN_INSERT_COLUMN_LIST")
                .with("staticName", attribute::quote(column)));
        }
        if insert.if_partition_not_exists {
            let folder = self.partition_folder(table, &static_values)?;
            if self.stores_of(table).exists(&folder)? {
                return Ok(());
            }
        }
        let targets = self.target_columns(table, insert, &is_static)?;
        let query = self.with_defaults(&insert.query, &targets)?;
        let resolved = self.analyse(&query)?;
        let is_dynamic = self.conf().partition_overwrite_mode == PartitionOverwriteMode::Dynamic
            && !table.partition_columns.is_empty();
        if insert.overwrite && !is_dynamic {
            crate::files::check_table_not_read(&resolved.plan, table)?;
        }
        let mut sources: Vec<Source> = Vec::new();
        let positions = if insert.by_name { Some(self.positions_by_name(table, &targets, &resolved)?) } else { None };
        if positions.is_none() && resolved.output.len() != targets.len() {
            return Err(self.arity_mismatch(table, &targets, &resolved, &static_values));
        }
        for field in &table.schema.fields {
            let given = insert.partition.iter().find(|(c, _)| c.eq_ignore_ascii_case(&field.name));
            let target = targets.iter().position(|t| t.name == field.name);
            sources.push(match (given, target) {
                (Some((_, Some(value))), _) => Source::Value(self.partition_value(table, &field.name, value)),
                (_, Some(target)) => match &positions {
                    Some(positions) => positions[target].map_or(Source::Default, Source::Query),
                    None => Source::Query(target),
                },
                (_, None) => Source::Default,
            });
        }
        let mut fields: Vec<StructField> = table.schema.fields.clone();
        let mut partition_by = table.partition_columns.clone();
        let mut folder = table_folder(table)?;
        if insert.overwrite && !static_values.is_empty() {
            let prefix = &table.partition_columns[..static_values.len()];
            if !prefix.iter().all(|c| is_static(c)) {
                return Err(SparkError::unsupported("INSERT OVERWRITE with dynamic partitions before static ones"));
            }
            folder = self.partition_folder(table, &static_values)?;
            partition_by.drain(..static_values.len());
            let kept: Vec<bool> = fields.iter().map(|f| !is_static(&f.name)).collect();
            let mut keep = kept.iter();
            fields.retain(|_| keep.next().copied().unwrap_or(true));
            let mut keep = kept.iter();
            sources.retain(|_| keep.next().copied().unwrap_or(true));
        }
        let (plan, schema) = self.stored_columns(table, &resolved, &fields, &sources)?;
        let is_python = table.provider.as_deref().is_some_and(|name| self.session.python().source(name).is_some());
        let mut options: Vec<(String, String)> =
            if is_python { Vec::new() } else { table.options.clone().into_iter().collect() };
        options.extend(insert.options.iter().cloned());
        let before = unknown_changes(&self.stores_of(table), table)?;
        self.write_files(
            plan,
            schema,
            Files {
                format: table.provider.as_deref().unwrap_or("parquet"),
                path: folder.to_string_lossy().into_owned(),
                mode: if insert.overwrite { SaveMode::Overwrite } else { SaveMode::Append },
                partition_by,
                options,
            },
        )?;
        self.know_written(table, &before)?;
        self.forget_statistics(&table.name)
    }

    /// Writes a relation's columns, by position, to a table's folder.
    pub(crate) fn write_rows(&self, table: &CatalogTable, rows: &Resolved, mode: SaveMode) -> Result<()> {
        // Partition columns stand last in the table, wherever the query has them.
        let mut sources = Vec::new();
        for field in &table.schema.fields {
            let position = rows.output.iter().position(|a| a.name == field.name);
            let position =
                position.or_else(|| rows.output.iter().position(|a| a.name.eq_ignore_ascii_case(&field.name)));
            sources.push(position.map_or(Source::Default, Source::Query));
        }
        let (plan, schema) = self.stored_columns(table, rows, &table.schema.fields, &sources)?;
        let before = unknown_changes(&self.stores_of(table), table)?;
        self.write_files(
            plan,
            schema,
            Files {
                format: table.provider.as_deref().unwrap_or("parquet"),
                path: table_folder(table)?.to_string_lossy().into_owned(),
                mode,
                partition_by: table.partition_columns.clone(),
                options: table.options.clone().into_iter().collect(),
            },
        )?;
        self.know_written(table, &before)
    }

    /// The columns that the query's columns are for.
    fn target_columns(
        &self,
        table: &CatalogTable,
        insert: &Insert,
        is_static: &impl Fn(&str) -> bool,
    ) -> Result<Vec<StructField>> {
        if insert.columns.is_empty() {
            return Ok(table.schema.fields.iter().filter(|f| !is_static(&f.name)).cloned().collect());
        }
        let mut targets: Vec<StructField> = Vec::new();
        for column in &insert.columns {
            let (_, field) = table
                .schema
                .field(column)
                .or_else(|| table.schema.fields.iter().enumerate().find(|(_, f)| f.name.eq_ignore_ascii_case(column)))
                .ok_or_else(|| {
                    let names: Vec<String> = table.schema.names().map(attribute::quote).collect();
                    SparkError::new("UNRESOLVED_COLUMN.WITH_SUGGESTION")
                        .with("objectName", attribute::quote(column))
                        .with("proposal", names.join(", "))
                })?;
            if targets.iter().any(|t| t.name == field.name) {
                return Err(SparkError::new("COLUMN_ALREADY_EXISTS").with("columnName", attribute::quote(column)));
            }
            targets.push(field.clone());
        }
        // Columns of `PARTITION (c)` without a value follow the list.
        for (column, value) in &insert.partition {
            let field = table.schema.fields.iter().find(|f| f.name.eq_ignore_ascii_case(column));
            if let (None, Some(field)) = (value, field)
                && !targets.iter().any(|t| t.name == field.name)
            {
                targets.push(field.clone());
            }
        }
        Ok(targets)
    }

    /// For each target the query's column of the same name.
    fn positions_by_name(
        &self,
        table: &CatalogTable,
        targets: &[StructField],
        resolved: &Resolved,
    ) -> Result<Vec<Option<usize>>> {
        let same = |a: &str, b: &str| a.eq_ignore_ascii_case(b);
        let extra: Vec<String> = resolved
            .output
            .iter()
            .filter(|a| !targets.iter().any(|t| same(&t.name, &a.name)))
            .map(|a| attribute::quote(&a.name))
            .collect();
        if !extra.is_empty() {
            return Err(SparkError::new("INCOMPATIBLE_DATA_FOR_TABLE.EXTRA_COLUMNS")
                .with("tableName", table.name.quoted())
                .with("extraColumns", extra.join(", ")));
        }
        let mut out = Vec::new();
        for target in targets {
            let mut found = resolved.output.iter().enumerate().filter(|(_, a)| same(&a.name, &target.name));
            let first = found.next().map(|(i, _)| i);
            if found.next().is_some() {
                return Err(SparkError::new("INCOMPATIBLE_DATA_FOR_TABLE.AMBIGUOUS_COLUMN_NAME")
                    .with("tableName", table.name.quoted())
                    .with("colName", attribute::quote(&target.name)));
            }
            out.push(first);
        }
        Ok(out)
    }

    fn arity_mismatch(
        &self,
        table: &CatalogTable,
        targets: &[StructField],
        resolved: &Resolved,
        static_values: &[(String, String)],
    ) -> SparkError {
        let list = |names: Vec<&str>| names.into_iter().map(attribute::quote).collect::<Vec<_>>().join(", ");
        let data = list(resolved.output.iter().map(|a| a.name.as_str()).collect());
        if !static_values.is_empty() {
            return SparkError::new("INSERT_PARTITION_COLUMN_ARITY_MISMATCH")
                .with("tableName", table.name.quoted())
                .with(
                    "reason",
                    if resolved.output.len() > targets.len() {
                        "too many data columns"
                    } else {
                        "not enough data columns"
                    },
                )
                .with("tableColumns", list(table.schema.names().collect()))
                .with("staticPartCols", list(static_values.iter().map(|(c, _)| c.as_str()).collect()))
                .with("dataColumns", data);
        }
        let condition = if resolved.output.len() > targets.len() {
            "INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS"
        } else {
            "INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS"
        };
        SparkError::new(condition)
            .with("tableName", table.name.quoted())
            .with("tableColumns", list(targets.iter().map(|t| t.name.as_str()).collect()))
            .with("dataColumns", data)
    }

    /// The query with defaults in the place of `DEFAULT`.
    fn with_defaults(&self, query: &Relation, targets: &[StructField]) -> Result<Relation> {
        let is_default = |e: &Expr| match &e.kind {
            ExprKind::Default => true,
            ExprKind::Attribute { name, .. } => matches!(name.as_slice(), [one] if one.eq_ignore_ascii_case("default")),
            _ => false,
        };
        let replaced = |expressions: &[Expr]| -> Result<Vec<Expr>> {
            let mut out = Vec::with_capacity(expressions.len());
            for (i, e) in expressions.iter().enumerate() {
                match targets.get(i) {
                    Some(field) if is_default(e) => out.push(self.default_of(field)?),
                    _ => out.push(e.clone()),
                }
            }
            Ok(out)
        };
        match query.kind() {
            RelationKind::Values { rows } if rows.iter().flatten().any(is_default) => {
                let rows = rows.iter().map(|row| replaced(row)).collect::<Result<_>>()?;
                Ok(Relation::new(RelationKind::Values { rows }))
            }
            RelationKind::Project { input, expressions } if expressions.iter().any(is_default) => {
                if let [star] = expressions.as_slice()
                    && matches!(star.kind, ExprKind::Star { .. })
                {
                    return Ok(query.clone());
                }
                let expressions = replaced(expressions)?;
                Ok(Relation::new(RelationKind::Project { input: input.clone(), expressions }))
            }
            _ => Ok(query.clone()),
        }
    }

    /// The default of a column, or null.
    fn default_of(&self, field: &StructField) -> Result<Expr> {
        match field.current_default() {
            Some(text) => firesteel_sql::parse_expression(text, &self.parser_options()),
            None => Ok(Expr::literal(Literal::Null(field.data_type.char_varchar_as_string()))),
        }
    }

    /// A plan of a table's columns, cast as its columns are.
    fn stored_columns(
        &self,
        table: &CatalogTable,
        rows: &Resolved,
        fields: &[StructField],
        sources: &[Source],
    ) -> Result<(LogicalPlan, StructType)> {
        let environment = self.environment();
        let mut analyzer = Analyzer::new(&environment);
        let table_name = table.name.quoted();
        let mut expressions = Vec::with_capacity(fields.len());
        for (i, (field, source)) in fields.iter().zip(sources).enumerate() {
            let value: TypedExpr = match source {
                Source::Query(position) => rows
                    .output
                    .get(*position)
                    .map(|a| a.typed())
                    .ok_or_else(|| SparkError::internal("a column that the query does not have"))?,
                Source::Value(value) => analyzer.constant(value)?,
                Source::Default => {
                    if !field.nullable && field.current_default().is_none() {
                        return Err(SparkError::new("NO_DEFAULT_COLUMN_VALUE_AVAILABLE")
                            .with("colName", attribute::quote(&field.name)));
                    }
                    analyzer.constant(&self.default_of(field)?)?
                }
            };
            if value.nullable && !field.nullable {
                return Err(SparkError::unsupported(format!(
                    "values that may be NULL for the column {} that is NOT NULL",
                    field.name
                )));
            }
            let mut context = BuildContext {
                conf: environment.conf(),
                query_time: environment.query_time(),
                context: None,
                session: environment.facts(),
            };
            let policy = environment.conf().store_assignment_policy;
            let column = attribute::quote(&field.name);
            let raw = field.raw_type();
            let stored = store_assign(value, &raw, policy, (&table_name, &column), &mut context)?;
            expressions.push(stored.expr.alias(format!("{}#stored{i}", field.name)));
        }
        let plan = resolved::project(rows.plan.clone(), expressions)?;
        let schema = StructType::new(fields.to_vec()).char_varchar_as_string().as_nullable();
        Ok((plan, schema))
    }

    /// Runs a plan and writes its rows to files.
    pub(crate) fn write_files(&self, plan: LogicalPlan, schema: StructType, files: Files<'_>) -> Result<()> {
        if let Some(source) = self.session.python().source(files.format) {
            let target = Target { overwrite: files.mode == SaveMode::Overwrite, options: files.options };
            return self.block(crate::python::source::write(&self.session, &source, plan, schema, target));
        }
        if files.format == crate::jdbc::JDBC {
            return self.block(crate::jdbc::write(&self.session, &plan, &schema, files.mode, &files.options));
        }
        let path = files.path.clone();
        let request = WriteRequest {
            format: files.format.to_string(),
            path: Some(files.path),
            mode: files.mode,
            partition_by: files.partition_by,
            schema,
            options: files.options,
            conf: self.conf().as_ref().clone(),
        };
        let state = self.session.state();
        self.block(async {
            let physical = crate::execution::plan_partitions(state, &plan).await?;
            firesteel_sources::write(request, physical, state.task_ctx()).await
        })?;
        self.refresh_path(&path);
        self.refresh_views(&path)?;
        Ok(())
    }
}
