//! The session as the analyzer sees it.

use crate::Session;
use crate::analysis_cache::Lookup;
use crate::catalog_state::{Found, Locals, ViewQuery};
use crate::kept::{KeptTable, PersistKey, Persisted};
use crate::statement::variable::variable_name;
use crate::statement::{self, Runner};
use crate::view_columns::{self, SchemaMode, ViewShape};
use arrow::record_batch::RecordBatch;
use firesteel_analyzer::environment::{
    AnalyzeCall, Environment, LocalRows, PersistedFrame, Scan, TableLookup, UserFunction,
};
use firesteel_analyzer::{Resolved, attribute};
use firesteel_catalog::{CatalogTable, SESSION_CATALOG, ViewDefinition};
use firesteel_config::{Recalled, SqlConf};
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_functions::function::{QueryTime, SessionFacts};
use firesteel_plan::{CatalogRequest, DataSource, Options, Relation, Statement, TimeTravel};
use firesteel_python::planner::table_function::TableAnalysis;
use firesteel_sources::ScanRequest;
use firesteel_sources::store::Stores;
use firesteel_types::{Literal, StructType};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// A session's answers to the analyzer, with the settings of one moment.
pub struct SessionEnvironment {
    session: Arc<Session>,
    conf: Arc<SqlConf>,
    facts: SessionFacts,
    query_time: Arc<QueryTime>,
    lookup: Lookup,
    persistence: Persistence,
    /// Paths of the files that were looked up.
    sources: Arc<Mutex<Vec<String>>>,
    /// Variables of the script that is running.
    locals: Locals,
    /// How many views are around what is analysed.
    views: usize,
    /// What the analysis looked up.
    references: Arc<Mutex<References>>,
    /// The view that is being defined, and the views that its query has been followed through.
    defined: Option<String>,
    path: Vec<String>,
}

/// What an analysis found by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct References {
    /// Temporary objects, by kind and quoted name.
    pub temporary: Vec<(&'static str, String)>,
    /// Tables and views were read.
    pub reads_tables: bool,
    /// Functions of the catalog were called: other sessions may replace them.
    pub calls_stored: bool,
    /// Databases were asked for columns: others may change them.
    pub asks_databases: bool,
}

/// Views may use views, this deep.
const MAX_VIEW_DEPTH: usize = 100;

/// How an analysis treats persisted relations.
#[derive(Clone, Default)]
struct Persistence {
    is_ignored: bool,
    is_used: Arc<AtomicBool>,
}

impl SessionEnvironment {
    pub fn new(session: Arc<Session>) -> Self {
        Self::in_script(session, Locals::default())
    }

    /// The environment of a statement in a script.
    pub(crate) fn in_script(session: Arc<Session>, locals: Locals) -> Self {
        let conf = session.conf();
        let facts = session.facts();
        let query_time = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |d| i64::try_from(d.as_micros()).unwrap_or(i64::MAX));
        Self {
            session,
            conf,
            facts,
            query_time: Arc::new(QueryTime::at(query_time)),
            lookup: Lookup::closed(),
            persistence: Persistence::default(),
            sources: Arc::default(),
            locals,
            views: 0,
            references: Arc::default(),
            defined: None,
            path: Vec::new(),
        }
    }

    /// The environment of another moment, in microseconds.
    pub(crate) fn at(mut self, micros: i64) -> Self {
        self.query_time = Arc::new(QueryTime::at(micros));
        self
    }

    /// Whether the moment became part of what was analysed.
    pub(crate) fn uses_time(&self) -> bool {
        self.query_time.is_used()
    }

    /// The environment for the new query of a view, quoted, that is there already.
    pub(crate) fn defining(mut self, view: String) -> Self {
        self.defined = Some(view);
        self
    }

    /// Nothing here keeps what it was: the error says so where the relation is there and the time is one.
    /// A relation that is not there is told as such later.
    fn refuse_travel(&self, name: &[String], found: Option<&Found>, travel: &TimeTravel) -> Result<()> {
        if let TimeTravel::Timestamp(moment) = travel {
            let runner = Runner::new(self.session.clone(), self.locals.clone());
            let value = runner.evaluate_as(moment, &firesteel_types::DataType::Timestamp);
            if !matches!(value, Ok(Literal::Timestamp(_))) {
                let text = moment.origin.context().map(|context| context.excerpt().fragment).unwrap_or_default();
                return Err(SparkError::new("INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.INPUT")
                    .with("expr", format!("\"{}\"", text.trim_matches('\'')))
                    .without_context());
            }
        }
        let is_file = matches!(name, [format, _] if matches!(
            format.to_lowercase().as_str(), "parquet" | "csv" | "json" | "text" | "orc" | "avro"
        ));
        let relation = match found {
            Some(Found::Stored(table)) => table.name.quoted(),
            Some(Found::Temporary { name, .. }) => attribute::quote(name),
            Some(Found::Global { .. }) => attribute::quote_parts(name),
            None if is_file => attribute::quote_parts(name),
            None => return Ok(()),
        };
        Err(SparkError::new("UNSUPPORTED_FEATURE.TIME_TRAVEL").with("relationId", relation))
    }

    /// A view's query must not lead back to the view.
    fn check_not_recursive(&self, found: &Found) -> Result<()> {
        let Some(defined) = &self.defined else { return Ok(()) };
        let name = match found {
            Found::Temporary { name, .. } => attribute::quote(name),
            Found::Global { name, .. } => {
                attribute::quote_parts(&[self.conf.global_temp_database.clone(), name.clone()])
            }
            Found::Stored(table) => table.name.quoted(),
        };
        if !name.eq_ignore_ascii_case(defined) {
            return Ok(());
        }
        let path = std::iter::once(defined).chain(&self.path).chain([defined]);
        Err(SparkError::new("RECURSIVE_VIEW")
            .with("viewIdent", defined.clone())
            .with("newPath", path.cloned().collect::<Vec<_>>().join(" -> ")))
    }

    /// The session's settings but for those that something kept when it was made.
    fn recalled(&self, settings: &[(String, String)]) -> Arc<SqlConf> {
        let recalled = SqlConf::new(&Recalled { session: &self.session.config().read(), settings });
        // `current_timezone()` is the session's, wherever it stands.
        Arc::new(SqlConf { time_zone_text: self.conf.time_zone_text.clone(), ..recalled })
    }

    /// The environment in which a view's query is analysed.
    fn in_view(&self, database: &str, settings: &[(String, String)], name: &[String]) -> Result<Self> {
        if self.views >= MAX_VIEW_DEPTH {
            return Err(SparkError::new("VIEW_EXCEED_MAX_NESTED_DEPTH")
                .with("viewName", attribute::quote_parts(name))
                .with("maxNestedDepth", MAX_VIEW_DEPTH.to_string()));
        }
        let facts = SessionFacts { current_database: database.to_string(), ..self.facts.clone() };
        let conf = self.recalled(settings);
        Ok(Self {
            session: self.session.clone(),
            conf,
            facts,
            query_time: self.query_time.clone(),
            lookup: Lookup::closed(),
            persistence: self.persistence.clone(),
            sources: self.sources.clone(),
            locals: self.locals.clone(),
            views: self.views + 1,
            references: Arc::default(),
            defined: self.defined.clone(),
            path: self.path.iter().cloned().chain([attribute::quote_parts(name)]).collect(),
        })
    }

    /// A temporary view, its columns named and cast as it has them.
    fn view(&self, view: &ViewQuery, name: &[String]) -> Result<Arc<Resolved>> {
        let environment = self.in_view(&view.database, &view.settings, name)?;
        let shape = ViewShape {
            query: &view.query,
            output: &view.output,
            schema: &view.schema,
            mode: SchemaMode::Unsupported,
            name,
            suggestion: "CREATE OR REPLACE TEMPORARY VIEW".to_string(),
        };
        view_columns::read(&environment, &shape, &self.conf).map(Arc::new)
    }

    /// A view of the catalog; where it follows its query, the catalog learns what it is now.
    fn stored_view(&self, table: &CatalogTable, view: &ViewDefinition, name: &[String]) -> Result<Resolved> {
        let environment = self.in_view(&view.database, &view.settings, name)?;
        let query = view.query(&table.name)?;
        let mode = SchemaMode::parse(&view.schema_mode);
        let names: Vec<&str> = table.schema.fields.iter().map(|f| f.name.as_str()).collect();
        let columns = if view.output.iter().eq(names.iter().copied()) {
            String::new()
        } else {
            format!(" ({})", names.join(", "))
        };
        let declared = table.schema.char_varchar_as_string();
        let shape = ViewShape {
            query: &query,
            output: &view.output,
            schema: &declared,
            mode,
            name,
            suggestion: format!("CREATE OR REPLACE VIEW {}{columns} AS {}", name.join("."), view.text),
        };
        let resolved = view_columns::read(&environment, &shape, &self.conf)?;
        let schema = attribute::schema_of(&resolved.output).with_raw_types();
        if matches!(mode, SchemaMode::TypeEvolution | SchemaMode::Evolution) && schema != table.schema {
            self.session.engine().catalog().alter_table(&table.name, |table| {
                if let (SchemaMode::Evolution, Some(view)) = (mode, &mut table.view) {
                    view.output = schema.fields.iter().map(|f| f.name.clone()).collect();
                }
                table.schema = schema;
                Ok(())
            })?;
        }
        Ok(resolved)
    }

    /// A table or view of the catalog.
    fn stored(&self, table: &CatalogTable, options: &Options) -> Result<TableLookup> {
        let qualifier = table.name.parts();
        if let Some(view) = &table.view {
            let resolved = Arc::new(self.stored_view(table, view, &qualifier)?);
            return Ok(TableLookup::Analysed { resolved, qualifier });
        }
        let python = table.provider.as_deref().and_then(|name| self.session.python().source(name));
        if let Some(python) = python {
            // As in Spark, the table's own options stay with the table.
            let schema = table.schema.char_varchar_as_string();
            let scan = self.block(crate::python::source::table(&self.session, python, Some(schema), options))?;
            return Ok(TableLookup::Scan { scan: Scan { name: table.name.to_string(), ..scan }, qualifier });
        }
        let mut all: Vec<(String, String)> = table.options.clone().into_iter().collect();
        all.extend(options.iter().cloned());
        if table.provider.as_deref() == Some(crate::jdbc::JDBC) {
            self.references.lock().asks_databases = true;
            let schema = table.schema.char_varchar_as_string();
            let scan = self.block(crate::jdbc::scan(&self.conf, &all, &[], Some(&schema)))?;
            return Ok(TableLookup::Scan { scan: Scan { name: table.name.to_string(), ..scan }, qualifier });
        }
        let location = table.location.clone().unwrap_or_default();
        self.note_source(&location);
        let mut paths = vec![location.clone()];
        let stores = Stores::new(&self.conf, &all);
        if !table.unknown_partitions.is_empty() {
            let known = statement::partition::known_partitions(&stores, table)?;
            paths = known.into_iter().map(|p| p.folder.to_string_lossy().into_owned()).collect();
            all.push(("basePath".to_string(), location.clone()));
        }
        if paths.is_empty() || !Stores::new(&self.conf, &all).exists(std::path::Path::new(&location))? {
            // Nobody has written to it yet.
            let schema = table.schema.char_varchar_as_string().as_nullable();
            let arrow_schema = Arc::new(firesteel_types::arrow_mapping::to_arrow_schema(&schema));
            let provider = datafusion::datasource::MemTable::try_new(arrow_schema, vec![Vec::new()])
                .map_err(firesteel_analyzer::resolved::engine_error)?;
            let scan = Scan {
                provider: Arc::new(provider),
                schema,
                name: table.name.to_string(),
                metadata_columns: Vec::new(),
            };
            return Ok(TableLookup::Scan { scan, qualifier });
        }
        all.push(("__globPaths__".to_string(), "false".to_string()));
        let request = ScanRequest {
            format: table.provider.clone().unwrap_or_else(|| self.conf.default_source.clone()),
            paths,
            schema: Some(table.schema.char_varchar_as_string()),
            options: all,
            partition_columns: (!table.partition_columns.is_empty()).then(|| table.partition_columns.clone()),
            conf: self.conf.as_ref().clone(),
        };
        let found = self.block(firesteel_sources::scan(&request, self.session.state()))?;
        let scan = Scan {
            provider: found.provider,
            schema: found.schema,
            name: table.name.to_string(),
            metadata_columns: found.metadata_columns,
        };
        Ok(TableLookup::Scan { scan, qualifier })
    }

    /// Files named as a table: `` parquet.`/path` ``.
    fn files(&self, name: &[String], options: &Options) -> Result<Option<TableLookup>> {
        let [format, path] = name else { return Ok(None) };
        if !self.conf.run_sql_on_files {
            return Ok(None);
        }
        let known = crate::write::format_name(format);
        if known == "hive" || known == "jdbc" || self.session.python().source(format).is_some() {
            return Err(SparkError::new("UNSUPPORTED_DATASOURCE_FOR_DIRECT_QUERY").with("dataSourceType", format));
        }
        if !matches!(known.as_str(), "parquet" | "csv" | "json" | "text" | "orc" | "avro" | "xml" | "binaryfile") {
            return Ok(None);
        }
        if path.is_empty() {
            return Err(SparkError::new("INVALID_EMPTY_LOCATION")
                .with_class(ExceptionClass::Analysis)
                .with("location", path));
        }
        let source = DataSource {
            format: Some(known),
            schema: None,
            options: options.clone(),
            paths: vec![path.clone()],
            predicates: Vec::new(),
            is_streaming: false,
        };
        let scan = self.data_source(&source, None).map_err(|cause| match cause.class() {
            ExceptionClass::UnsupportedFileSystem | ExceptionClass::AccessDenied | ExceptionClass::Io => {
                SparkError::new("FAILED_TO_CREATE_PLAN_FOR_DIRECT_QUERY")
                    .with("dataSourceType", format)
                    .with_cause(cause)
            }
            _ => cause,
        })?;
        Ok(Some(TableLookup::Scan { scan, qualifier: Vec::new() }))
    }

    /// The same for an analysis that takes no persisted rows in place of relations.
    pub(crate) fn without_persisted(mut self) -> Self {
        self.persistence.is_ignored = true;
        self
    }

    /// Takes what earlier requests made of the same relations.
    pub(crate) fn with_earlier_analyses(mut self) -> Self {
        self.lookup = Lookup::open(self.session.analyses());
        self
    }

    /// Remembers what was made of a self-contained relation, where that does not depend on this request.
    pub(crate) fn remember(&self, relation: &Relation, resolved: &Resolved) {
        let depends_on_others = {
            let references = self.references.lock();
            references.calls_stored || references.asks_databases
        };
        if !self.query_time.is_used() && !self.used_persisted() && !depends_on_others {
            self.session.analyses().put(relation.fingerprint(), &self.conf, resolved);
        }
    }

    /// What the analysis looked up by name, views' own queries aside.
    pub(crate) fn references(&self) -> References {
        self.references.lock().clone()
    }

    /// Paths of the files that the analysis looked up.
    pub(crate) fn sources(&self) -> Vec<String> {
        self.sources.lock().clone()
    }

    fn note_source(&self, path: &str) {
        let path = path.strip_prefix("file:").unwrap_or(path);
        let path = if path.starts_with("//") { path.trim_start_matches('/').to_string() } else { path.to_string() };
        let is_whole = path.starts_with('/') || !path.contains('/') || path.contains("://");
        let path = if is_whole { path } else { format!("/{path}") };
        self.sources.lock().push(path.trim_end_matches('/').to_string());
    }

    /// What is persisted under a key.
    fn persisted(&self, key: &PersistKey) -> Option<Arc<Persisted>> {
        if self.persistence.is_ignored || self.session.engine().kept().has_no_persisted() {
            return None;
        }
        let persisted = crate::kept::persist::current(&self.session, key)?;
        self.persistence.is_used.store(true, Ordering::Relaxed);
        self.sources.lock().extend(persisted.sources().iter().cloned());
        Some(persisted)
    }

    /// True where the analysis took persisted rows.
    pub(crate) fn used_persisted(&self) -> bool {
        self.persistence.is_used.load(Ordering::Relaxed)
    }

    fn block<T>(&self, future: impl Future<Output = Result<T>>) -> Result<T> {
        tokio::runtime::Handle::current().block_on(future)
    }
}

/// A field within a value, by its path; an empty one is the value itself.
fn field_of(value: Literal, path: &[String]) -> Option<Literal> {
    let Some((name, rest)) = path.split_first() else { return Some(value) };
    let Literal::Struct(values, schema) = value else { return None };
    let index = schema.fields.iter().position(|field| field.name.eq_ignore_ascii_case(name))?;
    field_of(values.into_iter().nth(index)?, rest)
}

impl Environment for SessionEnvironment {
    fn conf(&self) -> &SqlConf {
        &self.conf
    }

    fn setting(&self, key: &str) -> Option<String> {
        self.session.setting(key)
    }

    fn facts(&self) -> &SessionFacts {
        &self.facts
    }

    fn query_time(&self) -> &QueryTime {
        &self.query_time
    }

    fn parallelism(&self) -> usize {
        self.session.state().config().target_partitions()
    }

    fn table(&self, name: &[String], options: &Options, time_travel: Option<&TimeTravel>) -> Result<TableLookup> {
        let found = self.session.find(name, &self.facts.current_database)?;
        if let Some(travel) = time_travel {
            self.refuse_travel(name, found.as_ref(), travel)?;
        }
        if let Some(found) = &found {
            self.check_not_recursive(found)?;
        }
        {
            let mut references = self.references.lock();
            references.reads_tables = true;
            match &found {
                Some(Found::Temporary { name, .. }) => references.temporary.push(("VIEW", attribute::quote(name))),
                Some(Found::Global { .. }) => references.temporary.push(("VIEW", attribute::quote_parts(name))),
                _ => {}
            }
        }
        if options.is_empty()
            && let Some(found) = &found
            && let Some(persisted) = self.persisted(&self.session.key_of(found))
        {
            let qualifier = match found {
                Found::Temporary { name, .. } => vec![name.clone()],
                Found::Global { name, .. } => vec![self.conf.global_temp_database.clone(), name.clone()],
                Found::Stored(table) => table.name.parts(),
            };
            return Ok(TableLookup::Scan { scan: persisted.scan(), qualifier });
        }
        match found {
            Some(Found::Temporary { name: given, view }) => {
                let query = self.session.catalog_state().view_queries.read().get(&given.to_lowercase()).cloned();
                let resolved = match query {
                    Some(query) => self.view(&query, name)?,
                    None => view,
                };
                Ok(TableLookup::Analysed { resolved, qualifier: vec![given] })
            }
            Some(Found::Global { name: given, view }) => {
                let query = self.session.engine().global_view_queries().read().get(&given).cloned();
                let resolved = match query {
                    Some(query) => self.view(&query, name)?,
                    None => view,
                };
                Ok(TableLookup::Analysed { resolved, qualifier: vec![self.conf.global_temp_database.clone(), given] })
            }
            Some(Found::Stored(table)) => self.stored(&table, options),
            None if name.len() > 3 || (name.len() == 3 && !name[0].eq_ignore_ascii_case(SESSION_CATALOG)) => {
                Err(SparkError::new("REQUIRES_SINGLE_PART_NAMESPACE")
                    .with("sessionCatalog", SESSION_CATALOG)
                    .with("identifier", attribute::quote_parts(name)))
            }
            None => match self.files(name, options)? {
                Some(files) => Ok(files),
                None => Err(firesteel_catalog::catalog::table_not_found_in(
                    &attribute::quote_parts(name),
                    &["`system`.`builtin`", "`system`.`session`"],
                    &self.facts.current_database,
                )),
            },
        }
    }

    fn streaming_table(&self, name: &[String], options: &Options) -> Result<TableLookup> {
        match self.session.find(name, &self.facts.current_database)? {
            Some(Found::Stored(table)) if table.view.is_some() => {
                Err(SparkError::new("_LEGACY_ERROR_TEMP_1018").with("quoted", table.name.parts()[1..].join(".")))
            }
            Some(Found::Stored(table)) => match self.stored(&table, options)? {
                TableLookup::Scan { scan, qualifier } => {
                    let scan = crate::streaming::table::of_catalog(&self.conf, &table, options, scan)?;
                    Ok(TableLookup::Scan { scan, qualifier })
                }
                _ => Err(SparkError::internal("a table that is not scanned")),
            },
            _ => match self.table(name, options, None)? {
                TableLookup::Analysed { resolved, qualifier }
                    if firesteel_analyzer::streaming::is_streaming(&resolved.plan) =>
                {
                    Ok(TableLookup::Analysed { resolved, qualifier })
                }
                _ => Err(SparkError::new("_LEGACY_ERROR_TEMP_1008").with("quoted", name.join("."))),
            },
        }
    }

    fn data_source(&self, source: &DataSource, plan_id: Option<i64>) -> Result<Scan> {
        let of_options =
            source.options.iter().filter(|(key, _)| key.eq_ignore_ascii_case("path")).map(|(_, path)| path);
        source.paths.iter().chain(of_options).for_each(|path| self.note_source(path));
        if source.format.as_deref().is_some_and(crate::jdbc::is_jdbc) {
            self.references.lock().asks_databases = true;
        }
        let listings = self.session.listings();
        if let Some(scan) = plan_id.and_then(|plan_id| listings.get(plan_id, source, &self.conf)) {
            return Ok(scan);
        }
        let scan = self.block(crate::write::scan(&self.session, &self.conf, source))?;
        if let Some(plan_id) = plan_id {
            listings.put(plan_id, source, &self.conf, &scan);
        }
        Ok(scan)
    }

    fn kept(&self, relation_id: &str) -> Result<Scan> {
        let relation = self.session.engine().kept().get(&self.session.key(), relation_id).ok_or_else(|| {
            SparkError::new("CONNECT_INVALID_PLAN.DATAFRAME_NOT_FOUND")
                .with("dfId", relation_id)
                .with("sessionId", self.session.session_id())
        })?;
        Ok(Scan {
            schema: relation.schema().clone(),
            provider: Arc::new(KeptTable::new(relation)),
            name: "checkpoint".into(),
            metadata_columns: Vec::new(),
        })
    }

    fn user_function(&self, name: &[String]) -> Result<Option<UserFunction>> {
        match self.session.find_function(name, &self.facts.current_database) {
            Some(function) => {
                let mut references = self.references.lock();
                match function.database {
                    None => references.temporary.push(("FUNCTION", attribute::quote(&function.name))),
                    Some(_) => references.calls_stored = true,
                }
                drop(references);
                statement::function::user_function(&function).map(Some)
            }
            None => Ok(None),
        }
    }

    fn recalling(&self, settings: &[(String, String)]) -> Option<Box<dyn Environment>> {
        if settings.is_empty() {
            return None;
        }
        Some(Box::new(Self {
            session: self.session.clone(),
            conf: self.recalled(settings),
            facts: self.facts.clone(),
            query_time: self.query_time.clone(),
            lookup: Lookup::closed(),
            persistence: self.persistence.clone(),
            sources: self.sources.clone(),
            locals: self.locals.clone(),
            views: self.views,
            references: self.references.clone(),
            defined: self.defined.clone(),
            path: self.path.clone(),
        }))
    }

    fn variable(&self, name: &[String]) -> Result<Option<Literal>> {
        if let [first, fields @ ..] = name {
            let key = first.to_lowercase();
            let value = self.locals.read().iter().rev().find_map(|scope| scope.get(&key)).map(|v| v.value.clone());
            if let Some(value) = value.and_then(|value| field_of(value, fields)) {
                return Ok(Some(value));
            }
        }
        let Some(key) = variable_name(name) else { return Ok(None) };
        let value = self.session.catalog_state().variables.read().get(&key).map(|v| v.value.clone());
        if value.is_some() {
            self.references
                .lock()
                .temporary
                .push(("VARIABLE", attribute::quote(name.last().map_or("", String::as_str))));
        }
        Ok(value)
    }

    fn catalog(&self, request: &CatalogRequest, plan_id: Option<i64>) -> Result<LocalRows> {
        let runner = Runner::new(self.session.clone(), self.locals.clone());
        // A request that makes something is done once, however often the client uses its relation.
        let plan_id = plan_id.filter(|_| matches!(request, CatalogRequest::CreateTable { .. }));
        let Some(plan_id) = plan_id else { return runner.catalog_request(request) };
        if let Some(rows) = self.session.catalog_state().requests.read().get(&plan_id) {
            return Ok(rows.clone());
        }
        let rows = runner.catalog_request(request)?;
        self.session.catalog_state().requests.write().insert(plan_id, rows.clone());
        Ok(rows)
    }

    fn statement(&self, statement: &Statement) -> Result<LocalRows> {
        Runner::new(self.session.clone(), self.locals.clone()).run(statement)
    }

    fn cached(&self, relation: &Relation) -> Option<PersistedFrame> {
        if self.session.engine().kept().has_no_persisted() {
            return None;
        }
        Some(self.persisted(&PersistKey::Frame(relation.fingerprint()))?.persisted_frame())
    }

    fn analysed(&self, relation: &Relation) -> Option<Resolved> {
        self.lookup.find(self.session.analyses(), || relation.fingerprint(), &self.conf)
    }

    fn parse_texts(
        &self,
        format: &str,
        texts: &[RecordBatch],
        schema: Option<&StructType>,
        options: &Options,
    ) -> Result<LocalRows> {
        let (schema, batches) = firesteel_sources::texts::parse(format, texts, schema, options, &self.conf)?;
        let arrow_schema = match batches.first() {
            Some(batch) => batch.schema(),
            None => Arc::new(firesteel_types::arrow_mapping::to_arrow_schema(&schema)),
        };
        Ok(LocalRows { schema, arrow_schema, batches })
    }

    fn analyze_table_function(&self, call: AnalyzeCall) -> Result<TableAnalysis> {
        let context = self.session.python().context()?;
        self.block(crate::python::planning::analyze(&context, call))
    }

    fn run(&self, resolved: &Resolved) -> Result<Vec<RecordBatch>> {
        self.block(crate::execution::rows(&self.session, resolved))
    }
}
