//! The first steps: rows, columns, groups, SQL.
//!
//!     SPARK_REMOTE=sc://localhost cargo run --release -p firesteel-client --example quickstart

use firesteel_client::functions::{avg, col, count, lit, max, when};
use firesteel_client::{Result, SparkSession};

#[tokio::main]
async fn main() -> Result<()> {
    let spark = SparkSession::builder().app_name("quickstart").connect().await?;
    println!("connected to Spark {}", spark.version().await?);

    let numbers = spark.range(0, 1000).with_column("size", when(col("id").lt(100), "small").otherwise("large"));
    let groups = numbers.group_by("size").agg((count(lit(1)).alias("n"), avg("id"), max("id"))).order_by("size");
    groups.print_schema().await?;
    groups.show().await?;

    numbers.create_or_replace_temp_view("numbers").await?;
    let query = "SELECT count(*) AS n FROM numbers WHERE id % :divisor = 0";
    spark.sql_named(query, [("divisor", 7)]).await?.show().await?;

    spark.stop().await
}
