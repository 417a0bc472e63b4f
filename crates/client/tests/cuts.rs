//! Broken connections: results arrive whole all the same.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use firesteel_client::functions::{col, lit};
use firesteel_client::{Error, SparkSession};
use support::proxy::Proxy;
use support::{server, stubborn};

const ROWS: i64 = 50 * 1000;

/// Reads a result of many batches, breaking the connection after each number of bytes in turn.
async fn read_broken(spark: &SparkSession, proxy: &Proxy, after: i64) -> Vec<i64> {
    let mut batches = spark.range(0, ROWS).select((col("id"), lit("some text to send").alias("t"))).stream().unwrap();
    proxy.break_after(after);
    let mut ids = Vec::new();
    while let Some(batch) = batches.next_batch().await.unwrap() {
        ids.extend(firesteel_client::records::<(i64, String)>(&batch).unwrap().into_iter().map(|(id, _)| id));
    }
    proxy.never_break();
    ids
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_are_exact_wherever_the_connection_breaks() {
    let proxy = Proxy::start(server().url()).await;
    let spark = stubborn(&proxy.url).await.unwrap();
    spark.conf().set("spark.sql.execution.arrow.maxRecordsPerBatch", 1000).await.unwrap();
    let whole: Vec<i64> = (0..ROWS).collect();
    let mut after = 0;
    // From the first byte of the answers to beyond their end, in steps of about a batch.
    while after < 1_500_000 {
        assert_eq!(read_broken(&spark, &proxy, after).await, whole, "broken after {after} bytes");
        after += 30_000;
    }
    assert!(proxy.breaks() >= 40, "{} breaks", proxy.breaks());
    spark.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_run_once_although_their_answer_is_lost() {
    let proxy = Proxy::start(server().url()).await;
    let spark = stubborn(&proxy.url).await.unwrap();
    let table = format!("cut_{}", std::process::id());
    spark.sql(format!("CREATE TABLE {table} (id BIGINT) USING parquet")).await.unwrap();
    for after in [0, 60, 120, 240] {
        proxy.break_after(after);
        spark.range(0, 3).write().insert_into(&table, None).await.unwrap();
        proxy.never_break();
    }
    assert_eq!(spark.table(&table).count().await.unwrap(), 12);
    spark.sql(format!("DROP TABLE {table}")).await.unwrap();
    spark.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operation_without_reattaching_fails_with_its_connection() {
    let proxy = Proxy::start(server().url()).await;
    let spark = SparkSession::builder()
        .remote(&proxy.url)
        .retry_policy(firesteel_client::RetryPolicy::never())
        .without_reattach()
        .without_progress_bar()
        .connect()
        .await
        .unwrap();
    assert_eq!(spark.range(0, 10).count().await.unwrap(), 10);
    proxy.break_after(0);
    let error = spark.range(0, ROWS).collect().await.unwrap_err();
    assert!(matches!(error, Error::Transport(_)), "{error:?}");
    // A later call connects again; one may still meet the connection as it closes.
    proxy.never_break();
    let mut counted = spark.range(0, 10).count().await;
    for _ in 0..10 {
        if counted.is_ok() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        counted = spark.range(0, 10).count().await;
    }
    assert_eq!(counted.unwrap(), 10);
}
