//! Files in, files out: CSV cleaned, joined and written as partitioned Parquet. Without async.
//!
//!     SPARK_REMOTE=sc://localhost cargo run --release -p firesteel-client --features blocking --example files

use firesteel_client::blocking::Wait;
use firesteel_client::functions::{col, sum, to_date, trim, year};
use firesteel_client::{Error, JoinType, MissingRule, Result, SaveMode, SparkSession};

const SALES: &str = "day,shop,amount\n2023-01-05,1,10.5\n2023-02-01, 2 ,3\n2024-03-01,1,\n2024-03-02,2,7.25\n";
const SHOPS: &str = "id,city\n1,Oslo\n2,Rome\n";

fn main() -> Result<()> {
    let folder = std::env::temp_dir().join(format!("firesteel-files-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let path = |name: &str| folder.join(name).display().to_string();
    std::fs::write(path("sales.csv"), SALES)?;
    std::fs::write(path("shops.csv"), SHOPS)?;

    let spark = SparkSession::builder().connect_blocking()?;
    let sales = spark
        .read()
        .option("header", true)
        .schema("day STRING, shop STRING, amount DOUBLE")
        .csv(path("sales.csv"))
        .drop_na(MissingRule::Any, ["amount"])
        .with_column("shop", trim("shop").cast("int"))
        .with_column("day", to_date("day"));
    let shops = spark.read().option("header", true).schema("id INT, city STRING").csv(path("shops.csv"));
    let yearly = sales
        .join(&shops, sales.col("shop").eq(shops.col("id")), JoinType::Inner)
        .group_by(("city", year("day").alias("year")))
        .agg(sum("amount").alias("amount"));
    yearly.write().mode(SaveMode::Overwrite).partition_by(["year"]).parquet(path("yearly")).wait()?;

    spark.read().parquet(path("yearly")).filter(col("year").ge(2023)).order_by(("year", "city")).show().wait()?;

    // A mistake tells what is wrong, and where.
    if let Err(Error::Spark(error)) = spark.sql("SELECT city, amunt FROM VALUES ('Oslo', 1) AS t(city, amount)").wait()
    {
        println!(
            "{} (SQLSTATE {})",
            error.condition.as_deref().unwrap_or_default(),
            error.sql_state.as_deref().unwrap_or_default()
        );
    }
    spark.stop().wait()?;
    std::fs::remove_dir_all(folder)?;
    Ok(())
}
