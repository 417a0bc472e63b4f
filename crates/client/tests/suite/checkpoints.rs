//! Checkpoints are released when nothing uses them any more.

use crate::support::session;
use firesteel_client::functions::{col, rand};
use firesteel_client::{DataFrame, SparkSession, proto};
use proto::relation::RelType;

fn relation_id(frame: &DataFrame) -> String {
    match frame.to_proto().rel_type {
        Some(RelType::CachedRemoteRelation(relation)) => relation.relation_id,
        other => panic!("{other:?}"),
    }
}

/// Whether the server still knows a relation.
async fn is_held(spark: &SparkSession, relation_id: &str) -> bool {
    let relation = proto::CachedRemoteRelation { relation_id: relation_id.to_string() };
    match spark.relation(RelType::CachedRemoteRelation(relation)).count().await {
        Ok(_) => true,
        Err(error) => {
            assert_eq!(error.condition(), Some("CONNECT_INVALID_PLAN.DATAFRAME_NOT_FOUND"), "{error:?}");
            false
        }
    }
}

#[tokio::test]
async fn rows_are_fixed_and_freed_with_the_last_frame() {
    let spark = session().await;
    let frame = spark.range(0, 100).with_column("r", rand()).local_checkpoint(true, None).await.unwrap();
    let id = relation_id(&frame);
    assert_eq!(frame.collect().await.unwrap(), frame.collect().await.unwrap());
    let derived = frame.filter(col("id").lt(5));
    let copy = frame.clone();
    drop(frame);
    drop(copy);
    spark.flush().await;
    assert_eq!(derived.count().await.unwrap(), 5);
    assert!(is_held(&spark, &id).await);
    drop(derived);
    spark.flush().await;
    assert!(!is_held(&spark, &id).await);
    spark.stop().await.unwrap();
}

#[tokio::test]
async fn subqueries_keep_a_checkpoint_alive() {
    let spark = session().await;
    let frame = spark.range(0, 3).local_checkpoint(true, None).await.unwrap();
    let within = spark.range(0, 10).filter(col("id").isin_frame(&frame));
    drop(frame);
    spark.flush().await;
    assert_eq!(within.count().await.unwrap(), 3);
    spark.stop().await.unwrap();
}

#[tokio::test]
async fn a_stream_keeps_its_checkpoint_alive() {
    let spark = session().await;
    let frame = spark.range(0, 3).local_checkpoint(true, None).await.unwrap();
    let id = relation_id(&frame);
    // The plan is only sent when the stream is read.
    let mut batches = frame.filter(col("id").lt(2)).stream().unwrap();
    drop(frame);
    spark.flush().await;
    let mut rows = 0;
    while let Some(batch) = batches.next_batch().await.unwrap() {
        rows += batch.num_rows();
    }
    assert_eq!(rows, 2);
    drop(batches);
    spark.flush().await;
    assert!(!is_held(&spark, &id).await);
    spark.stop().await.unwrap();
}

#[tokio::test]
async fn checkpoints_are_kept_at_a_storage_level_and_in_files() {
    let spark = session().await;
    let level = firesteel_client::StorageLevel::DISK_ONLY;
    let frame = spark.range(0, 100).local_checkpoint(true, Some(level)).await.unwrap();
    assert_eq!(frame.count().await.unwrap(), 100);
    match spark.range(0, 100).checkpoint(true).await {
        Ok(frame) => assert_eq!(frame.count().await.unwrap(), 100),
        // A server may have no folder for them.
        Err(error) => assert!(error.to_string().to_lowercase().contains("checkpoint"), "{error:?}"),
    }
    spark.stop().await.unwrap();
}

#[tokio::test]
async fn lazy_checkpoints_are_computed_once() {
    let spark = session().await;
    let frame = spark.range(0, 10).with_column("r", rand()).local_checkpoint(false, None).await.unwrap();
    assert_eq!(frame.collect().await.unwrap(), frame.collect().await.unwrap());
    spark.stop().await.unwrap();
}

#[tokio::test]
async fn many_checkpoints_leave_nothing() {
    let spark = session().await;
    let rounds = std::env::var("FIRESTEEL_TEST_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    let rounds = rounds.unwrap_or(if crate::support::server().is_own() { 10_000 } else { 200 });
    let mut ids = Vec::new();
    for round in 0..rounds {
        let frame = spark.range(0, 3).local_checkpoint(false, None).await.unwrap();
        if round % (rounds / 20).max(1) == 0 {
            ids.push(relation_id(&frame));
        }
    }
    spark.flush().await;
    for id in ids {
        assert!(!is_held(&spark, &id).await);
    }
    spark.stop().await.unwrap();
}

#[test]
fn dropping_after_the_runtime_is_gone_does_no_harm() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let frame = runtime.block_on(async { session().await.range(0, 3).local_checkpoint(true, None).await.unwrap() });
    drop(runtime);
    drop(frame);
}

#[test]
fn dropping_while_the_runtime_ends_does_no_harm() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let frame = runtime.block_on(async { session().await.range(0, 3).local_checkpoint(true, None).await.unwrap() });
    runtime.spawn(async move {
        let _frame = frame;
        std::future::pending::<()>().await;
    });
    runtime.shutdown_background();
}
