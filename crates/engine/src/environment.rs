//! The session as the analyzer sees it.

use crate::Session;
use arrow::record_batch::RecordBatch;
use datafusion::datasource::MemTable;
use firesteel_analyzer::environment::{Environment, LocalRows, Scan, TableLookup, UserFunction};
use firesteel_analyzer::{Resolved, attribute};
use firesteel_config::SqlConf;
use firesteel_error::{Result, SparkError};
use firesteel_functions::function::SessionFacts;
use firesteel_plan::{CatalogRequest, DataSource, Options, Statement, TimeTravel};
use firesteel_types::Literal;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// A session's answers to the analyzer, with the settings of one moment.
pub struct SessionEnvironment {
    session: Arc<Session>,
    conf: SqlConf,
    facts: SessionFacts,
    query_time: i64,
}

impl SessionEnvironment {
    pub fn new(session: Arc<Session>) -> Self {
        let conf = session.conf();
        let facts = session.facts();
        let query_time = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |d| i64::try_from(d.as_micros()).unwrap_or(i64::MAX));
        Self { session, conf, facts, query_time }
    }

    fn block<T>(&self, future: impl Future<Output = Result<T>>) -> Result<T> {
        tokio::runtime::Handle::current().block_on(future)
    }
}

impl Environment for SessionEnvironment {
    fn conf(&self) -> &SqlConf {
        &self.conf
    }

    fn facts(&self) -> &SessionFacts {
        &self.facts
    }

    fn query_time(&self) -> i64 {
        self.query_time
    }

    fn table(&self, name: &[String], options: &Options, time_travel: Option<&TimeTravel>) -> Result<TableLookup> {
        let _ = (options, time_travel);
        if let [one] = name
            && let Some((given, resolved)) = self.session.temp_views().read().get(&one.to_lowercase())
        {
            return Ok(TableLookup::Analysed { resolved: resolved.clone(), qualifier: vec![given.clone()] });
        }
        if let [database, view] = name
            && database.eq_ignore_ascii_case("global_temp")
            && let Some(resolved) = self.session.engine().global_views().read().get(&view.to_lowercase())
        {
            return Ok(TableLookup::Analysed {
                resolved: resolved.clone(),
                qualifier: vec!["global_temp".into(), view.clone()],
            });
        }
        Err(SparkError::new("TABLE_OR_VIEW_NOT_FOUND").with("relationName", attribute::quote_parts(name)))
    }

    fn data_source(&self, source: &DataSource) -> Result<Scan> {
        self.block(crate::write::scan(&self.session, &self.conf, source))
    }

    fn kept(&self, relation_id: &str) -> Result<Scan> {
        let rows = self.session.engine().kept().get(&self.session.key(), relation_id).ok_or_else(|| {
            SparkError::new("CONNECT_INVALID_PLAN.DATAFRAME_NOT_FOUND")
                .with("dfId", relation_id)
                .with("sessionId", self.session.session_id())
        })?;
        let provider = MemTable::try_new(rows.arrow_schema.clone(), rows.partitions.clone())
            .map_err(firesteel_analyzer::resolved::engine_error)?;
        Ok(Scan {
            provider: Arc::new(provider),
            schema: rows.schema.clone(),
            name: "checkpoint".into(),
            metadata_columns: Vec::new(),
        })
    }

    fn user_function(&self, _name: &[String]) -> Result<Option<UserFunction>> {
        Ok(None)
    }

    fn variable(&self, _name: &[String]) -> Result<Option<Literal>> {
        Ok(None)
    }

    fn catalog(&self, _request: &CatalogRequest) -> Result<LocalRows> {
        Err(SparkError::unsupported("the catalog API"))
    }

    fn statement(&self, _statement: &Statement) -> Result<LocalRows> {
        Err(SparkError::unsupported("this statement"))
    }

    fn run(&self, resolved: &Resolved) -> Result<Vec<RecordBatch>> {
        let plan = resolved.exact()?;
        self.block(crate::execution::collect(&self.session, plan))
    }
}
