//! An iterative algorithm: the connected components of a graph, with a checkpoint for each round.
//!
//! Without checkpoints the plan would grow with each round. The server frees
//! each round's rows when the next one has replaced them.
//!
//!     SPARK_REMOTE=sc://localhost cargo run --release -p firesteel-client --example components

use firesteel_client::functions::{col, count, least, lit, min, pmod};
use firesteel_client::{DataFrame, JoinType, Result, SparkSession};

/// Edges that make three rings of nodes, in both directions.
fn edges(spark: &SparkSession) -> DataFrame {
    let next = |id: firesteel_client::Column| pmod(id + 3, 60);
    let forward = spark.range(0, 60).select((col("id").alias("from"), next(col("id")).alias("to")));
    forward.union(&forward.select((col("to").alias("from"), col("from").alias("to"))))
}

#[tokio::main]
async fn main() -> Result<()> {
    let spark = SparkSession::builder().connect().await?;
    let edges = edges(&spark).local_checkpoint(true, None).await?;
    let mut labels = spark.range(0, 60).select((col("id").alias("node"), col("id").alias("label")));
    for round in 1.. {
        let heard = edges
            .join(&labels, edges.col("from").eq(labels.col("node")), JoinType::Inner)
            .group_by("to")
            .agg(min("label").alias("heard"));
        let next = labels
            .join(&heard, labels.col("node").eq(heard.col("to")), JoinType::Inner)
            .select((col("node"), least((col("label"), col("heard"))).alias("label"), col("label").alias("before")))
            .local_checkpoint(true, None)
            .await?;
        let changed = next.filter(col("label").not_eq(col("before"))).count().await?;
        println!("round {round}: {changed} labels changed");
        labels = next.select(("node", "label"));
        if changed == 0 {
            break;
        }
    }
    labels.group_by("label").agg(count(lit(1)).alias("nodes")).order_by("label").show().await?;
    spark.stop().await
}
