//! SQL in this process.

use crate::Failure;
use crate::query::{Backend, Display};
use arrow::array::{Array, StringArray};
use arrow::record_batch::RecordBatch;
use async_trait::async_trait;
use firesteel_engine::{CommandOutput, Engine, EngineOptions, RunContext, Session, SqlResult};
use firesteel_plan::{Command, LocalRelation, Relation, RelationKind};
use firesteel_server::result::whole_stream;
use futures::StreamExt;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// A session of an engine of our own.
pub struct Embedded {
    session: Arc<Session>,
}

impl Embedded {
    /// Starts an engine and a session.
    pub fn new(options: EngineOptions) -> Result<Self, Failure> {
        let engine = Engine::new(options)?;
        let user = std::env::var("USER").unwrap_or_default();
        Ok(Self { session: engine.create_session(&user, &Uuid::new_v4().to_string())? })
    }
}

fn context(cancel: &CancellationToken) -> RunContext {
    RunContext { operation_id: Uuid::new_v4().to_string(), tags: Vec::new(), cancel: cancel.clone() }
}

#[async_trait]
impl Backend for Embedded {
    async fn run(&self, text: String, display: Display) -> Result<String, Failure> {
        // Dropped with this future, as at Ctrl-C, it stops what runs.
        let cancel = CancellationToken::new();
        let _guard = cancel.clone().drop_guard();
        let sql =
            Relation::new(RelationKind::Sql { text, named_arguments: Vec::new(), position_arguments: Vec::new() });
        let input = match self.session.run_command(Command::Sql(sql.clone()), context(&cancel)).await? {
            CommandOutput::Sql(SqlResult::Rows { schema, .. }) if schema.fields().is_empty() => {
                return Ok(String::new());
            }
            CommandOutput::Sql(SqlResult::Rows { schema, batches }) => {
                let data = vec![whole_stream(&schema, &batches)?];
                Relation::new(RelationKind::Local(LocalRelation { schema: None, data }))
            }
            CommandOutput::Sql(SqlResult::Query) => sql,
            CommandOutput::None | CommandOutput::Checkpoint { .. } | CommandOutput::Streaming(_) => {
                return Ok(String::new());
            }
        };
        let show =
            RelationKind::ShowString { input, num_rows: display.rows, truncate: display.truncate, vertical: false };
        let mut execution = self.session.execute(Relation::new(show), context(&cancel)).await?;
        let mut shown = String::new();
        while let Some(batch) = execution.batches.next().await {
            shown.push_str(&table(&batch?));
        }
        Ok(shown)
    }

    async fn close(&self) {
        self.session.close();
    }
}

/// The text in the one column of a shown result.
pub fn table(batch: &RecordBatch) -> String {
    let Some(texts) = batch.columns().first().and_then(|column| column.as_any().downcast_ref::<StringArray>()) else {
        return String::new();
    };
    texts.iter().flatten().map(|text| format!("{}\n", text.trim_end_matches('\n'))).collect()
}
