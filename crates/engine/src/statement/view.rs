//! CREATE, DROP and ALTER of views.

use super::rows::nothing;
use super::{Runner, now};
use crate::catalog_state::{Found, ViewQuery};
use crate::view_columns::SchemaMode;
use firesteel_analyzer::{Analyzer, LocalRows, Resolved, attribute};
use firesteel_catalog::catalog::{already_exists, table_not_found_in};
use firesteel_catalog::{CatalogTable, QualifiedName, SESSION_CATALOG, TableKind, ViewDefinition};
use firesteel_error::{Result, SparkError};
use firesteel_plan::{CreateView, DataSource, Name, Relation, RelationKind, TableName, ViewAction, ViewKind};
use firesteel_types::{Metadata, StructField, StructType};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

impl Runner {
    pub(super) fn create_view(&self, create: &CreateView) -> Result<LocalRows> {
        let parts = self.parts(&create.name)?;
        match create.kind {
            ViewKind::Persistent => self.create_stored_view(create, &parts),
            ViewKind::Temporary | ViewKind::GlobalTemporary => self.create_temporary_view(create, &parts),
        }
    }

    /// The query of a data source in `CREATE TEMPORARY VIEW … USING`.
    fn source_query(create: &CreateView) -> Option<Relation> {
        let using = create.using.as_ref()?;
        let schema = StructType::new(using.schema.iter().map(|c| c.field.clone()).collect());
        Some(Relation::new(RelationKind::DataSource(DataSource {
            format: Some(using.provider.clone()),
            schema: (!schema.fields.is_empty()).then(|| schema.to_ddl()),
            options: using.options.clone(),
            paths: Vec::new(),
            predicates: Vec::new(),
            is_streaming: false,
        })))
    }

    fn create_temporary_view(&self, create: &CreateView, parts: &[String]) -> Result<LocalRows> {
        let is_global = create.kind == ViewKind::GlobalTemporary;
        let name = match parts {
            [one] => one.clone(),
            [global, one] if is_global && global.eq_ignore_ascii_case(&self.conf().global_temp_database) => one.clone(),
            _ => {
                return Err(SparkError::new("TEMP_VIEW_NAME_TOO_MANY_NAME_PARTS")
                    .with("actualName", attribute::quote_parts(parts)));
            }
        };
        let key = name.to_lowercase();
        let there = if is_global {
            self.session.engine().global_views().read().contains_key(&key)
        } else {
            self.session.temp_views().read().contains_key(&key)
        };
        if there && !create.replace {
            if create.if_not_exists {
                return Ok(nothing());
            }
            return Err(SparkError::new("TEMP_TABLE_OR_VIEW_ALREADY_EXISTS")
                .with("relationName", attribute::quote_parts(parts)));
        }
        let query = Self::source_query(create).unwrap_or_else(|| create.query.clone());
        let mut environment = self.environment();
        if there {
            let database = is_global.then(|| self.conf().global_temp_database.clone());
            let path: Vec<String> = database.into_iter().chain([name.clone()]).collect();
            environment = environment.defining(attribute::quote_parts(&path));
        }
        let resolved = Analyzer::new(&environment).relation(&query)?;
        let schema = view_schema(&resolved, create, parts)?;
        let output = resolved.output.iter().map(|a| a.name.clone()).collect();
        let schema = schema.char_varchar_as_string();
        let resolved = named(&resolved, &schema)?;
        let settings = self.session.config().read().captured();
        let query = Arc::new(ViewQuery { query, output, schema, database: self.database(), settings });
        let resolved = Arc::new(resolved);
        if is_global {
            self.forget(&format!("{}.{key}", self.conf().global_temp_database));
            self.session.engine().global_view_queries().write().insert(key.clone(), query);
            self.session.engine().global_views().write().insert(key, resolved);
        } else {
            self.forget(&key);
            self.session.catalog_state().view_queries.write().insert(key.clone(), query);
            self.session.temp_views().write().insert(key, (name, resolved));
        }
        Ok(nothing())
    }

    fn create_stored_view(&self, create: &CreateView, parts: &[String]) -> Result<LocalRows> {
        let name = self.qualify(parts)?;
        super::create_table::check_name(&name.name)?;
        self.catalog().database(&name.database)?;
        if let Some(old) = self.catalog().table(&name) {
            if !old.is_view() {
                if create.if_not_exists {
                    return Ok(nothing());
                }
                if !create.replace {
                    return Err(already_exists(&name));
                }
                return Err(SparkError::new("EXPECT_VIEW_NOT_TABLE.NO_ALTERNATIVE")
                    .with("tableName", name.quoted())
                    .with("operation", "CREATE OR REPLACE VIEW"));
            }
            if !create.replace {
                return if create.if_not_exists { Ok(nothing()) } else { Err(already_exists(&name)) };
            }
        }
        let has_names = !create.columns.is_empty();
        let schema_mode = SchemaMode::words(create.schema_mode.as_deref(), has_names, &self.conf())?;
        let resolved = self.stored_query(&create.query, &name)?;
        let schema = view_schema(&resolved, create, &name.parts())?;
        let definition = ViewDefinition {
            text: create.query_text.clone(),
            output: resolved.output.iter().map(|a| a.name.clone()).collect(),
            catalog: SESSION_CATALOG.to_string(),
            database: self.database(),
            settings: self.session.config().read().captured(),
            schema_mode,
        };
        definition.query(&name)?;
        let table = CatalogTable {
            name: name.clone(),
            kind: TableKind::View,
            provider: None,
            schema,
            partition_columns: Vec::new(),
            bucketing: None,
            location: None,
            comment: create.comment.clone(),
            properties: create.properties.iter().cloned().collect(),
            options: BTreeMap::new(),
            collation: create.collation.clone(),
            created: now(),
            owner: String::new(),
            statistics: None,
            view: Some(definition),
            unknown_partitions: Vec::new(),
        };
        self.catalog().create_table(table, create.replace)?;
        Ok(nothing())
    }

    /// Analyses the query of a stored view, which cannot stand on temporary objects,
    /// and whose columns have names of their own.
    fn stored_query(&self, query: &Relation, name: &QualifiedName) -> Result<Resolved> {
        let mut environment = self.environment();
        if self.catalog().table(name).is_some() {
            environment = environment.defining(name.quoted());
        }
        let resolved = Analyzer::new(&environment).relation(query)?;
        match environment.references().temporary.first() {
            None => match resolved.output.iter().find(|column| column.metadata.has_generated_name()) {
                None => Ok(resolved),
                Some(column) => Err(SparkError::new("CREATE_PERMANENT_VIEW_WITHOUT_ALIAS")
                    .with("name", name.quoted())
                    .with("attr", format!("\"{}\"", column.name))),
            },
            Some((kind, temporary)) => Err(SparkError::new("INVALID_TEMP_OBJ_REFERENCE")
                .with("obj", "VIEW")
                .with("objName", name.quoted())
                .with("tempObj", *kind)
                .with("tempObjName", temporary.clone())),
        }
    }

    pub(super) fn drop_view(&self, name: &TableName, if_exists: bool) -> Result<LocalRows> {
        let parts = self.parts(name)?;
        match self.find(&parts)? {
            Some(Found::Temporary { name, .. }) => {
                self.drop_temporary_view(&name);
            }
            Some(Found::Global { name, .. }) => {
                self.drop_global_view(&name);
            }
            Some(Found::Stored(table)) if table.is_view() => {
                self.catalog().drop_table(&table.name)?;
            }
            Some(Found::Stored(table)) => {
                return Err(SparkError::new("WRONG_COMMAND_FOR_OBJECT_TYPE")
                    .with("operation", "DROP VIEW")
                    .with("requiredType", "VIEW or METRIC_VIEW")
                    .with("objectName", table.name.to_string())
                    .with("foundType", table.kind_name())
                    .with("alternative", "DROP TABLE"));
            }
            None if if_exists => {}
            None => {
                let name = self.qualify(&parts)?;
                return Err(table_not_found_in(&name.quoted(), &[], &name.database));
            }
        }
        Ok(nothing())
    }

    /// Drops a temporary view; false where there is none.
    pub(crate) fn drop_temporary_view(&self, name: &str) -> bool {
        let key = name.to_lowercase();
        self.forget(&key);
        self.session.catalog_state().view_queries.write().remove(&key);
        self.session.temp_views().write().remove(&key).is_some()
    }

    /// Ends the persistence of a temporary view that is dropped or replaced.
    fn forget(&self, name: &str) {
        let key = crate::kept::PersistKey::Table(name.to_string());
        self.session.engine().kept().unpersist(&self.session.key(), &key);
    }

    /// Drops a global temporary view; false where there is none.
    pub(crate) fn drop_global_view(&self, name: &str) -> bool {
        let key = name.to_lowercase();
        self.forget(&format!("{}.{key}", self.conf().global_temp_database));
        self.session.engine().global_view_queries().write().remove(&key);
        self.session.engine().global_views().write().remove(&key).is_some()
    }

    pub(super) fn alter_view(&self, name: &TableName, action: &ViewAction) -> Result<LocalRows> {
        let parts = self.parts(name)?;
        let table = match self.found_named(name)? {
            Found::Stored(table) if table.is_view() => table,
            Found::Stored(_) => {
                return Err(SparkError::new("EXPECT_VIEW_NOT_TABLE.USE_ALTER_TABLE")
                    .with("tableName", attribute::quote_parts(&parts))
                    .with("operation", "ALTER VIEW")
                    .or_context(|| name.origin().context()));
            }
            Found::Temporary { name: view, .. } => {
                return self
                    .alter_temporary_view(&view, &parts, action)
                    .map_err(|error| error.or_context(|| name.origin().context()));
            }
            Found::Global { .. } => return Err(SparkError::unsupported("ALTER VIEW of global temporary views")),
        };
        match action {
            ViewAction::As(query, text) => {
                let resolved = self.stored_query(query, &table.name)?;
                let database = self.database();
                let settings = self.session.config().read().captured();
                self.catalog().alter_table(&table.name, |table| {
                    table.schema = attribute::schema_of(&resolved.output).with_raw_types();
                    if let Some(view) = &mut table.view {
                        view.text.clone_from(text);
                        view.output = resolved.output.iter().map(|a| a.name.clone()).collect();
                        view.database = database;
                        view.settings = settings;
                        view.query(&table.name)?;
                    }
                    Ok(())
                })?;
            }
            ViewAction::Rename(to) => self.rename(&table.name, to)?,
            ViewAction::SetProperties(properties) => self.set_properties(&table.name, properties)?,
            ViewAction::UnsetProperties { keys, .. } => self.unset_properties(&table.name, keys)?,
            ViewAction::SchemaMode(mode) => {
                let own = |view: &ViewDefinition| view.output.iter().eq(table.schema.fields.iter().map(|f| &f.name));
                let has_names = table.view.as_ref().is_some_and(|view| !own(view));
                let mode = SchemaMode::words(Some(mode), has_names, &self.conf())?;
                self.catalog().alter_table(&table.name, |table| {
                    if let Some(view) = &mut table.view {
                        view.schema_mode = mode;
                    }
                    Ok(())
                })?;
            }
        }
        Ok(nothing())
    }

    pub(super) fn alter_temporary_view(&self, name: &str, parts: &[String], action: &ViewAction) -> Result<LocalRows> {
        match action {
            ViewAction::As(query, text) => self.create_temporary_view(
                &CreateView {
                    name: TableName::of(parts.to_vec()),
                    kind: ViewKind::Temporary,
                    columns: Vec::new(),
                    comment: None,
                    collation: None,
                    properties: Vec::new(),
                    schema_mode: None,
                    if_not_exists: false,
                    replace: true,
                    query: query.clone(),
                    query_text: text.clone(),
                    using: None,
                },
                parts,
            ),
            ViewAction::Rename(to) => {
                let Some(new) = to.last() else { return Err(SparkError::internal("a name without parts")) };
                let (old_key, new_key) = (name.to_lowercase(), new.to_lowercase());
                let mut views = self.session.temp_views().write();
                if views.contains_key(&new_key) {
                    return Err(SparkError::new("TEMP_TABLE_OR_VIEW_ALREADY_EXISTS")
                        .with("relationName", attribute::quote(new)));
                }
                if let Some((_, view)) = views.remove(&old_key) {
                    views.insert(new_key.clone(), (new.clone(), view));
                }
                let mut queries = self.session.catalog_state().view_queries.write();
                if let Some(query) = queries.remove(&old_key) {
                    queries.insert(new_key, query);
                }
                Ok(nothing())
            }
            ViewAction::SchemaMode(_) => {
                Err(SparkError::new("UNSUPPORTED_FEATURE.TEMPORARY_VIEW_WITH_SCHEMA_BINDING_MODE").without_context())
            }
            ViewAction::SetProperties(_) | ViewAction::UnsetProperties { .. } => {
                let verb = if matches!(action, ViewAction::SetProperties(_)) { "SET" } else { "UNSET" };
                Err(SparkError::new("EXPECT_PERMANENT_VIEW_NOT_TEMP")
                    .with("operation", format!("ALTER VIEW ... {verb} TBLPROPERTIES"))
                    .with("viewName", attribute::quote_parts(parts)))
            }
        }
    }

    /// Gives a table or view another name in its database, and moves a managed table's folder.
    pub(super) fn rename(&self, from: &QualifiedName, to: &Name) -> Result<()> {
        let to = match to.as_slice() {
            [one] => QualifiedName::new(&from.database, one),
            other => self.qualify(other)?,
        };
        if to.database != from.database {
            return Err(SparkError::new("_LEGACY_ERROR_TEMP_1073")
                .with("db", &from.database)
                .with("newDb", &to.database));
        }
        super::create_table::check_name(&to.name)?;
        if self.catalog().table(&to).is_some() {
            return Err(super::create_table::already_exists_in_database(&to));
        }
        let old = self.catalog().table(from);
        self.catalog().rename_table(from, &to)?;
        if let Some(old) = old
            && old.kind == TableKind::Managed
            && let Some(location) = &old.location
        {
            let target = self.managed_location(&to)?;
            self.stores_of(&old).rename_folder(Path::new(location), &target)?;
            self.catalog().alter_table(&to, |table| {
                table.location = Some(target.to_string_lossy().into_owned());
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// The columns of a view: the query's, with the names and comments that the view gives.
fn view_schema(resolved: &Resolved, create: &CreateView, parts: &[String]) -> Result<StructType> {
    let schema = attribute::schema_of(&resolved.output).with_raw_types();
    let (view, data) = (create.columns.len(), schema.fields.len());
    if view != 0 && view != data {
        let condition = if view > data {
            "CREATE_VIEW_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS"
        } else {
            "CREATE_VIEW_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS"
        };
        let list = |names: Vec<&String>| names.iter().map(|n| attribute::quote(n)).collect::<Vec<_>>().join(", ");
        return Err(SparkError::new(condition)
            .with("viewName", attribute::quote_parts(parts))
            .with("viewColumns", list(create.columns.iter().map(|(name, _)| name).collect()))
            .with("dataColumns", list(schema.fields.iter().map(|f| &f.name).collect())));
    }
    let fields: Vec<StructField> = schema
        .fields
        .into_iter()
        .enumerate()
        .map(|(i, mut field)| {
            if let Some((name, comment)) = create.columns.get(i) {
                field.name.clone_from(name);
                if let Some(comment) = comment {
                    let mut metadata = field.metadata.to_map();
                    metadata.insert("comment".to_string(), comment.clone().into());
                    field.metadata = Metadata::new(metadata);
                }
            }
            field
        })
        .collect();
    let mut seen: Vec<String> = Vec::new();
    for field in &fields {
        let key = field.name.to_lowercase();
        if seen.contains(&key) {
            return Err(SparkError::new("COLUMN_ALREADY_EXISTS").with("columnName", attribute::quote(&key)));
        }
        seen.push(key);
    }
    Ok(StructType::new(fields))
}

/// The relation with the names of a view's columns.
pub(crate) fn named(resolved: &Resolved, schema: &StructType) -> Result<Resolved> {
    let mut outputs = Vec::with_capacity(schema.fields.len());
    let mut expressions = Vec::with_capacity(schema.fields.len());
    for (old, field) in resolved.output.iter().zip(&schema.fields) {
        let mut new = old.renewed();
        new.name.clone_from(&field.name);
        new.metadata = field.metadata.clone();
        expressions.push(old.expr().alias(new.column_name()));
        outputs.push(new);
    }
    let plan = firesteel_analyzer::resolved::project(resolved.plan.clone(), expressions)?;
    Ok(Resolved::leaf(plan, outputs))
}
