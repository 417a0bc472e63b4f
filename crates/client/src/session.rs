//! Sessions: the way in.

mod builder;
mod operations;
mod scope;

pub use builder::SparkSessionBuilder;
pub use operations::{OperationState, OperationStatus};
pub(crate) use scope::Scope;

use crate::batches::BatchStream;
use crate::chores::Chores;
use crate::column::{IntoValue, split};
use crate::encoded;
use crate::error::{Error, Result};
use crate::plan::{Plan, References, UNKNOWN_LEVELS, with_stack};
use crate::progress::{Progress, ProgressHandlerId};
use crate::responses::Responses;
use crate::transport::Transport;
use crate::types::IntoSchema;
use crate::{Catalog, DataFrame, DataStreamReader, Reader, RuntimeConf, StreamingQueryManager, TableFunctions};
use bytes::Bytes;
use firesteel_proto::connect as proto;
use prost::Message;
use proto::command::CommandType;
use proto::execute_plan_response::ResponseType;
use proto::plan::OpType;
use proto::relation::RelType;
use std::sync::Arc;
use uuid::Uuid;

/// A session on a server of Spark Connect. Clones are the same session.
///
/// ```no_run
/// use firesteel_client::SparkSession;
/// # async fn run() -> firesteel_client::Result<()> {
/// let spark = SparkSession::connect("sc://localhost:15002").await?;
/// spark.range(0, 5).show().await?;
/// spark.stop().await?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct SparkSession {
    pub(crate) transport: Arc<Transport>,
    pub(crate) chores: Chores,
    pub(crate) scope: Scope,
}

impl std::fmt::Debug for SparkSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SparkSession").field("session_id", &self.session_id()).finish_non_exhaustive()
    }
}

impl SparkSession {
    /// A session with the defaults on the server of a connection string.
    pub async fn connect(url: &str) -> Result<Self> {
        Self::builder().remote(url).connect().await
    }

    /// Starts to say what the session shall be like.
    pub fn builder() -> SparkSessionBuilder {
        SparkSessionBuilder::default()
    }

    pub(crate) fn over(transport: Transport) -> Self {
        let transport = Arc::new(transport);
        let chores = Chores::start(Arc::clone(&transport));
        SparkSession { transport, chores, scope: Scope::default() }
    }

    /// The id of the session, a UUID.
    pub fn session_id(&self) -> &str {
        &self.transport.session_id
    }

    /// What the server said about settings of the builder that it did not take.
    pub fn warnings(&self) -> &[String] {
        self.transport.warnings.get().map(Vec::as_slice).unwrap_or_default()
    }

    /// The server's version of Spark.
    pub async fn version(&self) -> Result<String> {
        use proto::{
            analyze_plan_request::{Analyze, SparkVersion},
            analyze_plan_response::Result as Answer,
        };
        match self.analyze(Analyze::SparkVersion(SparkVersion {})).await? {
            Answer::SparkVersion(answer) => Ok(answer.version),
            _ => Err(Error::protocol("no version in the answer")),
        }
    }

    /// A frame over a plan of this session.
    pub(crate) fn frame(&self, plan: Arc<Plan>) -> DataFrame {
        DataFrame::new(self.clone(), plan)
    }

    pub(crate) fn leaf(&self, rel_type: RelType) -> DataFrame {
        self.frame(Plan::leaf(rel_type))
    }

    /// Whole numbers from a start to before an end, in the column `id`.
    pub fn range(&self, start: i64, end: i64) -> DataFrame {
        self.range_step(start, end, 1, None)
    }

    /// Whole numbers with a step between them, in a number of partitions.
    pub fn range_step(&self, start: i64, end: i64, step: i64, partitions: Option<i32>) -> DataFrame {
        self.leaf(RelType::Range(proto::Range { start: Some(start), end, step, num_partitions: partitions }))
    }

    /// A table or view.
    pub fn table(&self, name: impl Into<String>) -> DataFrame {
        self.read().table(name)
    }

    /// Reads files, tables and other sources.
    pub fn read(&self) -> Reader {
        Reader::new(self.clone())
    }

    /// Reads what keeps coming.
    pub fn read_stream(&self) -> DataStreamReader {
        DataStreamReader::new(self.clone())
    }

    /// Functions that give tables.
    pub fn tvf(&self) -> TableFunctions {
        TableFunctions::new(self.clone())
    }

    /// Databases, tables, views and functions.
    pub fn catalog(&self) -> Catalog {
        Catalog::new(self.clone())
    }

    /// The session's settings.
    pub fn conf(&self) -> RuntimeConf {
        RuntimeConf::new(self.clone())
    }

    /// The running streaming queries.
    pub fn streams(&self) -> StreamingQueryManager {
        StreamingQueryManager::new(self.clone())
    }

    /// Runs SQL. A query is only looked at, and runs when its frame is used; a command runs now.
    ///
    /// ```
    /// # async fn run(spark: firesteel_client::SparkSession) -> firesteel_client::Result<()> {
    /// let count = spark.sql("SELECT * FROM range(3)").await?.count().await?;
    /// assert_eq!(count, 3);
    /// # Ok(()) }
    /// # firesteel_client::doc_test(run);
    /// ```
    pub async fn sql(&self, query: impl Into<String>) -> Result<DataFrame> {
        self.run_sql(proto::Sql { query: query.into(), ..Default::default() }, Vec::new()).await
    }

    /// SQL with values for its parameters `:name`.
    ///
    /// ```
    /// # async fn run(spark: firesteel_client::SparkSession) -> firesteel_client::Result<()> {
    /// let frame = spark.sql_named("SELECT * FROM range(10) WHERE id > :least", [("least", 7)]).await?;
    /// assert_eq!(frame.count().await?, 2);
    /// # Ok(()) }
    /// # firesteel_client::doc_test(run);
    /// ```
    pub async fn sql_named<V: IntoValue>(
        &self,
        query: impl Into<String>,
        arguments: impl IntoIterator<Item = (impl Into<String>, V)>,
    ) -> Result<DataFrame> {
        let named = arguments.into_iter().map(|(name, value)| (name.into(), value.into_value().expression));
        self.run_sql(
            proto::Sql { query: query.into(), named_arguments: named.collect(), ..Default::default() },
            Vec::new(),
        )
        .await
    }

    /// SQL with values for its parameters `?`.
    pub async fn sql_positional<V: IntoValue>(
        &self,
        query: impl Into<String>,
        arguments: impl IntoIterator<Item = V>,
    ) -> Result<DataFrame> {
        let (pos_arguments, _) = split(arguments.into_iter().map(IntoValue::into_value).collect());
        self.run_sql(proto::Sql { query: query.into(), pos_arguments, ..Default::default() }, Vec::new()).await
    }

    /// SQL over frames, each a table under the name given.
    ///
    /// ```
    /// # async fn run(spark: firesteel_client::SparkSession) -> firesteel_client::Result<()> {
    /// let (left, right) = (spark.range(0, 5), spark.range(3, 9));
    /// let both = spark.sql_frames("SELECT * FROM l JOIN r USING (id)", [("l", &left), ("r", &right)]).await?;
    /// assert_eq!(both.count().await?, 2);
    /// # Ok(()) }
    /// # firesteel_client::doc_test(run);
    /// ```
    pub async fn sql_frames(
        &self,
        query: impl Into<String>,
        frames: impl IntoIterator<Item = (impl Into<String>, &DataFrame)>,
    ) -> Result<DataFrame> {
        let frames = frames.into_iter().map(|(name, frame)| frame.alias(name)).collect();
        self.run_sql(proto::Sql { query: query.into(), ..Default::default() }, frames).await
    }

    async fn run_sql(&self, sql: proto::Sql, frames: Vec<DataFrame>) -> Result<DataFrame> {
        let plans: Vec<_> = frames.iter().map(|frame| Arc::clone(&frame.plan)).collect();
        let input = Plan::new(Vec::new(), References::of_plans(plans.clone()), move |_| RelType::Sql(sql.clone()));
        let command = proto::SqlCommand { input: Some(input.relation()), ..Default::default() };
        for response in self.run(CommandType::SqlCommand(command)).await? {
            if let ResponseType::SqlCommandResult(result) = response
                && let Some(rel_type) = result.relation.and_then(|relation| relation.rel_type)
            {
                // The plans stay alive with the result, which refers to them.
                let plan = if plans.is_empty() {
                    Plan::leaf(rel_type)
                } else {
                    Plan::new(plans, References::default(), move |_| rel_type.clone())
                };
                return Ok(self.frame(plan));
            }
        }
        Err(Error::protocol("no relation for the result of SQL"))
    }

    /// A frame without rows.
    pub fn empty_dataframe(&self, schema: impl IntoSchema) -> DataFrame {
        let schema = Some(schema.into_schema_text());
        self.leaf(RelType::LocalRelation(proto::LocalRelation { data: None, schema }))
    }

    /// A frame of a relation that this crate has no method for, such as a plugin's.
    pub fn relation(&self, rel_type: RelType) -> DataFrame {
        self.frame(Plan::opaque(rel_type))
    }

    /// Runs a command that this crate has no method for; its responses.
    pub async fn command(&self, command: CommandType) -> Result<Vec<ResponseType>> {
        self.run(command).await
    }

    /// Calls a function with the progress of each operation of the session.
    pub fn register_progress_handler(&self, handler: impl Fn(&Progress) + Send + Sync + 'static) -> ProgressHandlerId {
        self.transport.progress.add(Arc::new(handler))
    }

    /// Stops calling a function.
    pub fn remove_progress_handler(&self, handler: ProgressHandlerId) {
        self.transport.progress.remove(handler);
    }

    /// Stops calling all functions, the progress bar included.
    pub fn clear_progress_handlers(&self) {
        self.transport.progress.clear();
    }

    /// A new session with the settings, views and functions of this one.
    pub async fn clone_session(&self) -> Result<SparkSession> {
        self.clone_session_as(Uuid::new_v4()).await
    }

    /// As [`clone_session`](Self::clone_session), with the id of the new session.
    pub async fn clone_session_as(&self, session_id: Uuid) -> Result<SparkSession> {
        let request = proto::CloneSessionRequest {
            session_id: self.transport.session_id.clone(),
            client_observed_server_side_session_id: self.transport.observed_session(),
            user_context: self.transport.user(),
            client_type: self.transport.client_type(),
            new_session_id: Some(session_id.to_string()),
        };
        let answer = self.call(request, |mut stub, request| async move { stub.clone_session(request).await }).await?;
        let id = Uuid::parse_str(&answer.new_session_id);
        let id = id.map_err(|_| Error::protocol(format!("a session id that is no UUID: {}", answer.new_session_id)))?;
        let transport = self.transport.sibling(id)?;
        transport.verify(&answer.new_session_id, &answer.new_server_side_session_id)?;
        Ok(SparkSession::over(transport))
    }

    /// Another, empty session on the same connection.
    pub fn new_session(&self) -> Result<SparkSession> {
        Ok(SparkSession::over(self.transport.sibling(Uuid::new_v4())?))
    }

    /// Ends the session on the server, with all it holds. Later calls fail with [`Error::SessionStopped`].
    pub async fn stop(&self) -> Result<()> {
        if self.transport.is_stopped() {
            return Ok(());
        }
        // A server that does not answer must not keep the session from ending here.
        let told = async {
            self.chores.flush().await;
            Ok(())
        };
        let _ = self.within(told).await;
        let request = proto::ReleaseSessionRequest {
            session_id: self.transport.session_id.clone(),
            user_context: self.transport.user(),
            client_type: self.transport.client_type(),
            allow_reconnect: false,
        };
        let released = self.call(request, |mut stub, request| async move { stub.release_session(request).await }).await;
        self.transport.stop();
        released.map(drop)
    }

    /// Whether the session was stopped, or lost.
    pub fn is_stopped(&self) -> bool {
        self.transport.is_stopped()
    }

    /// Waits until the server knows which results were read and which checkpoints are not needed any more.
    pub async fn flush(&self) {
        self.chores.flush().await;
    }

    /// The responses of an operation, which keeps a plan's relations alive.
    pub(crate) fn responses(&self, plan: OpType, held: Option<Arc<Plan>>) -> Result<Responses> {
        if self.is_stopped() {
            return Err(Error::SessionStopped);
        }
        Ok(Responses::new(self, plan, held))
    }

    /// Runs a command to its end.
    pub(crate) async fn run(&self, command: CommandType) -> Result<Vec<ResponseType>> {
        let command = proto::Command { command_type: Some(command) };
        let mut batches = BatchStream::new(self.clone(), self.responses(OpType::Command(command), None)?);
        let mut answers = Vec::new();
        while let Some(answer) = batches.next_answer().await? {
            answers.push(answer);
        }
        Ok(answers)
    }

    /// Asks about a plan without running it.
    pub(crate) async fn analyze(
        &self,
        analyze: proto::analyze_plan_request::Analyze,
    ) -> Result<proto::analyze_plan_response::Result> {
        let request = proto::AnalyzePlanRequest {
            session_id: self.transport.session_id.clone(),
            client_observed_server_side_session_id: self.transport.observed_session(),
            user_context: self.transport.user(),
            client_type: self.transport.client_type(),
            analyze: Some(analyze),
        };
        let request = with_stack(UNKNOWN_LEVELS, move || Bytes::from(request.encode_to_vec()));
        let grpc = self.transport.grpc();
        let answer = self.call(request, |_, request| encoded::analyze_plan(grpc.clone(), request)).await?;
        answer.result.ok_or_else(|| Error::protocol("an analysis without a result"))
    }
}
