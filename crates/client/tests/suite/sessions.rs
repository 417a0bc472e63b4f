//! Sessions: settings, catalog, files, artifacts, copies, streams.

use crate::support::{connect, server, session};
use firesteel_client::functions::{col, lit};
use firesteel_client::{ArtifactKind, NewTable, SaveMode, SparkSession};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use uuid::Uuid;

/// A name that no other test has.
fn unique(name: &str) -> String {
    format!("{name}_{}", Uuid::new_v4().simple())
}

#[tokio::test]
async fn settings_are_set_and_read() {
    let spark = session().await;
    let conf = spark.conf();
    conf.set("spark.sql.shuffle.partitions", 7).await.unwrap();
    assert_eq!(conf.get("spark.sql.shuffle.partitions").await.unwrap(), "7");
    assert_eq!(conf.get_or("no.such.key", "x").await.unwrap(), "x");
    assert_eq!(conf.get_option("no.such.key").await.unwrap(), None);
    assert!(conf.is_modifiable("spark.sql.shuffle.partitions").await.unwrap());
    assert!(!conf.is_modifiable("no.such.key").await.unwrap());
    let all = conf.get_all(Some("spark.sql.shuffle.")).await.unwrap();
    assert_eq!(all.get("partitions").map(String::as_str), Some("7"));
    conf.unset("spark.sql.shuffle.partitions").await.unwrap();
    assert_ne!(conf.get("spark.sql.shuffle.partitions").await.unwrap(), "7");
    spark.stop().await.unwrap();
    let spark = SparkSession::builder()
        .remote(server().url())
        .config("spark.sql.session.timeZone", "Asia/Tokyo")
        .app_name("test")
        .config("spark.sql.warehouse.dir", "/nowhere")
        .without_progress_bar()
        .connect()
        .await
        .unwrap();
    assert!(
        spark.warnings().iter().any(|warning| warning.contains("spark.sql.warehouse.dir")),
        "{:?}",
        spark.warnings()
    );
    assert_eq!(spark.conf().get("spark.sql.session.timeZone").await.unwrap(), "Asia/Tokyo");
    spark.stop().await.unwrap();
}

#[tokio::test]
async fn the_catalog_lists_what_there_is() {
    let spark = session().await;
    let catalog = spark.catalog();
    let (database, table, view) = (unique("d"), unique("t"), unique("v"));
    assert_eq!(catalog.current_catalog().await.unwrap(), "spark_catalog");
    assert!(!catalog.list_catalogs(None).await.unwrap().is_empty());
    spark.sql(format!("CREATE DATABASE {database}")).await.unwrap();
    assert!(catalog.database_exists(&database).await.unwrap());
    assert_eq!(catalog.get_database(&database).await.unwrap().name, database);
    assert_eq!(catalog.list_databases(Some(&database)).await.unwrap().len(), 1);
    catalog.set_current_database(&database).await.unwrap();
    assert_eq!(catalog.current_database().await.unwrap(), database);
    let new = NewTable::new(&table).source("parquet").schema("id BIGINT, p STRING").unwrap();
    assert!(catalog.create_table(new).await.unwrap().is_empty().await.unwrap());
    assert!(catalog.table_exists(&table).await.unwrap());
    assert_eq!(catalog.get_table(&table).await.unwrap().table_type, "MANAGED");
    let columns = catalog.list_columns(&table).await.unwrap();
    assert_eq!((columns.len(), columns[0].data_type.as_str()), (2, "bigint"));
    spark.range(0, 3).create_temp_view(&view).await.unwrap();
    assert!(spark.range(0, 3).create_temp_view(&view).await.is_err());
    spark.range(0, 4).create_or_replace_temp_view(&view).await.unwrap();
    assert_eq!(spark.table(&view).count().await.unwrap(), 4);
    let names: Vec<String> =
        catalog.list_tables(None, None).await.unwrap().into_iter().map(|table| table.name).collect();
    assert!(names.contains(&table) && names.contains(&view), "{names:?}");
    assert!(catalog.drop_temp_view(&view).await.unwrap());
    assert!(!catalog.drop_temp_view(&view).await.unwrap());
    catalog.cache_table(&table, None).await.unwrap();
    assert!(catalog.is_cached(&table).await.unwrap());
    catalog.uncache_table(&table).await.unwrap();
    catalog.refresh_table(&table).await.unwrap();
    assert!(catalog.function_exists("upper").await.unwrap());
    assert_eq!(catalog.get_function("upper").await.unwrap().name, "upper");
    assert!(!catalog.list_functions(None, Some("upper")).await.unwrap().is_empty());
    catalog.set_current_database("default").await.unwrap();
    spark.sql(format!("DROP DATABASE {database} CASCADE")).await.unwrap();
    spark.stop().await.unwrap();
}

#[tokio::test]
async fn files_are_written_and_read() {
    let spark = session().await;
    let folder = tempfile::tempdir().unwrap();
    // Both the server and this test see the folder.
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let frame = spark.range(0, 10).select((col("id"), (col("id") % 2).alias("rest"), lit("x").alias("t")));
    frame.write().parquet(path("parquet")).await.unwrap();
    assert_eq!(spark.read().parquet(path("parquet")).count().await.unwrap(), 10);
    let error = frame.write().parquet(path("parquet")).await.unwrap_err();
    assert_eq!(error.condition(), Some("PATH_ALREADY_EXISTS"));
    frame.write().mode(SaveMode::Append).parquet(path("parquet")).await.unwrap();
    assert_eq!(spark.read().parquet([path("parquet")]).count().await.unwrap(), 20);
    frame.write().mode(SaveMode::Ignore).parquet(path("parquet")).await.unwrap();
    frame.write().partition_by(["rest"]).json(path("json")).await.unwrap();
    let read = spark.read().schema("id BIGINT, t STRING, rest BIGINT").json(path("json")).filter("rest = 1");
    assert_eq!(read.count().await.unwrap(), 5);
    frame.write().option("header", true).csv(path("csv")).await.unwrap();
    let read = spark.read().option("header", true).schema("id INT, rest INT, t STRING").csv(path("csv"));
    assert_eq!(read.agg(firesteel_client::functions::sum("id")).first::<(i64,)>().await.unwrap(), Some((45,)));
    frame.select("t").write().text(path("text")).await.unwrap();
    assert_eq!(spark.read().text(path("text")).count().await.unwrap(), 10);
    spark.stop().await.unwrap();
}

#[tokio::test]
async fn texts_of_a_frame_are_parsed() {
    let spark = session().await;
    let texts = spark.range(0, 2).select(lit(r#"{"a": 1}"#).alias("value"));
    let parsed = spark.read().schema("a INT").json_frame(&texts).unwrap();
    match parsed.collect_as::<(i32,)>().await {
        Ok(rows) => assert_eq!(rows, [(1,), (1,)]),
        // Not every server has it.
        Err(error) => assert_eq!(error.condition(), Some("UNSUPPORTED_FEATURE.NOT_IN_THIS_SERVER"), "{error:?}"),
    }
    spark.stop().await.unwrap();
}

#[tokio::test]
async fn tables_are_written() {
    let spark = session().await;
    let table = unique("written");
    spark.range(0, 3).write().format("parquet").save_as_table(&table).await.unwrap();
    spark.range(3, 5).write().insert_into(&table, None).await.unwrap();
    assert_eq!(spark.table(&table).count().await.unwrap(), 5);
    spark.range(0, 1).write().insert_into(&table, Some(true)).await.unwrap();
    assert_eq!(spark.read().table(&table).count().await.unwrap(), 1);
    match spark.range(7, 9).write_to(&table).append().await {
        Ok(()) => assert_eq!(spark.table(&table).count().await.unwrap(), 3),
        // Spark's own session catalog has no tables for this.
        Err(error) => assert_eq!(error.condition(), Some("_LEGACY_ERROR_TEMP_1012"), "{error:?}"),
    }
    spark.sql(format!("DROP TABLE {table}")).await.unwrap();
    spark.stop().await.unwrap();
}

#[tokio::test]
async fn artifacts_are_uploaded() {
    let spark = session().await;
    let folder = tempfile::tempdir().unwrap();
    let (small, large) = (folder.path().join("small.txt"), folder.path().join("large.bin"));
    std::fs::write(&small, "few").unwrap();
    std::fs::write(&large, vec![7; 100_000]).unwrap();
    let paths = [small.to_str().unwrap(), large.to_str().unwrap()];
    spark.add_artifacts(paths, ArtifactKind::File).await.unwrap();
    // The same bytes again are fine, others are not.
    spark.add_artifacts(paths, ArtifactKind::File).await.unwrap();
    std::fs::write(&small, "others").unwrap();
    let error = spark.add_artifacts(paths, ArtifactKind::File).await.unwrap_err();
    assert_eq!(error.condition(), Some("ARTIFACT_ALREADY_EXISTS"));
    spark.stop().await.unwrap();
}

#[tokio::test]
async fn sessions_are_apart_and_copied() {
    let spark = session().await;
    spark.range(0, 3).create_temp_view("mine").await.unwrap();
    let copy = spark.clone_session().await.unwrap();
    assert_ne!(copy.session_id(), spark.session_id());
    assert_eq!(copy.table("mine").count().await.unwrap(), 3);
    let other = spark.new_session().unwrap();
    assert!(other.table("mine").schema().await.is_err());
    let joined = SparkSession::builder()
        .remote(server().url())
        .session_id(Uuid::parse_str(spark.session_id()).unwrap())
        .without_progress_bar()
        .connect()
        .await
        .unwrap();
    assert_eq!(joined.table("mine").count().await.unwrap(), 3);
    for session in [copy, other, spark] {
        session.stop().await.unwrap();
    }
}

#[tokio::test]
async fn progress_is_told() {
    let spark = connect(server().url()).await;
    let (told, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (t, e) = (Arc::clone(&told), Arc::clone(&ended));
    let handler = spark.register_progress_handler(move |progress| {
        (if progress.done { &e } else { &t }).fetch_add(1, Ordering::SeqCst);
    });
    spark.range(0, 1_000_000).agg(firesteel_client::functions::sum("id")).collect().await.unwrap();
    assert_eq!(ended.load(Ordering::SeqCst), 1);
    spark.remove_progress_handler(handler);
    spark.range(0, 10).collect().await.unwrap();
    assert_eq!(ended.load(Ordering::SeqCst), 1);
    spark.stop().await.unwrap();
}

#[test]
fn calls_can_wait() {
    use firesteel_client::blocking::{self, Wait};
    let spark = SparkSession::builder().remote(server().url()).without_progress_bar().connect_blocking().unwrap();
    assert_eq!(spark.range(0, 5).count().wait().unwrap(), 5);
    let rows: usize =
        blocking::batches(spark.range(0, 50_000).stream().unwrap()).map(|batch| batch.unwrap().num_rows()).sum();
    assert_eq!(rows, 50_000);
    let other = spark.new_session().unwrap();
    assert_eq!(other.range(0, 2).count().wait().unwrap(), 2);
    // Waiting on a thread of a runtime is refused.
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let refused = runtime.block_on(async { spark.range(0, 5).count().wait() });
    assert!(matches!(refused, Err(firesteel_client::Error::WouldBlock)));
    spark.stop().wait().unwrap();
}

#[tokio::test]
async fn rows_are_merged_into_a_table() {
    let spark = session().await;
    let table = unique("merged");
    spark.range(0, 3).with_column("n", lit(0)).write().format("parquet").save_as_table(&table).await.unwrap();
    let updates = spark.range(2, 5).with_column("n", lit(7)).alias("updates");
    let merged = updates
        .merge_into(&table, firesteel_client::functions::expr(format!("{table}.id = updates.id")))
        .when_matched()
        .update([("n", col("updates.n"))])
        .when_not_matched()
        .insert_all()
        .when_not_matched_by_source_if(col(format!("{table}.id")).eq(0))
        .delete()
        .merge()
        .await;
    match merged {
        Ok(()) => {
            let rows: Vec<(i64, i32)> = spark.table(&table).order_by("id").collect_as().await.unwrap();
            assert_eq!(rows, [(1, 0), (2, 7), (3, 7), (4, 7)]);
        }
        // Spark's own session catalog has no tables for this.
        Err(error) => assert_eq!(error.condition(), Some("UNSUPPORTED_FEATURE.TABLE_OPERATION"), "{error:?}"),
    }
    spark.sql(format!("DROP TABLE {table}")).await.unwrap();
    spark.stop().await.unwrap();
}

#[tokio::test]
async fn calls_of_other_makers_go_along() {
    use firesteel_client::InlineFunction;
    let spark = session().await;
    // Bytes that no Python can read: the server refuses them, by its own error.
    let function = InlineFunction { function_name: "f".to_string(), deterministic: true, ..Default::default() };
    let frame = spark.range(0, 1).select(firesteel_client::functions::call_inline(function, col("id")));
    assert!(frame.collect().await.unwrap_err().spark().is_some());
    spark.stop().await.unwrap();
}
