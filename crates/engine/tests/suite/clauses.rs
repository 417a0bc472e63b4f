//! What names mean in HAVING and ORDER BY, and what functions, views and recursive queries may be: rows and
//! conditions are Spark's.

use crate::harness::Harness;

async fn with_rows() -> Harness {
    let harness = Harness::new();
    harness.run(&["create temp view v as select * from values (1,2,'x'),(2,3,'y'),(1,5,'z') as t(a,b,c)"]).await;
    harness
}

async fn fails(harness: &Harness, condition: &str, text: &str) {
    let error = harness.rows(text).await.unwrap_err();
    assert!(error.is(condition), "{text}: {error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn having_and_order_by_mean_keys_aggregates_or_outputs() {
    let harness = with_rows().await;
    for text in [
        "select a from v group by a having b > 1",
        "select a from v group by a order by b",
        "select max(a) from v having b > 1",
        "select a, sum(b) from v group by a having max(b) > 1 order by max(b)",
        "select sum(b) from v group by a having a > 0 order by max(b)",
        "select a, sum(b) s, rank() over (order by sum(b)) r from v group by a order by sum(b)",
    ] {
        fails(&harness, "UNRESOLVED_COLUMN.WITH_SUGGESTION", text).await;
    }
    for (text, rows) in [
        ("select a, sum(b) from v group by a having sum(b) > 1 order by max(b)", ["2|3", "1|7"]),
        ("select sum(b) from v group by a having a > 0 order by a", ["7", "3"]),
        ("select sum(b) s, rank() over (order by sum(b)) r from v group by a order by a", ["7|2", "3|1"]),
        ("select a, sum(b) from v group by a having sum(b) - 5 order by a", ["1|7", "2|3"]),
        ("select 3 as b, a from v group by all having b > 2 order by a", ["3|1", "3|2"]),
    ] {
        assert_eq!(harness.rows(text).await.unwrap(), rows, "{text}");
    }
    fails(&harness, "MISSING_GROUP_BY", "select a, b from v having a > 1").await;
    fails(&harness, "AMBIGUOUS_REFERENCE", "select 1 as z, 2 as z from v group by all having z > 1").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn order_by_takes_no_windows_and_no_aggregates_of_plain_rows() {
    let harness = with_rows().await;
    for text in [
        "select a from v order by row_number() over (order by b)",
        "select a, count(*) from v group by a order by row_number() over (order by a)",
        "select a from v order by max(b)",
        "select distinct a, b from v order by max(b)",
    ] {
        fails(&harness, "UNSUPPORTED_EXPR_FOR_OPERATOR", text).await;
    }
    let condition = "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.UNSUPPORTED_IN_EXISTS_SUBQUERY";
    fails(&harness, condition, "select a from v order by b in (select a from v)").await;
    let rows = harness.rows("select a, rank() over (order by b) as r from v order by r desc").await.unwrap();
    assert_eq!(rows, ["1|3", "2|2", "1|1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn subqueries_compare_with_the_groups_of_having() {
    let harness = with_rows().await;
    let text = "select a from v group by a having exists (select 1 from v x where x.b = max(v.b)) order by a";
    assert_eq!(harness.rows(text).await.unwrap(), ["1", "2"]);
    let correlated = "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.CORRELATED_REFERENCE";
    fails(&harness, correlated, "select a from v group by a having exists (select first(v.b) = 0)").await;
    fails(&harness, correlated, "select a, (select sum(v.b)) from v group by a").await;
    let mixed = "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.AGGREGATE_FUNCTION_MIXED_OUTER_LOCAL_REFERENCES";
    fails(&harness, mixed, "select (select sum(x.b + v.b) from v x) from v").await;
    fails(&harness, "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION", "select (select (select v.a)) from v").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_of_functions_are_checked_when_they_are_made() {
    let harness = with_rows().await;
    for (condition, rest) in [
        ("USER_DEFINED_FUNCTIONS.CANNOT_CONTAIN_COMPLEX_FUNCTIONS", "(x int) returns int return sum(x)"),
        ("USER_DEFINED_FUNCTIONS.RETURN_COLUMN_COUNT_MISMATCH", "(x int) returns table(a int, b int) return select x"),
        ("USER_DEFINED_FUNCTIONS.SQL_TABLE_UDF_BODY_MUST_BE_A_QUERY", "(x int) returns table(a int) return 1"),
        ("USER_DEFINED_FUNCTIONS.NOT_NULL_ON_FUNCTION_PARAMETERS", "(x int not null) returns int return 1"),
        ("DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION", "(x int) returns int return array(x)"),
        ("UNRESOLVED_COLUMN.WITH_SUGGESTION", "(x int) returns int return y"),
        ("ROUTINE_NOT_FOUND", "(x int) returns int return nosuch(x)"),
        ("INVALID_SQL_FUNCTION_DATA_ACCESS", "(x int) returns int contains sql return (select max(a) from v)"),
        ("UNSUPPORTED_CHAR_OR_VARCHAR_AS_STRING", "(x varchar(10)) returns int return 1"),
    ] {
        fails(&harness, condition, &format!("create or replace temporary function f{rest}")).await;
    }
    fails(&harness, "INVALID_TEMP_OBJ_REFERENCE", "create function g() returns int return (select max(a) from v)")
        .await;
    harness.run(&["create function f(x int) returns int return x + 1"]).await;
    harness.run(&["create function g(x int) returns int return f(x) + 1"]).await;
    fails(&harness, "CYCLIC_FUNCTION_REFERENCE", "create or replace function f(x int) returns int return g(x)").await;
    fails(&harness, "UNSUPPORTED_SQL_UDF_USAGE", "select a from v order by f(b)").await;
    assert_eq!(harness.rows("select g(a) from v group by g(a) having g(a) > 3").await.unwrap(), ["4"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn views_follow_their_tables_as_their_modes_say() {
    let harness = Harness::new();
    harness.run(&["create table t (c1 int, c2 int) using parquet", "insert into t values (1, 2)"]).await;
    harness.run(&["create view w with schema evolution as select * from t"]).await;
    harness.run(&["create view n(a1, a2) with schema evolution as select * from t"]).await;
    harness.run(&["create view b with schema binding as select * from t"]).await;
    harness.run(&["create view p as select * from t"]).await;
    harness.run(&["drop table t", "create table t (c2 double, c1 bigint, c3 int) using parquet"]).await;
    harness.run(&["insert into t values (2.5, 1, 3)"]).await;
    assert_eq!(harness.rows("select * from w").await.unwrap(), ["2.5|1|3"]);
    assert_eq!(harness.rows("select * from n").await.unwrap(), ["1|2.5"]);
    assert_eq!(harness.rows("select * from p").await.unwrap(), ["1|2"]);
    fails(&harness, "CANNOT_UP_CAST_DATATYPE", "select * from b").await;
    harness.run(&["drop table t", "create table t (c1 int) using parquet"]).await;
    fails(&harness, "INCOMPATIBLE_VIEW_SCHEMA_CHANGE", "select * from p").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn recursive_queries_refer_to_themselves_in_one_place() {
    let harness = Harness::new();
    let query = |step: &str| format!("with recursive r(n) as (select 1 union all {step}) select * from r");
    for step in [
        "select max(n) + 1 from r where n < 3",
        "select n + 1 from r group by n",
        "(select n + 1 from r where n < 3 order by n)",
        "select r.n + 1 from values (1) t(x) left join r on n < 3",
    ] {
        fails(&harness, "INVALID_RECURSIVE_REFERENCE.PLACE", &query(step)).await;
    }
    fails(&harness, "CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE", &query("select n + 1L from r where n < 3")).await;
    let anchored = "with recursive r(n) as (select 1 from r union all select n + 1 from r where n < 3) select * from r";
    fails(&harness, "INVALID_RECURSIVE_CTE", anchored).await;
    let nested = "with recursive r as (with q as (select 1 as n) select n from q union all select n + 1 from r \
                  where n < 3) select * from r";
    assert_eq!(harness.rows(nested).await.unwrap(), ["1", "2", "3"]);
    harness.run(&["set spark.sql.cteRecursionRowLimit = 3"]).await;
    let counting = "with recursive r(n) as (select 1 union all select n + 1 from r where n < 6) select * from r";
    fails(&harness, "RECURSION_ROW_LIMIT_EXCEEDED", counting).await;
    assert_eq!(harness.rows(&format!("{counting} limit all")).await.unwrap().len(), 6);
    assert_eq!(harness.rows(&format!("{counting} limit 5")).await.unwrap().len(), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn collated_texts_are_compared_grouped_and_ordered_by_their_keys() {
    let harness = Harness::new();
    for (text, row) in [
        ("select 'a' collate unicode < 'A'", "true"),
        ("select 'a' collate unicode_ci = 'A'", "true"),
        ("select 'a' collate unicode_ai = 'å'", "true"),
        ("select 'Kypper' collate sv < 'Köpfe'", "true"),
        ("select 'I' collate tr_ci = 'ı'", "true"),
        ("select 'a ' collate utf8_lcase_rtrim = 'A'", "true"),
    ] {
        assert_eq!(harness.rows(text).await.unwrap(), [row], "{text}");
    }
    let values = "(select c collate utf8_lcase as c from values ('aaa'), ('AAA'), ('b') as t(c))";
    let groups = format!("select c, count(*) from {values} group by c order by c");
    assert_eq!(harness.rows(&groups).await.unwrap(), ["aaa|2", "b|1"]);
    assert_eq!(harness.rows(&format!("select distinct c from {values} order by c")).await.unwrap(), ["aaa", "b"]);
    let except = format!("select c from {values} except select 'AaA' collate utf8_lcase");
    assert_eq!(harness.rows(&except).await.unwrap(), ["b"]);
}
