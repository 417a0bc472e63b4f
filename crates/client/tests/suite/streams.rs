//! Streaming queries, where the server has them.

use crate::support::session;
use firesteel_client::functions::col;
use firesteel_client::{OutputMode, SparkSession, StreamingQuery, Trigger};
use std::path::Path;
use std::time::Duration;
use uuid::Uuid;

/// A running query over the JSON files of a folder into a table in memory; None where the server has no streams.
async fn start(spark: &SparkSession, folder: &Path, name: &str) -> Option<StreamingQuery> {
    std::fs::create_dir(folder.join("in")).unwrap();
    std::fs::write(folder.join("in/first.json"), "{\"id\": 1}\n{\"id\": 2}\n").unwrap();
    let path = |name: &str| folder.join(name).to_str().unwrap().to_string();
    let rows = spark.read_stream().schema("id BIGINT").json(&path("in")).filter(col("id").gt(1));
    let streaming = rows.is_streaming().await;
    let started = rows
        .write_stream()
        .format("memory")
        .query_name(name)
        .output_mode(OutputMode::Append)
        .option("checkpointLocation", path("checkpoint"))
        .trigger(Trigger::ProcessingTime("0 seconds".to_string()))
        .start()
        .await;
    match started {
        Ok(query) => {
            assert!(streaming.unwrap());
            Some(query)
        }
        Err(error) => {
            assert_eq!(error.condition(), Some("UNSUPPORTED_FEATURE.NOT_IN_THIS_SERVER"), "{error:?}");
            None
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_query_runs_tells_about_itself_and_stops() {
    let spark = session().await;
    let folder = tempfile::tempdir().unwrap();
    let name = format!("stream_{}", Uuid::new_v4().simple());
    let Some(query) = start(&spark, folder.path(), &name).await else {
        return;
    };
    assert_eq!(query.name(), Some(name.as_str()));
    assert!(query.is_active().await.unwrap());
    query.process_all_available().await.unwrap();
    assert_eq!(spark.table(&name).count().await.unwrap(), 1);
    std::fs::write(folder.path().join("in/second.json"), "{\"id\": 3}\n").unwrap();
    query.process_all_available().await.unwrap();
    assert_eq!(spark.table(&name).count().await.unwrap(), 2);
    let progress = query.last_progress().await.unwrap().unwrap();
    assert_eq!(progress["id"].as_str(), Some(query.id()));
    assert!(!query.recent_progress().await.unwrap().is_empty());
    assert!(!query.status().await.unwrap().message.is_empty());
    assert!(!query.explain_string(true).await.unwrap().is_empty());
    let known: Vec<String> =
        spark.streams().active().await.unwrap().iter().map(|query| query.id().to_string()).collect();
    assert!(known.contains(&query.id().to_string()));
    assert_eq!(spark.streams().get(query.id()).await.unwrap().unwrap().run_id(), query.run_id());
    assert!(!query.await_termination(Some(Duration::from_millis(10))).await.unwrap());
    query.stop().await.unwrap();
    assert!(query.await_termination(None).await.unwrap());
    assert!(!query.is_active().await.unwrap());
    assert_eq!(query.exception().await.unwrap(), None);
    assert!(spark.streams().await_any_termination(Some(Duration::from_secs(30))).await.unwrap());
    spark.streams().reset_terminated().await.unwrap();
    spark.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn listeners_hear_of_queries() {
    let spark = session().await;
    let folder = tempfile::tempdir().unwrap();
    let mut events = match spark.streams().listen().await {
        Ok(events) => events,
        Err(error) => {
            assert_eq!(error.condition(), Some("UNSUPPORTED_FEATURE.NOT_IN_THIS_SERVER"), "{error:?}");
            return;
        }
    };
    let name = format!("stream_{}", Uuid::new_v4().simple());
    let query = start(&spark, folder.path(), &name).await.unwrap();
    query.process_all_available().await.unwrap();
    let mut kinds = Vec::new();
    while !kinds.contains(&"progress") {
        let event = events.next().await.unwrap().unwrap();
        assert!(event.json.contains(query.run_id()));
        kinds.push(event.kind);
    }
    query.stop().await.unwrap();
    while !kinds.contains(&"terminated") {
        kinds.push(events.next().await.unwrap().unwrap().kind);
    }
    drop(events);
    spark.streams().stop_listening().await.unwrap();
    spark.stop().await.unwrap();
}
