//! Rust's own types in and out, by serde.
//!
//!     SPARK_REMOTE=sc://localhost cargo run --release -p firesteel-client --example structs

use firesteel_client::functions::{col, collect_list, sum};
use firesteel_client::{Result, SparkSession};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
struct Order {
    customer: String,
    day: String,
    items: Vec<Item>,
    note: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Item {
    product: String,
    price: f64,
    pieces: i32,
}

#[derive(Debug, Deserialize)]
struct Total {
    customer: String,
    total: f64,
    products: Vec<String>,
}

fn orders() -> Vec<Order> {
    let item = |product: &str, price, pieces| Item { product: product.to_string(), price, pieces };
    let order = |customer: &str, day: &str, items| Order {
        customer: customer.to_string(),
        day: day.to_string(),
        items,
        note: None,
    };
    vec![
        order("ada", "2024-05-01", vec![item("pen", 1.5, 10), item("ink", 4.0, 1)]),
        order("bob", "2024-05-02", vec![item("paper", 3.25, 4)]),
        order("ada", "2024-05-03", vec![item("pen", 1.5, 2)]),
    ]
}

#[tokio::main]
async fn main() -> Result<()> {
    let spark = SparkSession::builder().connect().await?;
    let items = spark
        .create_dataframe_from(&orders())
        .await?
        .select((col("customer"), firesteel_client::functions::explode("items").alias("item")))
        .select(("customer", "item.*"));
    let totals = items
        .group_by("customer")
        .agg((sum(col("price") * col("pieces")).alias("total"), collect_list("product").alias("products")))
        .order_by(col("total").desc());
    for Total { customer, total, products } in totals.collect_as().await? {
        println!("{customer}: {total:.2} for {}", products.join(", "));
    }
    spark.stop().await
}
