//! Sessions that run SQL text, and their rows as text.
#![allow(dead_code)]

use arrow::util::display::{ArrayFormatter, FormatOptions};
use firesteel_engine::{Engine, EngineOptions, RunContext, Session};
use firesteel_error::Result;
use firesteel_plan::{CatalogRequest, Command, Expr, Relation, RelationKind};
use futures::StreamExt;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

pub struct Harness {
    pub session: Arc<Session>,
    _folder: tempfile::TempDir,
}

fn context() -> RunContext {
    RunContext { operation_id: "operation".into(), tags: Vec::new(), cancel: CancellationToken::new() }
}

fn text(text: &str, named: &[(&str, Expr)]) -> Relation {
    Relation::new(RelationKind::Sql {
        text: text.to_string(),
        named_arguments: named.iter().map(|(name, value)| ((*name).to_string(), value.clone())).collect(),
        position_arguments: Vec::new(),
    })
}

impl Harness {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let warehouse = folder.path().join("warehouse").to_string_lossy().into_owned();
        let engine = Engine::new(EngineOptions {
            cores: Some(2),
            memory_limit: Some(1 << 28),
            cache_memory_limit: Some(1 << 24),
            spill_directory: Some(folder.path().join("spill")),
            configuration: vec![("spark.sql.warehouse.dir".to_string(), warehouse)],
        })
        .unwrap();
        Self { session: engine.create_session("user", "session").unwrap(), _folder: folder }
    }

    /// Runs statements that must succeed.
    pub async fn run(&self, statements: &[&str]) {
        for statement in statements {
            self.statement(statement, &[]).await.unwrap();
        }
    }

    pub async fn statement(&self, statement: &str, named: &[(&str, Expr)]) -> Result<()> {
        self.session.run_command(Command::Sql(text(statement, named)), context()).await.map(|_| ())
    }

    /// The rows of a query, values between bars.
    pub async fn rows(&self, query: &str) -> Result<Vec<String>> {
        self.rows_of(text(query, &[])).await
    }

    pub async fn rows_with(&self, query: &str, named: &[(&str, Expr)]) -> Result<Vec<String>> {
        self.rows_of(text(query, named)).await
    }

    pub async fn catalog(&self, request: CatalogRequest) -> Result<Vec<String>> {
        self.rows_of(Relation::new(RelationKind::Catalog(request))).await
    }

    pub async fn names(&self, query: &str) -> Vec<String> {
        let analysed = self.session.analyse(text(query, &[])).await.unwrap();
        analysed.resolved.output.iter().map(|a| a.name.clone()).collect()
    }

    async fn rows_of(&self, relation: Relation) -> Result<Vec<String>> {
        let mut execution = self.session.execute(relation, context()).await?;
        let options = FormatOptions::default().with_null("NULL");
        let mut rows = Vec::new();
        while let Some(batch) = execution.batches.next().await {
            let batch = batch?;
            let columns: Vec<_> =
                batch.columns().iter().map(|c| ArrayFormatter::try_new(c.as_ref(), &options).unwrap()).collect();
            for row in 0..batch.num_rows() {
                rows.push(columns.iter().map(|c| c.value(row).to_string()).collect::<Vec<_>>().join("|"));
            }
        }
        Ok(rows)
    }
}
