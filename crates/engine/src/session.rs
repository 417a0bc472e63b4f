//! A user's session.

use crate::analysis_cache::AnalysisCache;
use crate::catalog_state::CatalogState;
use crate::environment::SessionEnvironment;
use crate::execution::{self, Execution, ObservedMetrics, RunContext};
use crate::listings::Listings;
use crate::python::{PythonFiles, PythonSession};
use crate::streaming::StreamingManager;
use crate::{AnalysisReply, AnalysisRequest, CommandOutput, Engine};
use datafusion::execution::session_state::SessionState;
use firesteel_analyzer::{Analyzer, Resolved};
use firesteel_config::{SessionConfig, SqlConf};
use firesteel_error::{Result, SparkError};
use firesteel_functions::function::SessionFacts;
use firesteel_plan::{Command, Relation, Statement};
use firesteel_sql::{ParameterValues, ParserOptions};
use firesteel_types::Literal;
use parking_lot::RwLock;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The version of Spark that this server is compatible with.
pub const SPARK_VERSION: &str = "4.2.1";

/// A session: configuration, catalog state, temporary views, kept relations.
pub struct Session {
    engine: Arc<Engine>,
    user_id: String,
    session_id: String,
    config: RwLock<SessionConfig>,
    state: SessionState,
    /// Temporary views by lower-case name, with the name as given.
    temp_views: RwLock<HashMap<String, (String, Arc<Resolved>)>>,
    /// Catalog and database.
    current: RwLock<(String, String)>,
    catalog_state: CatalogState,
    python: Arc<PythonSession>,
    streaming: StreamingManager,
    analyses: AnalysisCache,
    listings: Listings,
    is_closed: AtomicBool,
}

/// An analysed relation with what its execution needs to know.
pub struct Analysed {
    pub resolved: Resolved,
    pub observations: Vec<firesteel_analyzer::analyzer::Observation>,
    /// Paths of the files that it reads.
    pub sources: Vec<String>,
    /// The moment of the request is part of it (`current_timestamp()`).
    pub uses_time: bool,
}

impl Session {
    pub(crate) fn new(engine: Arc<Engine>, user_id: &str, session_id: &str) -> Arc<Self> {
        let config = SessionConfig::new(engine.server_config().clone());
        let mut state = engine.state().clone();
        let python = Arc::new(PythonSession::new(engine.python().clone()));
        state.config_mut().set_extension(python.clone());
        let session = Arc::new(Self {
            engine,
            user_id: user_id.to_string(),
            session_id: session_id.to_string(),
            config: RwLock::new(config),
            state,
            temp_views: RwLock::new(HashMap::new()),
            current: RwLock::new(("spark_catalog".into(), "default".into())),
            catalog_state: CatalogState::default(),
            python: python.clone(),
            streaming: StreamingManager::default(),
            analyses: AnalysisCache::default(),
            listings: Listings::default(),
            is_closed: AtomicBool::new(false),
        });
        python.attach(&session);
        session
    }

    /// Gives the workers of the session's Python functions these files from now on.
    pub fn set_python_files(&self, files: PythonFiles) {
        self.python.set_files(files);
    }

    pub(crate) fn python(&self) -> &Arc<PythonSession> {
        &self.python
    }

    /// The session's streaming queries.
    pub fn streaming(&self) -> &StreamingManager {
        &self.streaming
    }

    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    pub fn user_id(&self) -> &str {
        &self.user_id
    }

    pub fn session_id(&self) -> &str {
        &self.session_id
    }

    /// The session's settings. Analysis takes a snapshot, so changes hold from the next request on.
    pub fn config(&self) -> &RwLock<SessionConfig> {
        &self.config
    }

    /// The typed settings as they are now.
    pub fn conf(&self) -> Arc<SqlConf> {
        self.config.read().snapshot()
    }

    pub(crate) fn state(&self) -> &SessionState {
        &self.state
    }

    pub(crate) fn temp_views(&self) -> &RwLock<HashMap<String, (String, Arc<Resolved>)>> {
        &self.temp_views
    }

    pub(crate) fn current(&self) -> &RwLock<(String, String)> {
        &self.current
    }

    pub(crate) fn catalog_state(&self) -> &CatalogState {
        &self.catalog_state
    }

    /// Makes or replaces a temporary view of an analysed relation, for programs that bring
    /// tables of their own.
    pub fn put_view(&self, name: &str, resolved: Resolved) {
        let key = name.to_lowercase();
        self.catalog_state.view_queries.write().remove(&key);
        self.temp_views.write().insert(key, (name.to_string(), Arc::new(resolved)));
        self.analyses.clear();
    }

    pub(crate) fn analyses(&self) -> &AnalysisCache {
        &self.analyses
    }

    /// The files of the session's frames.
    pub(crate) fn listings(&self) -> &Listings {
        &self.listings
    }

    /// The session in the stores that all sessions share.
    pub(crate) fn key(&self) -> String {
        format!("{}/{}", self.user_id, self.session_id)
    }

    pub(crate) fn facts(&self) -> SessionFacts {
        let current = self.current.read();
        SessionFacts {
            user: if self.user_id.is_empty() { "anonymous".into() } else { self.user_id.clone() },
            current_catalog: current.0.clone(),
            current_database: current.1.clone(),
            version: SPARK_VERSION.to_string(),
        }
    }

    /// A setting's value, for `${key}` in SQL text.
    pub(crate) fn setting(&self, key: &str) -> Option<String> {
        self.config.read().get_option(key)
    }

    /// Parses the text of a statement or script by the session's settings.
    pub(crate) fn parse(&self, text: &str, values: ParameterValues) -> Result<Statement> {
        let conf = self.conf();
        let options = ParserOptions::from(conf.as_ref()).with_parameters(values);
        if conf.variable_substitute && text.contains("${") {
            let text = firesteel_sql::substitute(text, &|key| self.setting(key))?;
            return firesteel_sql::parse_script_or_statement(&text, &options);
        }
        firesteel_sql::parse_script_or_statement(text, &options)
    }

    /// Analyses a relation on a thread where blocking is allowed: on another one if that may take a
    /// while, as the caller may be interrupted meanwhile.
    pub async fn analyse(self: &Arc<Self>, relation: Relation) -> Result<Analysed> {
        self.analyse_as(relation, false).await
    }

    /// Analyses a relation that is likely to come again, as part of others: clients ask for the schema of a frame,
    /// and go on from there.
    pub(crate) async fn analyse_and_remember(self: &Arc<Self>, relation: Relation) -> Result<Analysed> {
        self.analyse_as(relation, true).await
    }

    async fn analyse_as(self: &Arc<Self>, relation: Relation, remembers: bool) -> Result<Analysed> {
        let is_pool = tokio::runtime::Handle::current().runtime_flavor() == tokio::runtime::RuntimeFlavor::MultiThread;
        if is_pool && relation.is_light() {
            let work = || tokio::task::block_in_place(|| self.analysed(&relation, remembers));
            return std::panic::catch_unwind(std::panic::AssertUnwindSafe(work))
                .unwrap_or_else(|panic| Err(SparkError::internal(panic_text(panic.as_ref()))));
        }
        let session = self.clone();
        blocking(move || session.analysed(&relation, remembers)).await
    }

    /// Analyses a relation. May block on files.
    pub(crate) fn analyse_now(self: &Arc<Self>, relation: &Relation) -> Result<Analysed> {
        self.analysed(relation, false)
    }

    /// Analyses a relation as if the request came at a moment, in microseconds. May block on files.
    pub(crate) fn analyse_at(self: &Arc<Self>, relation: &Relation, micros: i64) -> Result<Analysed> {
        analyse_in(&SessionEnvironment::new(self.clone()).at(micros), relation)
    }

    fn analysed(self: &Arc<Self>, relation: &Relation, remembers: bool) -> Result<Analysed> {
        let environment = SessionEnvironment::new(self.clone());
        let may_look = remembers || !self.analyses.is_empty();
        // What is persisted meanwhile is not to be missed.
        if may_look && self.engine.kept().has_no_persisted() && relation.is_self_contained() {
            let environment = environment.with_earlier_analyses();
            let analysed = analyse_in(&environment, relation)?;
            if remembers {
                environment.remember(relation, &analysed.resolved);
            }
            return Ok(analysed);
        }
        match analyse_in(&environment, relation) {
            // Persisted rows have the columns of their relation only; ORDER BY and filters
            // may use others of the relations below it.
            Err(_) if environment.used_persisted() => {
                analyse_in(&SessionEnvironment::new(self.clone()).without_persisted(), relation)
            }
            result => result,
        }
    }

    /// Starts a query. Rows are made as the execution's stream is polled.
    /// Fails when the relation cannot be analysed or planned.
    pub async fn execute(self: &Arc<Self>, relation: Relation, run: RunContext) -> Result<Execution> {
        execution::execute(self, relation, run).await
    }

    /// Runs a command to its end.
    pub async fn run_command(self: &Arc<Self>, command: Command, run: RunContext) -> Result<CommandOutput> {
        // Texts of queries come as commands too; texts of statements are told apart where they run.
        let is_text = matches!(command, Command::Sql(_));
        let output = crate::command::run(self, command, run).await;
        if !is_text {
            self.analyses.clear();
        }
        output
    }

    /// Answers a question about a plan.
    pub async fn analyze(self: &Arc<Self>, request: AnalysisRequest) -> Result<AnalysisReply> {
        crate::analysis::answer(self, request).await
    }

    /// What workers of Python functions reported to accumulators (profiles) since the last time.
    pub fn take_accumulators(&self) -> Option<ObservedMetrics> {
        let updates = self.python.take_accumulators();
        if updates.is_empty() {
            return None;
        }
        Some(ObservedMetrics {
            // Clients know them by this name.
            name: "__python_accumulator__".to_string(),
            keys: (0..updates.len()).map(|i| i.to_string()).collect(),
            values: updates.iter().map(|update| Literal::Binary(update.to_vec())).collect(),
            plan_id: -1,
        })
    }

    /// A copy of the session's settings, temporary views, functions and current
    /// database under another id. Kept relations are not copied.
    pub fn clone_as(self: &Arc<Self>, session_id: &str) -> Result<Arc<Self>> {
        let clone = Self::new(self.engine.clone(), &self.user_id, session_id);
        *clone.config.write() = self.config.read().clone();
        *clone.temp_views.write() = self.temp_views.read().clone();
        *clone.current.write() = self.current.read().clone();
        clone.catalog_state.copy_from(&self.catalog_state);
        clone.python.copy_from(&self.python);
        Ok(clone)
    }

    /// Frees what a request kept, and fails, where the session was closed meanwhile.
    pub(crate) fn check_open(&self) -> Result<()> {
        if !self.is_closed.load(Ordering::SeqCst) {
            return Ok(());
        }
        self.engine.kept().remove_session(&self.key());
        Err(SparkError::new("OPERATION_CANCELED").with("operationId", ""))
    }

    /// Frees all that the session keeps. Running queries keep what they use until they end.
    pub fn close(&self) {
        // The flag comes first: what is kept after it is freed by the one who kept it.
        self.is_closed.store(true, Ordering::SeqCst);
        self.streaming.close();
        self.temp_views.write().clear();
        self.catalog_state.clear();
        self.analyses.clear();
        self.listings.clear();
        self.python.close();
        self.engine.kept().remove_session(&self.key());
    }
}

fn analyse_in(environment: &SessionEnvironment, relation: &Relation) -> Result<Analysed> {
    let mut analyzer = Analyzer::new(environment);
    let resolved = analyzer.relation(relation)?;
    let observations = std::mem::take(&mut analyzer.observations);
    Ok(Analysed { resolved, observations, sources: environment.sources(), uses_time: environment.uses_time() })
}

/// Runs work that may block off the async threads.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => Err(SparkError::internal(panic_text(panic.as_ref()))),
            Err(_) => Err(SparkError::new("OPERATION_CANCELED").with("operationId", "")),
        },
    }
}

/// The message of a caught panic.
pub fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .map(|s| (*s).to_string())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "unknown".to_string());
    format!("an operator failed: {text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_of_blocking_work_is_an_error() {
        let result: Result<()> = blocking(|| panic!("out of luck")).await;
        assert!(result.unwrap_err().to_string().contains("out of luck"));
        assert_eq!(blocking(|| Ok(1)).await.unwrap(), 1);
    }
}
