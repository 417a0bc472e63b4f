//! A user's session.

use crate::{AnalysisReply, AnalysisRequest, CommandOutput, Engine, Execution, RunContext};
use firesteel_config::SessionConfig;
use firesteel_error::{Result, SparkError};
use firesteel_plan::{Command, Relation};
use parking_lot::RwLock;
use std::sync::Arc;

/// A session: configuration, catalog state, temporary views, kept relations.
pub struct Session {
    engine: Arc<Engine>,
    user_id: String,
    session_id: String,
    config: RwLock<SessionConfig>,
}

impl Session {
    pub(crate) fn new(engine: Arc<Engine>, user_id: &str, session_id: &str) -> Result<Arc<Self>> {
        let _ = (&engine, user_id, session_id);
        Err(SparkError::unsupported("sessions"))
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

    /// Starts a query. Rows are made as the execution's stream is polled.
    /// Fails when the relation cannot be analysed or planned.
    pub async fn execute(self: &Arc<Self>, relation: Relation, run: RunContext) -> Result<Execution> {
        let _ = (relation, run);
        Err(SparkError::unsupported("execute"))
    }

    /// Runs a command to its end.
    pub async fn run_command(self: &Arc<Self>, command: Command, run: RunContext) -> Result<CommandOutput> {
        let _ = (command, run);
        Err(SparkError::unsupported("commands"))
    }

    /// Answers a question about a plan.
    pub async fn analyze(self: &Arc<Self>, request: AnalysisRequest) -> Result<AnalysisReply> {
        let _ = request;
        Err(SparkError::unsupported("analysis"))
    }

    /// A copy of the session's settings, temporary views, functions and current
    /// database under another id. Kept relations are not copied.
    pub fn clone_as(self: &Arc<Self>, session_id: &str) -> Result<Arc<Self>> {
        let _ = session_id;
        Err(SparkError::unsupported("cloning a session"))
    }

    /// Frees all that the session keeps. Running queries keep what they use until they end.
    pub fn close(&self) {}
}
