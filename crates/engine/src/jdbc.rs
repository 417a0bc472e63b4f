//! Databases behind `jdbc:` URLs.

use crate::execution;
use crate::session::Session;
use datafusion::logical_expr::LogicalPlan;
use firesteel_analyzer::environment::Scan;
use firesteel_config::SqlConf;
use firesteel_error::Result;
use firesteel_plan::Options;
use firesteel_sources::SaveMode;
use firesteel_sources::jdbc::{self, JdbcRequest, JdbcTable, JdbcWrite};
use firesteel_types::StructType;
use std::sync::Arc;

/// The short name of the format.
pub(crate) const JDBC: &str = "jdbc";

/// Whether a format's class name or short name means databases.
pub(crate) fn is_jdbc(format: &str) -> bool {
    crate::write::format_name(format) == JDBC
}

/// Whether a table is one of a database.
pub(crate) fn is_source(table: &dyn std::any::Any) -> bool {
    table.is::<JdbcTable>()
}

/// A scan with options of the user's, conditions of partitions if the client lists them, and a schema where
/// the user gives one.
pub(crate) async fn scan(
    conf: &SqlConf,
    options: &Options,
    predicates: &[String],
    schema: Option<&StructType>,
) -> Result<Scan> {
    let predicates = (!predicates.is_empty()).then_some(predicates);
    let scan = jdbc::scan(&JdbcRequest { options, predicates, schema, conf }).await?;
    Ok(Scan { provider: scan.provider, schema: scan.schema, name: JDBC.to_string(), metadata_columns: Vec::new() })
}

/// Writes the rows of a plan, whose columns are a schema's in order.
pub(crate) async fn write(
    session: &Arc<Session>,
    plan: &LogicalPlan,
    schema: &StructType,
    mode: SaveMode,
    options: &Options,
) -> Result<()> {
    let conf = session.conf();
    let request = JdbcWrite { mode, schema, options, conf: &conf };
    jdbc::check(&request)?;
    let state = session.state();
    let physical = execution::plan(state, plan).await?;
    jdbc::write(&request, physical, state.task_ctx()).await
}
