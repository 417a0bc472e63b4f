//! Parameters, settings in text, caching and pipes: the rows and conditions are Spark's.

use crate::harness::Harness;
use firesteel_plan::{CatalogRequest, Expr};
use firesteel_types::Literal;

#[tokio::test(flavor = "multi_thread")]
async fn parameters_reach_every_statement() {
    let harness = Harness::new();
    let five = [("a", Expr::literal(Literal::Integer(5)))];
    harness.statement("create temp view v as select :a as x", &five).await.unwrap();
    assert_eq!(harness.rows("select * from v").await.unwrap(), ["5"]);
    let name = [("t", Expr::literal(Literal::String("v".into())))];
    assert_eq!(harness.rows_with("select * from identifier(:t)", &name).await.unwrap(), ["5"]);
    assert_eq!(harness.rows_with("select 'a' :t", &name).await.unwrap(), ["av"]);
    harness.run(&["execute immediate 'create temp view w as select ? as z' using 6"]).await;
    assert_eq!(harness.rows("select * from w").await.unwrap(), ["6"]);
    let error = harness.rows("select :b").await.unwrap_err();
    assert!(error.is("UNBOUND_SQL_PARAMETER"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_stand_in_text() {
    let harness = Harness::new();
    harness.run(&["set a.b = 7"]).await;
    assert_eq!(harness.rows("select ${a.b}, '${spark:a.b}', '${x:y}', '${none}'").await.unwrap(), ["7|7|${x:y}|"]);
    harness.run(&["set spark.sql.variable.substitute = false"]).await;
    assert_eq!(harness.rows("select '${a.b}'").await.unwrap(), ["${a.b}"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_text_is_no_statement() {
    let error = Harness::new().statement("  ", &[]).await.unwrap_err();
    assert!(error.is("PARSE_EMPTY_STATEMENT"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn cached_tables_give_rows_that_are_inserted_later() {
    let harness = Harness::new();
    harness.run(&["create table t (a int) using parquet", "insert into t values (1)", "cache table t"]).await;
    let is_cached = || harness.catalog(CatalogRequest::IsCached { table: "t".into() });
    assert_eq!(is_cached().await.unwrap(), ["true"]);
    assert_eq!(harness.rows("select * from t").await.unwrap(), ["1"]);
    harness.run(&["insert into t values (2)"]).await;
    assert_eq!(harness.rows("select count(*) from t").await.unwrap(), ["2"]);
    assert_eq!(is_cached().await.unwrap(), ["true"]);
    harness.run(&["truncate table t"]).await;
    assert_eq!(harness.rows("select count(*) from t").await.unwrap(), ["0"]);
    harness.run(&["uncache table t", "uncache table t", "uncache table if exists none"]).await;
    assert_eq!(is_cached().await.unwrap(), ["false"]);
    harness.run(&["cache lazy table v as select 1 as a", "clear cache"]).await;
    let error = harness.statement("cache table none", &[]).await.unwrap_err();
    assert!(error.is("TABLE_OR_VIEW_NOT_FOUND"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pipe_operators_take_no_aggregates_and_set_no_new_columns() {
    let harness = Harness::new();
    for (query, condition) in [
        ("values (1) t(a) |> set b = 1", "UNRESOLVED_COLUMN"),
        ("values (1) t(a) |> extend sum(a) as z", "PIPE_OPERATOR_CONTAINS_AGGREGATE_FUNCTION"),
        ("values (1) t(a) |> set a = sum(a)", "PIPE_OPERATOR_CONTAINS_AGGREGATE_FUNCTION"),
    ] {
        let error = harness.rows(query).await.unwrap_err();
        assert!(error.is(condition), "{query}: {error}");
    }
    assert_eq!(harness.rows("values (1) t(a) |> select sum(a) + 1").await.unwrap(), ["2"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn columns_of_operators_have_their_texts() {
    let harness = Harness::new();
    let names = harness.names("select -a, +a, date'2020-01-01' + 1, 2 * interval 1 day from values (1) t(a)").await;
    assert_eq!(names, ["(- a)", "(+ a)", "date_add(DATE '2020-01-01', 1)", "(INTERVAL '1' DAY * 2)"]);
}
