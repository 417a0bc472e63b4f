//! A result larger than memory, batch by batch; the server waits for the reader.
//!
//!     SPARK_REMOTE=sc://localhost cargo run --release -p firesteel-client --example streaming_rows

use firesteel_client::arrow::array::AsArray;
use firesteel_client::arrow::compute;
use firesteel_client::arrow::datatypes::Int64Type;
use firesteel_client::functions::{col, hash};
use firesteel_client::{Result, SparkSession};
use futures::TryStreamExt;

const ENOUGH: usize = 2_000_000;

#[tokio::main]
async fn main() -> Result<()> {
    let spark = SparkSession::builder().connect().await?;
    spark.register_progress_handler(|progress| {
        let (done, all) = progress.tasks();
        eprintln!("{done} of {all} tasks");
    });

    let mut batches = spark.range(0, 10_000_000).select((col("id"), hash("id").alias("h"))).stream()?;
    let (mut rows, mut sum) = (0, 0);
    while let Some(batch) = batches.try_next().await? {
        rows += batch.num_rows();
        sum += compute::sum(batch.column(0).as_primitive::<Int64Type>()).unwrap_or_default();
        if rows >= ENOUGH {
            break;
        }
    }
    println!("{rows} rows with a sum of {sum}");
    // What is left is not computed: dropping the stream cancels the operation.
    drop(batches);
    spark.stop().await
}
