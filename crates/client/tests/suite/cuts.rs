//! Broken connections: results arrive whole all the same.

use crate::support::proxy::{Break, Proxy};
use crate::support::{server, stubborn};
use firesteel_client::functions::{col, lit};
use firesteel_client::{Error, SparkSession};

const ROWS: i64 = 50 * 1000;

/// Reads a result of many batches, while the proxy does what it was told.
async fn read(spark: &SparkSession) -> (Vec<i64>, usize) {
    let mut batches = spark.range(0, ROWS).select((col("id"), lit("some text to send").alias("t"))).stream().unwrap();
    let (mut ids, mut count) = (Vec::new(), 0);
    while let Some(batch) = batches.next_batch().await.unwrap() {
        ids.extend(firesteel_client::records::<(i64, String)>(&batch).unwrap().into_iter().map(|(id, _)| id));
        count += usize::from(batch.num_rows() > 0);
    }
    (ids, count)
}

/// A session behind a proxy, whose results come in many batches.
async fn behind(proxy: &Proxy) -> SparkSession {
    let spark = stubborn(&proxy.url).await.unwrap();
    spark.conf().set("spark.sql.execution.arrow.maxRecordsPerBatch", 1000).await.unwrap();
    spark
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_are_exact_at_whichever_response_the_connection_breaks() {
    let proxy = Proxy::start(server().url()).await;
    let spark = behind(&proxy).await;
    let whole: Vec<i64> = (0..ROWS).collect();
    for at in [Break::Before, Break::After] {
        let mut response = 0;
        loop {
            let before = proxy.breaks();
            proxy.break_at(at(response));
            let (ids, batches) = read(&spark).await;
            assert_eq!(ids, whole, "broken at {:?}", at(response));
            assert!(batches >= 50, "{batches} batches");
            // The result has no such response: each one was tried.
            if proxy.breaks() == before {
                break;
            }
            response += 1;
        }
        assert!(response >= 50, "{response} responses");
    }
    spark.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_are_exact_when_the_connection_breaks_after_every_response() {
    let proxy = Proxy::start(server().url()).await;
    let spark = behind(&proxy).await;
    proxy.break_at(Break::AfterEach);
    let (ids, _) = read(&spark).await;
    assert_eq!(ids, (0..ROWS).collect::<Vec<_>>());
    assert!(proxy.breaks() >= 50, "{} breaks", proxy.breaks());
    proxy.never_break();
    spark.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_are_exact_at_whichever_byte_the_connection_breaks() {
    let proxy = Proxy::start(server().url()).await;
    let spark = behind(&proxy).await;
    let whole: Vec<i64> = (0..ROWS).collect();
    let mut after = 0;
    // From the first byte of the answers to beyond their end, in steps of about a batch.
    while after < 1_500_000 {
        proxy.break_after(after);
        assert_eq!(read(&spark).await.0, whole, "broken after {after} bytes");
        proxy.never_break();
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
