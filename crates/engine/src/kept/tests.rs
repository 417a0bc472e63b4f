use super::*;
use crate::{AnalysisReply, AnalysisRequest, CommandOutput, Engine, EngineOptions, RunContext, Session};
use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::Int64Type;
use firesteel_plan::{Checkpoint, Command, Expr, Relation, RelationKind, StorageLevel};
use firesteel_types::Literal;
use std::path::Path;
use tokio_util::sync::CancellationToken;

const DISK_ONLY: StorageLevel =
    StorageLevel { use_disk: true, use_memory: false, use_off_heap: false, deserialized: false, replication: 1 };

fn session(folder: &Path, cache_memory: usize, configuration: &[(&str, &str)]) -> Arc<Session> {
    let engine = Engine::new(EngineOptions {
        cores: Some(2),
        memory_limit: Some(1 << 28),
        cache_memory_limit: Some(cache_memory),
        spill_directory: Some(folder.to_path_buf()),
        configuration: configuration.iter().map(|(k, v)| ((*k).to_string(), (*v).to_string())).collect(),
    })
    .unwrap();
    engine.create_session("user", "session").unwrap()
}

fn context() -> RunContext {
    RunContext { operation_id: "operation".into(), tags: Vec::new(), cancel: CancellationToken::new() }
}

fn range(end: i64, plan_id: i64) -> Relation {
    Relation::with_plan_id(RelationKind::Range { start: 0, end, step: 1, num_partitions: Some(4) }, Some(plan_id))
}

async fn rows(session: &Arc<Session>, relation: Relation) -> Result<Vec<RecordBatch>> {
    let mut execution = session.execute(relation, context()).await?;
    let mut batches = Vec::new();
    while let Some(batch) = execution.batches.next().await {
        batches.push(batch?);
    }
    Ok(batches)
}

async fn ids(session: &Arc<Session>, relation: Relation) -> Vec<i64> {
    let batches = rows(session, relation).await.unwrap();
    batches.iter().flat_map(|b| b.column(0).as_primitive::<Int64Type>().values().to_vec()).collect()
}

async fn checkpoint_of(session: &Arc<Session>, checkpoint: Checkpoint) -> Result<String> {
    match session.run_command(Command::Checkpoint(checkpoint), context()).await? {
        CommandOutput::Checkpoint { relation_id } => Ok(relation_id),
        _ => Err(SparkError::internal("no checkpoint")),
    }
}

fn local(input: Relation, is_eager: bool, storage_level: Option<StorageLevel>) -> Checkpoint {
    Checkpoint { input, is_local: true, is_eager, storage_level }
}

fn kept(relation_id: &str) -> Relation {
    Relation::with_plan_id(RelationKind::CachedRemote { relation_id: relation_id.into() }, Some(99))
}

fn spilled_files(folder: &Path) -> usize {
    let folders = std::fs::read_dir(folder).unwrap().flatten();
    folders
        .filter(|f| f.file_name().to_string_lossy().starts_with("kept-"))
        .flat_map(|f| std::fs::read_dir(f.path()).unwrap().flatten())
        .filter(|f| f.file_name().to_string_lossy().ends_with(".arrows"))
        .count()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_eager_checkpoint_holds_its_rows_until_it_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path(), 1 << 26, &[]);
    let id = checkpoint_of(&session, local(range(10_000, 1), true, None)).await.unwrap();
    assert!(session.engine().kept().memory_used() >= 80_000);
    assert_eq!(ids(&session, kept(&id)).await, (0..10_000).collect::<Vec<_>>());
    let remove = || Command::RemoveCachedRemoteRelation { relation_id: id.clone() };
    session.run_command(remove(), context()).await.unwrap();
    session.run_command(remove(), context()).await.unwrap();
    let error = rows(&session, kept(&id)).await.unwrap_err();
    assert!(error.is("CONNECT_INVALID_PLAN.DATAFRAME_NOT_FOUND"));
    assert_eq!(session.engine().kept().memory_used(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_beyond_the_budget_go_to_disk_and_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path(), 100_000, &[]);
    let id = checkpoint_of(&session, local(range(200_000, 1), true, None)).await.unwrap();
    assert!(session.engine().kept().memory_used() <= 100_000);
    assert!(spilled_files(folder.path()) > 0);
    assert_eq!(ids(&session, kept(&id)).await, (0..200_000).collect::<Vec<_>>());
    session.close();
    assert_eq!(spilled_files(folder.path()), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_level_of_disks_takes_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path(), 1 << 26, &[]);
    let id = checkpoint_of(&session, local(range(1_000, 1), true, Some(DISK_ONLY))).await.unwrap();
    assert_eq!(session.engine().kept().memory_used(), 0);
    assert_eq!(ids(&session, kept(&id)).await, (0..1_000).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_query_keeps_spilled_rows_alive() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path(), 0, &[]);
    let id = checkpoint_of(&session, local(range(300_000, 1), true, None)).await.unwrap();
    let mut execution = session.execute(kept(&id), context()).await.unwrap();
    session.close();
    let mut count = 0;
    while let Some(batch) = execution.batches.next().await {
        count += batch.unwrap().num_rows();
    }
    assert_eq!(count, 300_000);
    drop(execution);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lazy_checkpoint_runs_once_for_all_its_first_uses() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path(), 1 << 26, &[]);
    let id = checkpoint_of(&session, local(range(50_000, 1), false, None)).await.unwrap();
    let relation = session.engine().kept().get(&session.key(), &id).unwrap();
    assert!(relation.stored().is_none());
    let mut uses = JoinSet::new();
    for _ in 0..8 {
        let relation = relation.clone();
        uses.spawn(async move { relation.rows().await.unwrap() });
    }
    let all = uses.join_all().await;
    assert!(all.iter().all(|r| Arc::ptr_eq(r, &all[0])));
    assert_eq!(all[0].count(), 50_000);
    assert_eq!(all[0].partitions.len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replication_of_zero_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path(), 1 << 26, &[]);
    let level = StorageLevel { replication: 0, ..DISK_ONLY };
    assert!(checkpoint_of(&session, local(range(1, 1), true, Some(level))).await.is_err());
    assert!(checkpoint_of(&session, local(range(1, 1), true, Some(StorageLevel::NONE))).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reliable_checkpoint_needs_a_folder_and_leaves_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let reliable = |id| Checkpoint { input: range(100, id), is_local: false, is_eager: true, storage_level: None };
    let without = session(folder.path(), 1 << 26, &[]);
    let error = checkpoint_of(&without, reliable(1)).await.unwrap_err();
    assert!(error.is("_LEGACY_ERROR_TEMP_3016"));
    let target = tempfile::tempdir().unwrap();
    let session = session(folder.path(), 1 << 26, &[("spark.checkpoint.dir", &target.path().to_string_lossy())]);
    let id = checkpoint_of(&session, reliable(1)).await.unwrap();
    assert_eq!(ids(&session, kept(&id)).await, (0..100).collect::<Vec<_>>());
    session.close();
    let application = std::fs::read_dir(target.path()).unwrap().flatten().next().unwrap().path();
    assert!(application.join("rdd-0").join("part-00000").is_file());
    assert!(application.join("rdd-0").join("part-00003").is_file());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_persisted_frame_is_found_alone_and_below_others() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path(), 1 << 26, &[]);
    let frame = range(1_000, 7);
    let level = StorageLevel::MEMORY_AND_DISK_DESER;
    session.analyze(AnalysisRequest::Persist(frame.clone(), level)).await.unwrap();
    let shown = session.analyze(AnalysisRequest::GetStorageLevel(frame.clone())).await.unwrap();
    assert!(matches!(shown, AnalysisReply::StorageLevel(l) if l == level));
    assert_eq!(session.engine().kept().memory_used(), 0);
    let limited =
        Relation::new(RelationKind::Limit { input: frame.clone(), limit: Expr::literal(Literal::Integer(3)) });
    assert_eq!(ids(&session, limited).await, vec![0, 1, 2]);
    assert!(session.engine().kept().memory_used() >= 8_000);
    assert_eq!(ids(&session, frame.clone()).await, (0..1_000).collect::<Vec<_>>());
    session.analyze(AnalysisRequest::Unpersist { relation: frame.clone(), blocking: true }).await.unwrap();
    assert_eq!(session.engine().kept().memory_used(), 0);
    assert!(session.engine().kept().has_no_persisted());
    assert_eq!(ids(&session, frame).await.len(), 1_000);
}

#[test]
fn folders_of_dead_processes_are_swept_and_those_in_use_stay() {
    let base = tempfile::tempdir().unwrap();
    let orphan = base.path().join("kept-1-orphan");
    std::fs::create_dir(&orphan).unwrap();
    std::fs::write(orphan.join("lock"), b"").unwrap();
    std::fs::write(orphan.join("rows.arrows"), b"").unwrap();
    let used = base.path().join("kept-1-used");
    std::fs::create_dir(&used).unwrap();
    let lock = std::fs::File::create(used.join("lock")).unwrap();
    lock.lock().unwrap();
    let store = KeptStore::new(1, base.path()).unwrap();
    assert!(!orphan.exists());
    assert!(used.exists());
    drop(store);
}

#[tokio::test(flavor = "multi_thread")]
async fn columns_below_a_persisted_frame_can_still_be_used() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path(), 1 << 26, &[]);
    let renamed = Relation::with_plan_id(
        RelationKind::Project { input: range(5, 1), expressions: vec![Expr::literal(Literal::Long(7)).alias("seven")] },
        Some(2),
    );
    session.analyze(AnalysisRequest::Persist(renamed.clone(), StorageLevel::MEMORY_AND_DISK_DESER)).await.unwrap();
    let condition = Expr::call("isnotnull", vec![Expr::column("id")]);
    let filtered = Relation::new(RelationKind::Filter { input: renamed, condition });
    assert_eq!(ids(&session, filtered).await, vec![7; 5]);
}
