//! What the client costs: rows per second of a large result, and small queries beside a bare gRPC loop.
//!
//!     SPARK_REMOTE=sc://127.0.0.1:15002 cargo bench -p firesteel-client

use firesteel_client::functions::{col, lit};
use firesteel_client::{DataFrame, Result, SparkSession, proto};
use proto::spark_connect_service_client::SparkConnectServiceClient;
use std::time::{Duration, Instant};
use uuid::Uuid;

const ROWS: i64 = 10_000_000;
const ROUNDS: usize = 9;
const QUERIES: u32 = 1000;
const TURNS: u32 = 5;

#[tokio::main]
async fn main() -> Result<()> {
    let url = std::env::var("SPARK_REMOTE").unwrap_or_else(|_| "sc://127.0.0.1:15002".to_string());
    let spark = SparkSession::builder().remote(&url).without_progress_bar().connect().await?;
    let frame = spark.range(0, ROWS).select((col("id"), (col("id") * 2).alias("d"), lit("text").alias("t")));
    let mut rates = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let rows: usize = frame.collect().await?.iter().map(|batch| batch.num_rows()).sum();
        rates.push(rows as f64 / start.elapsed().as_secs_f64() / 1e6);
    }
    rates.sort_by(f64::total_cmp);
    println!("collect of {ROWS} rows: {:.2} M rows/s in the middle of {rates:.1?}", rates[ROUNDS / 2]);
    let detached = SparkSession::builder().remote(&url).without_reattach().without_progress_bar().connect().await?;
    for round in 0..6 {
        // By turns, so that whatever else the machine does meets both.
        let of = if round % 2 == 0 { &spark } else { &detached };
        let tiny = of.range(0, 1);
        let (mut client, mut bare) = (Duration::ZERO, Duration::ZERO);
        for _ in 0..TURNS {
            client += queries(&tiny).await?;
            bare += bare_queries(&url, &tiny).await;
        }
        let ratio = client.as_secs_f64() / bare.as_secs_f64();
        let kind = if round % 2 == 0 { "reattachable" } else { "without reattaching" };
        println!("{QUERIES} queries, {kind}: client {client:.2?}, bare gRPC {bare:.2?}, ratio {ratio:.2}");
    }
    detached.stop().await?;
    spark.stop().await
}

async fn queries(frame: &DataFrame) -> Result<Duration> {
    let start = Instant::now();
    for _ in 0..QUERIES / TURNS {
        frame.collect().await?;
    }
    Ok(start.elapsed())
}

/// The same plan in the same kind of requests, with nothing read but the stream's end.
async fn bare_queries(url: &str, frame: &DataFrame) -> Duration {
    let target = url.replace("sc://", "http://");
    let Ok(mut stub) = SparkConnectServiceClient::connect(target).await else {
        return Duration::ZERO;
    };
    let session_id = Uuid::new_v4().to_string();
    let root = proto::plan::OpType::Root(frame.to_proto());
    let start = Instant::now();
    for _ in 0..QUERIES / TURNS {
        let request = proto::ExecutePlanRequest {
            session_id: session_id.clone(),
            user_context: Some(proto::UserContext::default()),
            plan: Some(proto::Plan { op_type: Some(root.clone()) }),
            ..Default::default()
        };
        if let Ok(response) = stub.execute_plan(request).await {
            let mut stream = response.into_inner();
            while let Ok(Some(_)) = stream.message().await {}
        }
    }
    start.elapsed()
}
