//! Queries and kept relations within bounds of memory.

use crate::{CommandOutput, Engine, EngineOptions, RunContext, Session};
use arrow::record_batch::RecordBatch;
use firesteel_error::Result;
use firesteel_plan::{Checkpoint, Command, Relation, RelationKind};
use futures::StreamExt;
use std::path::Path;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

fn session(folder: &Path, memory: usize, cache_memory: usize) -> Arc<Session> {
    let options = EngineOptions {
        cores: Some(2),
        memory_limit: Some(memory),
        cache_memory_limit: Some(cache_memory),
        spill_directory: Some(folder.to_path_buf()),
        configuration: Vec::new(),
    };
    Engine::new(options).unwrap().create_session("user", "session").unwrap()
}

fn context() -> RunContext {
    RunContext { operation_id: "operation".into(), tags: Vec::new(), cancel: CancellationToken::new() }
}

fn sql(text: &str) -> Relation {
    Relation::new(RelationKind::Sql {
        text: text.to_string(),
        named_arguments: Vec::new(),
        position_arguments: Vec::new(),
    })
}

/// Runs a query: its rows' number, and whether an operator spilled.
async fn run(session: &Arc<Session>, text: &str) -> Result<(usize, bool)> {
    let mut execution = session.execute(sql(text), context()).await?;
    let mut rows = 0;
    while let Some(batch) = execution.batches.next().await {
        let batch: RecordBatch = batch?;
        rows += batch.num_rows();
    }
    let metrics = execution.status.metrics();
    let spilled = metrics.iter().flat_map(|o| &o.metrics).any(|m| m.name == "spill size" && m.value > 0);
    Ok((rows, spilled))
}

#[tokio::test(flavor = "multi_thread")]
async fn sorts_and_aggregates_larger_than_memory_spill() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path(), 24 << 20, 1 << 20);
    let sort = "select id, concat('a longer text ', id) s from range(0, 600000, 1, 4) order by s desc";
    assert_eq!(run(&session, sort).await.unwrap(), (600_000, true));
    let groups = "select concat('a longer text ', id) s, count(*), sum(id) from range(0, 600000, 1, 4) group by s";
    assert_eq!(run(&session, groups).await.unwrap(), (600_000, true));
    let distinct = "select distinct id from range(0, 2000000, 1, 4)";
    assert_eq!(run(&session, distinct).await.unwrap().0, 2_000_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn joins_larger_than_memory_run_or_fail_alone() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path(), 24 << 20, 1 << 20);
    let side = "select id k, concat('a longer text of the row ', id) s from range(0, 600000, 1, 4)";
    let join = format!("select a.k, a.s, b.s from ({side}) a join ({side}) b on a.k = b.k");
    match run(&session, &join).await {
        Ok((rows, _)) => assert_eq!(rows, 600_000),
        Err(error) => assert!(error.is("UNABLE_TO_ACQUIRE_MEMORY"), "{error}"),
    }
    assert_eq!(run(&session, "select 1").await.unwrap(), (1, false));
}

#[tokio::test(flavor = "multi_thread")]
async fn kept_rows_stay_within_their_budget() {
    let folder = tempfile::tempdir().unwrap();
    let budget = 4 << 20;
    let session = session(folder.path(), 1 << 28, budget);
    let store = session.engine().kept().clone();
    let watch = {
        let store = store.clone();
        tokio::spawn(async move {
            let mut most = 0;
            loop {
                most = most.max(store.memory_used());
                if most > budget {
                    return most;
                }
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            }
        })
    };
    let mut ids = Vec::new();
    for partitions in [1, 4, 7] {
        let input = sql(&format!("select id, id * 2 as b from range(0, 1000000, 1, {partitions})"));
        let checkpoint = Checkpoint { input, is_local: true, is_eager: true, storage_level: None };
        match session.run_command(Command::Checkpoint(checkpoint), context()).await.unwrap() {
            CommandOutput::Checkpoint { relation_id } => ids.push(relation_id),
            _ => panic!("no checkpoint"),
        }
    }
    assert!(store.memory_used() <= budget);
    assert!(!watch.is_finished(), "the budget was exceeded");
    watch.abort();
    for relation_id in ids {
        let relation = Relation::new(RelationKind::CachedRemote { relation_id });
        let mut execution = session.execute(relation, context()).await.unwrap();
        let mut rows = 0;
        while let Some(batch) = execution.batches.next().await {
            rows += batch.unwrap().num_rows();
        }
        assert_eq!(rows, 1_000_000);
    }
}
