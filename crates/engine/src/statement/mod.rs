//! Statements that are not queries.

pub(crate) mod alter_table;
pub(crate) mod cache;
pub(crate) mod collations;
pub(crate) mod create_table;
pub(crate) mod default;
pub(crate) mod describe;
pub(crate) mod function;
mod function_text;
pub(crate) mod insert;
pub(crate) mod namespace;
pub(crate) mod partition;
pub(crate) mod row_level;
pub(crate) mod rows;
pub(crate) mod save;
pub(crate) mod script;
pub(crate) mod setting;
pub(crate) mod show;
pub(crate) mod table_text;
pub(crate) mod variable;
pub(crate) mod view;

use crate::catalog_state::{Found, Locals};
use crate::environment::SessionEnvironment;
use crate::session::Session;
use arrow::record_batch::RecordBatch;
use firesteel_analyzer::{Analyzer, LocalRows, Resolved, attribute};
use firesteel_catalog::catalog::table_not_found_in;
use firesteel_catalog::{Catalog, CatalogTable, QualifiedName, SESSION_CATALOG};
use firesteel_config::SqlConf;
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_plan::{Describe, ExplainMode, Expr, Name, Relation, RelationKind, Show, Statement, TableName};
use firesteel_sources::store::Stores;
use firesteel_types::{DataType, Literal, StructType};
use rows::{nothing, one_text};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio_util::sync::CancellationToken;

/// Runs statements of a session, on a thread that may block.
pub(crate) struct Runner {
    pub session: Arc<Session>,
    /// Variables of the script that the statement is in.
    pub locals: Locals,
    /// Cancelled when nobody wants the statement's result any more.
    pub cancel: CancellationToken,
}

impl Runner {
    pub fn new(session: Arc<Session>, locals: Locals) -> Self {
        Self { session, locals, cancel: CancellationToken::new() }
    }

    /// Runs a statement and gives its rows.
    pub fn run(&self, statement: &Statement) -> Result<LocalRows> {
        let rows = self.dispatch(statement);
        if !matches!(statement, Statement::Query(_)) {
            self.session.analyses().clear();
        }
        rows
    }

    fn dispatch(&self, statement: &Statement) -> Result<LocalRows> {
        use Statement as S;
        match statement {
            S::Query(query) => self.query(query),
            S::Insert(insert) => self.insert(insert),
            S::MultiInsert(statements) => {
                for statement in statements {
                    self.run(statement)?;
                }
                Ok(nothing())
            }
            S::Update { table, alias, assignments, condition } => {
                self.refuse_update(table, alias.as_deref(), assignments, condition.as_ref())
            }
            S::Delete { table, alias, condition } => self.refuse_delete(table, alias.as_deref(), condition.as_ref()),
            S::Merge(merge) => self.refuse_merge(merge),
            S::Truncate { table, partition } => self.truncate(table, partition.as_ref()),
            S::CreateNamespace { name, if_not_exists, comment, location, properties } => {
                self.create_namespace(name, *if_not_exists, comment.as_deref(), location.as_deref(), properties)
            }
            S::DropNamespace { name, if_exists, cascade } => self.drop_namespace(name, *if_exists, *cascade),
            S::AlterNamespace { name, action } => self.alter_namespace(name, action),
            S::CreateTable(create) => self.create_table(create),
            S::CreateTableLike { name, source, if_not_exists, provider, location, properties } => self
                .create_table_like(name, source, *if_not_exists, provider.as_deref(), location.as_deref(), properties),
            S::DropTable { name, if_exists, .. } => self.drop_table(name, *if_exists),
            S::AlterTable { name, action } => self.alter_table(name, action),
            S::CreateView(create) => self.create_view(create),
            S::DropView { name, if_exists } => self.drop_view(name, *if_exists),
            S::AlterView { name, action } => self.alter_view(name, action),
            S::CreateFunction(create) => self.create_function(create),
            S::DropFunction { name, if_exists, is_temporary } => self.drop_function(name, *if_exists, *is_temporary),
            S::RefreshFunction { name } => self.refresh_function(name),
            S::Use { name, is_namespace } => self.use_namespace(name, *is_namespace),
            S::SetCatalog { name } => self.set_catalog(name),
            S::Set(set) => self.set(set),
            S::Reset { key } => self.reset(key.as_deref()),
            S::DeclareVariable { names, data_type, default, replace } => {
                self.declare_variables(names, data_type.as_ref(), default.as_ref(), *replace)
            }
            S::DropVariable { name, if_exists } => self.drop_variable(name, *if_exists),
            S::SetVariable { targets, source } => self.set_variables(targets, source),
            S::ExecuteImmediate { query, into, using } => self.execute_immediate(query, into, using),
            S::AddResource { kind, .. } => Err(SparkError::unsupported(format!("ADD {}", kind.to_uppercase()))),
            // No statement adds any.
            S::ListResources { .. } => rows::rows(&[rows::text_column("Results")], Vec::new()),
            S::CacheTable { name, query, is_lazy, options } => {
                self.cache_table(name, query.as_ref(), *is_lazy, options)
            }
            S::UncacheTable { name, if_exists } => {
                let parts = self.parts(name)?;
                if !*if_exists || self.find(&parts)?.is_some() {
                    self.found_relation(name)?;
                    self.uncache(&parts)?;
                }
                Ok(nothing())
            }
            S::ClearCache => {
                self.session.engine().kept().clear_persisted(&self.session.key());
                Ok(nothing())
            }
            S::RefreshPath { path } => {
                self.refresh_path(path);
                Ok(nothing())
            }
            S::RefreshTable { name } => {
                self.found_named(name)?;
                self.refresh(&self.parts(name)?)?;
                Ok(nothing())
            }
            S::AnalyzeTable { name, partition, columns, all_columns, no_scan } => {
                let table = match self.found_named(name)? {
                    Found::Stored(table) if table.is_view() => {
                        return Err(SparkError::new("UNSUPPORTED_FEATURE.ANALYZE_VIEW"));
                    }
                    Found::Stored(table) => table,
                    Found::Temporary { .. } | Found::Global { .. } => {
                        let view = attribute::quote_parts(&self.parts(name)?);
                        return Err(if *all_columns || columns.is_some() {
                            SparkError::new("UNSUPPORTED_FEATURE.ANALYZE_UNCACHED_TEMP_VIEW").with("viewName", view)
                        } else {
                            SparkError::new("EXPECT_PERMANENT_VIEW_NOT_TEMP")
                                .with("operation", "ANALYZE TABLE")
                                .with("viewName", view)
                                .or_context(|| name.origin().context())
                        });
                    }
                };
                if let Some(spec) = partition {
                    self.check_partitions(&table, spec)?;
                    return Ok(nothing());
                }
                self.check_columns(&table, columns.as_deref().unwrap_or_default())?;
                self.analyze_table(&table, *no_scan)
            }
            S::AnalyzeTables { namespace, no_scan } => self.analyze_tables(namespace.as_ref(), *no_scan),
            S::RepairTable { name, add, .. } => self.recover_partitions(name, "MSCK REPAIR TABLE", *add),
            S::Explain { mode, statement } => self.explain(*mode, statement),
            S::Describe(describe) => self.describe(describe),
            S::Show(show) => self.show(show),
            S::Comment { on, comment } => self.comment_on(on, comment.as_deref()),
            S::Script(script) => self.script(script),
            S::Procedure { name, origin } => Err(SparkError::new("UNRESOLVED_ROUTINE")
                .with("routineName", attribute::quote_parts(name))
                .with("searchPath", self.search_path())
                .or_context(|| origin.context())),
            S::ShowProcedures => {
                Err(SparkError::new("MISSING_CATALOG_ABILITY.PROCEDURES").with("plugin", SESSION_CATALOG))
            }
            S::LoadData { table } => {
                let table = self.stored_table(table, "LOAD DATA")?;
                Err(SparkError::new("_LEGACY_ERROR_TEMP_1261").with("tableIdentWithDB", table.name.quoted()))
            }
            S::Index { table, operation } => {
                let table = self.stored_table(table, operation)?;
                let name = format!("{}.{}", table.name.database, table.name.name);
                Err(SparkError::new("_LEGACY_ERROR_TEMP_1332")
                    .with("errorMessage", format!("{operation} is not supported in this table {name}.")))
            }
            S::PipelineDataset(kind) => {
                Err(SparkError::new("UNSUPPORTED_FEATURE.CREATE_PIPELINE_DATASET_QUERY_EXECUTION")
                    .with("pipelineDatasetType", kind))
            }
            S::Unsupported(what) => Err(SparkError::unsupported(what.clone())),
        }
    }

    // ---- the session ----

    /// The session as the analyzer sees it now.
    pub fn environment(&self) -> SessionEnvironment {
        SessionEnvironment::in_script(self.session.clone(), self.locals.clone())
    }

    pub fn catalog(&self) -> &Catalog {
        self.session.engine().catalog()
    }

    pub fn conf(&self) -> Arc<SqlConf> {
        self.session.conf()
    }

    /// The stores that the session's paths may name.
    pub fn stores(&self) -> Stores {
        Stores::new(&self.conf(), &[])
    }

    /// The stores of a table's paths, which may have credentials of its own.
    pub fn stores_of(&self, table: &CatalogTable) -> Stores {
        let options: Vec<(String, String)> = table.options.clone().into_iter().collect();
        Stores::new(&self.conf(), &options)
    }

    /// The current database.
    pub fn database(&self) -> String {
        self.session.current().read().1.clone()
    }

    /// Where routines are looked for.
    fn search_path(&self) -> String {
        let database = firesteel_catalog::name::quoted_database(&self.database());
        format!("[`system`.`builtin`, `system`.`session`, {database}]")
    }

    pub fn block<T>(&self, future: impl Future<Output = Result<T>>) -> Result<T> {
        tokio::runtime::Handle::current().block_on(future)
    }

    // ---- queries ----

    pub fn analyse(&self, relation: &Relation) -> Result<Resolved> {
        let environment = self.environment();
        Analyzer::new(&environment).relation(relation)
    }

    /// Columns and rows of an analysed relation, as many columns as its output has.
    pub fn collect(&self, resolved: &Resolved) -> Result<(StructType, Vec<RecordBatch>)> {
        let schema = attribute::schema_of(&resolved.output);
        Ok((schema, self.block(crate::execution::rows(&self.session, resolved))?))
    }

    /// The rows of a query.
    pub fn query(&self, relation: &Relation) -> Result<LocalRows> {
        let resolved = self.analyse(relation)?;
        let (schema, batches) = self.collect(&resolved)?;
        let conf = self.conf();
        let arrow_schema =
            Arc::new(firesteel_types::client::client_schema(&schema, &conf.time_zone_text, conf.arrow_large_var_types));
        let batches =
            batches.iter().map(|b| firesteel_types::client::client_batch(b, &arrow_schema)).collect::<Result<_>>()?;
        Ok(LocalRows { schema, arrow_schema, batches })
    }

    /// The values of a query's rows, column by column in each.
    pub fn values(&self, relation: &Relation) -> Result<(StructType, Vec<Vec<Literal>>)> {
        let resolved = self.analyse(relation)?;
        let (schema, batches) = self.collect(&resolved)?;
        let mut out = Vec::new();
        for batch in &batches {
            for row in 0..batch.num_rows() {
                let mut values = Vec::with_capacity(schema.fields.len());
                for (field, column) in schema.fields.iter().zip(batch.columns()) {
                    values.push(Literal::from_array(column.as_ref(), row, &field.data_type)?);
                }
                out.push(values);
            }
        }
        Ok((schema, out))
    }

    /// The value of an expression without columns; it may have subqueries.
    pub fn evaluate(&self, expr: &Expr) -> Result<(Literal, DataType)> {
        let one_row = Relation::new(RelationKind::OneRow);
        let project =
            Relation::new(RelationKind::Project { input: one_row, expressions: vec![expr.clone().alias("value")] });
        let (schema, rows) = self.values(&project)?;
        match (schema.fields.first(), rows.into_iter().next().and_then(|r| r.into_iter().next())) {
            (Some(field), Some(value)) => Ok((value, field.data_type.clone())),
            _ => Err(SparkError::internal("an expression without a value")),
        }
    }

    /// The value of an expression as a type, by the rules of casts on assignment.
    pub fn evaluate_as(&self, expr: &Expr, to: &DataType) -> Result<Literal> {
        let cast = Expr::new(firesteel_plan::ExprKind::Cast {
            child: Box::new(expr.clone()),
            to: to.clone(),
            mode: firesteel_plan::CastMode::Session,
        });
        Ok(self.evaluate(&cast)?.0)
    }

    /// The text of an expression's value.
    pub fn text_of(&self, expr: &Expr) -> Result<String> {
        match self.evaluate(expr)?.0 {
            Literal::String(text) => Ok(text),
            Literal::Null(_) => Ok(String::new()),
            other => {
                let zone = firesteel_types::time_zone::TimeZone::parse(&self.conf().time_zone)?;
                Ok(other.display(zone))
            }
        }
    }

    // ---- names ----

    /// The parts of a name.
    pub fn parts(&self, name: &TableName) -> Result<Name> {
        match name {
            TableName::Parts(parts, _) => Ok(parts.clone()),
            TableName::Identifier(expr) => match self.evaluate(expr)? {
                (Literal::String(text), _) => self.parse_name(&text),
                (value, data_type) => Err(SparkError::new("NOT_A_CONSTANT_STRING.WRONG_TYPE")
                    .with("name", "IDENTIFIER")
                    .with("expr", value.display(firesteel_types::time_zone::TimeZone::parse(&self.conf().time_zone)?))
                    .with("dataType", data_type.simple_string())
                    .or_context(|| expr.origin.context())),
            },
        }
    }

    /// The parts of a name in a text.
    pub fn parse_name(&self, text: &str) -> Result<Name> {
        firesteel_sql::parse_identifier_parts(text, &self.parser_options())
    }

    pub fn parser_options(&self) -> firesteel_sql::ParserOptions {
        firesteel_sql::ParserOptions::from(self.conf().as_ref())
    }

    /// The name in the catalog.
    pub fn qualify(&self, parts: &[String]) -> Result<QualifiedName> {
        self.session.qualify(parts, &self.database())
    }

    pub fn find(&self, parts: &[String]) -> Result<Option<Found>> {
        self.session.find(parts, &self.database())
    }

    /// What a name stands for; fails with `TABLE_OR_VIEW_NOT_FOUND`.
    pub fn found(&self, parts: &[String]) -> Result<Found> {
        self.find(parts)?.ok_or_else(|| {
            table_not_found_in(&attribute::quote_parts(parts), &["`system`.`session`"], &self.database())
        })
    }

    /// What a name in a statement stands for.
    pub fn found_named(&self, name: &TableName) -> Result<Found> {
        self.found(&self.parts(name)?).map_err(|error| error.or_context(|| name.origin().context()))
    }

    /// What a name stands for where a query's relation could stand too.
    pub fn found_relation(&self, name: &TableName) -> Result<Found> {
        let parts = self.parts(name)?;
        self.find(&parts)?.ok_or_else(|| self.relation_not_found(&parts).or_context(|| name.origin().context()))
    }

    /// The error of a relation that is not there.
    pub fn relation_not_found(&self, parts: &[String]) -> SparkError {
        let places = ["`system`.`builtin`", "`system`.`session`"];
        table_not_found_in(&attribute::quote_parts(parts), &places, &self.database())
    }

    /// A table or view of the catalog, not a temporary view.
    pub fn stored(&self, name: &TableName, operation: &str) -> Result<Arc<CatalogTable>> {
        let is_relation = matches!(operation, "INSERT" | "UPDATE TABLE" | "DELETE TABLE" | "MERGE INTO TABLE");
        match if is_relation { self.found_relation(name)? } else { self.found_named(name)? } {
            Found::Stored(table) => Ok(table),
            Found::Temporary { .. } | Found::Global { .. } => {
                Err(not_a_table(&self.parts(name)?, operation).or_context(|| name.origin().context()))
            }
        }
    }

    /// A table of the catalog, not a view.
    pub fn stored_table(&self, name: &TableName, operation: &str) -> Result<Arc<CatalogTable>> {
        let table = self.stored(name, operation)?;
        if table.is_view() {
            return Err(not_a_table(&table.name.parts(), operation).or_context(|| name.origin().context()));
        }
        Ok(table)
    }

    /// A table that rows are written to, and not a view.
    pub fn target_table(&self, name: &TableName, operation: &str) -> Result<Arc<CatalogTable>> {
        match self.found_relation(name)? {
            Found::Stored(table) if !table.is_view() => Ok(table),
            Found::Stored(table) => Err(not_a_table(&table.name.parts(), operation)),
            Found::Temporary { .. } | Found::Global { .. } => Err(not_a_table(&self.parts(name)?, operation)),
        }
        .map_err(|error| error.or_context(|| name.origin().context()))
    }

    /// The database of a name; none is the current one. Fails with `SCHEMA_NOT_FOUND`.
    pub fn namespace(&self, name: Option<&TableName>) -> Result<String> {
        let Some(name) = name else { return Ok(self.database()) };
        let database = self.database_name(&self.parts(name)?)?;
        if !self.catalog().has_database(&database) && database != self.conf().global_temp_database {
            return Err(firesteel_catalog::catalog::schema_not_found(&database));
        }
        Ok(database)
    }

    /// The lower-case name of a database; it need not exist.
    pub fn database_name(&self, parts: &[String]) -> Result<String> {
        match parts {
            [catalog, database] if catalog.eq_ignore_ascii_case(SESSION_CATALOG) => Ok(database.to_lowercase()),
            [database] => Ok(database.to_lowercase()),
            _ => Err(SparkError::new("REQUIRES_SINGLE_PART_NAMESPACE")
                .with("sessionCatalog", SESSION_CATALOG)
                .with("identifier", attribute::quote_parts(parts))),
        }
    }

    /// Row-level changes, which file tables cannot do.
    fn explain(&self, mode: ExplainMode, statement: &Statement) -> Result<LocalRows> {
        let relation = match statement {
            Statement::Query(relation) => relation.clone(),
            other => {
                // What a statement would do is told by its name only; nothing runs.
                let name = format!("{other:?}");
                let name = name.split([' ', '(', '{']).next().unwrap_or("Command");
                return one_text("plan", format!("== Physical Plan ==\nExecute {name}Command\n"));
            }
        };
        let session = self.session.clone();
        let reply = self.block(crate::analysis::answer(&session, crate::AnalysisRequest::Explain(relation, mode)))?;
        match reply {
            crate::AnalysisReply::Text(text) => one_text("plan", text),
            _ => Err(SparkError::internal("an explanation without text")),
        }
    }

    fn describe(&self, describe: &Describe) -> Result<LocalRows> {
        match describe {
            Describe::Table { name, is_extended, partition, as_json } => {
                self.describe_table(name, *is_extended, partition.as_ref(), *as_json)
            }
            Describe::Column { table, column, is_extended } => self.describe_column(table, column, *is_extended),
            Describe::Namespace { name, is_extended } => self.describe_namespace(name, *is_extended),
            Describe::Function { name, is_extended } => self.describe_function(name, *is_extended),
            Describe::Query(query) => self.describe_query(query),
            Describe::Catalog { .. } => Err(SparkError::unsupported("DESCRIBE CATALOG")),
        }
    }

    fn show(&self, show: &Show) -> Result<LocalRows> {
        match show {
            Show::Catalogs { pattern } => self.show_catalogs(pattern.as_deref()),
            Show::Namespaces { parent, pattern } => self.show_namespaces(parent.as_ref(), pattern.as_deref()),
            Show::Tables { namespace, pattern } => self.show_tables(namespace.as_ref(), pattern.as_deref()),
            Show::TableExtended { namespace, pattern, partition } => {
                self.show_table_extended(namespace.as_ref(), pattern, partition.as_ref())
            }
            Show::Views { namespace, pattern } => self.show_views(namespace.as_ref(), pattern.as_deref()),
            Show::Columns { table, namespace } => self.show_columns(table, namespace.as_ref()),
            Show::Functions { scope, namespace, pattern } => {
                self.show_functions(scope, namespace.as_ref(), pattern.as_deref())
            }
            Show::Partitions { table, partition } => self.show_partitions(table, partition.as_ref()),
            Show::TableProperties { table, key } => self.show_table_properties(table, key.as_deref()),
            Show::CreateTable { table, as_serde } => self.show_create_table(table, *as_serde),
            Show::CurrentNamespace => self.show_current_namespace(),
            Show::Collations { pattern } => self.show_collations(pattern.as_deref()),
            Show::Variables { .. } => Err(SparkError::unsupported("SHOW VARIABLES")),
            Show::CachedTables => Err(SparkError::unsupported("SHOW CACHED TABLES")),
        }
    }
}

/// The operation needs a table.
pub(crate) fn not_a_table(parts: &[String], operation: &str) -> SparkError {
    SparkError::new("EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE")
        .with("operation", operation)
        .with("viewName", attribute::quote_parts(parts))
}

/// A table of files cannot do the operation.
pub(crate) fn table_operation(name: &QualifiedName, operation: &str) -> SparkError {
    let error = SparkError::new("UNSUPPORTED_FEATURE.TABLE_OPERATION")
        .with("tableName", name.quoted())
        .with("operation", operation);
    // Spark finds these two out when it plans, the others when it analyses.
    if matches!(operation, "UPDATE TABLE" | "MERGE INTO TABLE") {
        error
    } else {
        error.with_class(ExceptionClass::Analysis)
    }
}

/// Microseconds since the epoch.
pub(crate) fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| i64::try_from(d.as_micros()).unwrap_or(i64::MAX))
}

/// Runs a statement for a relation or command.
pub(crate) fn run(session: &Arc<Session>, statement: &Statement, cancel: CancellationToken) -> Result<LocalRows> {
    Runner { cancel, ..Runner::new(session.clone(), Locals::default()) }.run(statement)
}
