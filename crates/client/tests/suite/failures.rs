//! Failures: Spark's own, and those of servers and connections.

use crate::support::{server, session, stubborn};
use firesteel_client::doc_server::Server;
use firesteel_client::functions::col;
use firesteel_client::{Error, ErrorKind, OperationState, SparkSession};
use std::time::Duration;

#[tokio::test]
async fn analysis_errors_tell_condition_state_parameters_and_place() {
    let spark = session().await;
    let error = spark.sql("SELECT idd FROM range(3)").await.unwrap_err();
    let spark_error = error.spark().unwrap();
    assert_eq!(error.condition(), Some("UNRESOLVED_COLUMN.WITH_SUGGESTION"));
    assert_eq!((error.sql_state(), error.kind()), (Some("42703"), Some(ErrorKind::Analysis)));
    assert_eq!(spark_error.parameters.get("objectName").map(String::as_str), Some("`idd`"));
    let context = spark_error.contexts.first().unwrap();
    assert_eq!((context.fragment.as_str(), context.start_index), ("idd", 7));
    spark.stop().await.unwrap();
}

#[tokio::test]
async fn each_kind_of_failure_is_told() {
    let spark = session().await;
    let error = spark.sql("SELEC 1").await.unwrap_err();
    assert_eq!((error.kind(), error.condition()), (Some(ErrorKind::Parse), Some("PARSE_SYNTAX_ERROR")));
    let error = spark.range(0, 1).select((col("id") + 1) / col("id")).collect().await.unwrap_err();
    assert_eq!((error.kind(), error.condition()), (Some(ErrorKind::Arithmetic), Some("DIVIDE_BY_ZERO")));
    assert_eq!(error.sql_state(), Some("22012"));
    let error = spark.conf().get("no.such.key").await.unwrap_err();
    assert_eq!((error.kind(), error.condition()), (Some(ErrorKind::NoSuchElement), Some("SQL_CONF_NOT_FOUND")));
    let error = spark.table("no_such_table").schema().await.unwrap_err();
    assert_eq!((error.condition(), error.sql_state()), (Some("TABLE_OR_VIEW_NOT_FOUND"), Some("42P01")));
    spark.stop().await.unwrap();
}

#[tokio::test]
async fn a_stopped_session_says_so() {
    let spark = session().await;
    spark.stop().await.unwrap();
    spark.stop().await.unwrap();
    assert!(spark.is_stopped());
    assert!(matches!(spark.range(0, 1).count().await, Err(Error::SessionStopped)));
    assert!(matches!(spark.version().await, Err(Error::SessionStopped)));
}

#[tokio::test]
async fn a_server_that_is_not_there_is_an_error_at_once() {
    let error = SparkSession::connect("sc://127.0.0.1:1").await.unwrap_err();
    assert!(matches!(error, Error::Connect(_)), "{error:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restarted_server_is_noticed() {
    if !server().is_own() {
        return;
    }
    let mut first = Server::start(&[]).unwrap();
    let spark = stubborn(first.url()).await.unwrap();
    assert_eq!(spark.range(0, 3).count().await.unwrap(), 3);
    let port = first.url().rsplit(':').next().unwrap().to_string();
    first.kill();
    let _second = Server::start(&["--port", &port]).unwrap();
    let error = spark.range(0, 3).count().await.unwrap_err();
    assert!(matches!(error, Error::SessionChanged(_)), "{error:?}");
    assert!(spark.is_stopped());
}

#[tokio::test]
async fn a_deadline_ends_an_operation() {
    let limit = Duration::from_millis(300);
    let spark =
        SparkSession::builder().remote(server().url()).deadline(limit).without_progress_bar().connect().await.unwrap();
    let error = endless(&spark).collect().await.unwrap_err();
    assert!(matches!(error, Error::DeadlineExceeded(of) if of == limit), "{error:?}");
    spark.stop().await.unwrap();
}

/// A query that runs far longer than these tests; one that a shared server can bear if it goes on there.
fn endless(spark: &SparkSession) -> firesteel_client::DataFrame {
    let rows = spark.range(0, if server().is_own() { 10_000_000_000 } else { 200_000_000 });
    rows.agg(firesteel_client::functions::sum(col("id") % 7))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupted_operation_says_so() {
    let spark = session().await;
    spark.add_tag("slow").unwrap();
    assert!(spark.add_tag("a,b").is_err());
    assert_eq!(spark.tags().into_iter().collect::<Vec<_>>(), ["slow"]);
    let frame = endless(&spark);
    let running = tokio::spawn(async move { frame.collect().await });
    let mut interrupted = Vec::new();
    while interrupted.is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
        interrupted = spark.interrupt_tag("slow").await.unwrap();
    }
    let error = running.await.unwrap().unwrap_err();
    assert_eq!(error.condition(), Some("OPERATION_CANCELED"));
    spark.clear_tags();
    spark.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tag_of_a_frame_is_its_own() {
    let spark = session().await;
    let tagged = endless(&spark).with_tag("mine").unwrap();
    assert!(spark.with_tag("").is_err());
    assert!(spark.tags().is_empty());
    assert_eq!(tagged.session().tags().into_iter().collect::<Vec<_>>(), ["mine"]);
    let running = tokio::spawn(async move { tagged.collect().await });
    while spark.interrupt_tag("mine").await.unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let error = running.await.unwrap().unwrap_err();
    assert_eq!(error.condition(), Some("OPERATION_CANCELED"));
    spark.stop().await.unwrap();
}

#[tokio::test]
async fn a_deadline_may_be_for_some_frames_only() {
    let spark = session().await;
    let limit = Duration::from_millis(200);
    let error = endless(&spark).with_deadline(limit).collect().await.unwrap_err();
    assert!(matches!(error, Error::DeadlineExceeded(of) if of == limit), "{error:?}");
    assert_eq!(spark.range(0, 3).count().await.unwrap(), 3);
    spark.stop().await.unwrap();
}

/// The state of an operation after it has ended.
async fn end_of(spark: &SparkSession, operation_id: &str) -> OperationState {
    loop {
        let state = state_of(spark, operation_id).await;
        if state != OperationState::Running && state != OperationState::Terminating {
            return state;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn state_of(spark: &SparkSession, operation_id: &str) -> OperationState {
    spark.operation_statuses([operation_id]).await.unwrap()[0].state
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_stream_cancels_its_operation() {
    let spark = session().await;
    spark.version().await.unwrap();
    let mut batches = endless(&spark).stream().unwrap();
    let id = batches.operation_id().to_string();
    // Reading sends the plan; there will be no row for long.
    while state_of(&spark, &id).await != OperationState::Running {
        let read = tokio::time::timeout(Duration::from_millis(20), batches.next_batch()).await;
        assert!(read.is_err(), "{read:?}");
    }
    drop(batches);
    spark.flush().await;
    let state = end_of(&spark, &id).await;
    assert!(matches!(state, OperationState::Cancelled | OperationState::Unknown), "{state:?}");
    spark.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_stream_cancels_its_operation_after_its_first_rows() {
    // A server that computes all rows at once would drown in so many.
    if !server().is_own() {
        return;
    }
    let spark = session().await;
    let mut batches = spark.range(0, 10_000_000_000).stream().unwrap();
    assert!(batches.next_batch().await.unwrap().is_some());
    let id = batches.operation_id().to_string();
    drop(batches);
    spark.flush().await;
    let state = end_of(&spark, &id).await;
    assert!(matches!(state, OperationState::Cancelled | OperationState::Unknown), "{state:?}");
    spark.stop().await.unwrap();
}
