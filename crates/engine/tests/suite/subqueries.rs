//! Subqueries and lateral joins: the rows are Spark's.

use crate::harness::Harness;

async fn tables() -> Harness {
    let harness = Harness::new();
    harness
        .run(&[
            "create temp view t1 as values (0, 1), (1, 2), (2, null), (null, 3) as t(a, b)",
            "create temp view t2 as values (0, 2), (0, 3), (null, 5), (2, null) as t(c, d)",
        ])
        .await;
    harness
}

async fn check(cases: &[(&str, &[&str])]) {
    let harness = tables().await;
    for (query, rows) in cases {
        assert_eq!(harness.rows(query).await.unwrap(), *rows, "{query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn scalar_subqueries_have_a_value_for_every_row() {
    check(&[
        ("select a, (select count(*) from t2 where c = a) from t1 order by a", &["NULL|0", "0|2", "1|0", "2|1"]),
        ("select a, (select max(d) from t2 where c = a) from t1 order by a", &["NULL|NULL", "0|3", "1|NULL", "2|NULL"]),
        ("select sum((select count(*) from t2 where c >= a)) from t1", &["5"]),
        ("select (select a) + 1 from t1 order by 1", &["NULL", "1", "2", "3"]),
        ("select a, (select d from t2 where c = a) from t1 where a = 2", &["2|NULL"]),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scalar_subquery_with_more_rows_than_one_fails() {
    let error = tables().await.rows("select a, (select d from t2 where c = a) from t1").await.unwrap_err();
    assert!(error.is("SCALAR_SUBQUERY_TOO_MANY_ROWS"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn in_knows_nulls() {
    check(&[
        (
            "select a, a in (select c from t2), a not in (select c from t2) from t1 order by a",
            &["NULL|false|false", "0|true|false", "1|false|false", "2|true|false"],
        ),
        ("select * from t1 where a not in (select c from t2)", &[]),
        ("select * from t1 where (a, b) in (select c, d from t2)", &[]),
        ("select * from t1 where (a, b) not in (select c, d from t2 where c is not null)", &["0|1", "1|2"]),
        (
            "select a, case when a in (select c from t2 where d > b) then 'y' else 'n' end from t1 order by a",
            &["NULL|n", "0|y", "1|n", "2|n"],
        ),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn exists_stands_in_select_and_having() {
    check(&[
        (
            "select a, exists (select 1 from t2 where c = a) from t1 order by a",
            &["NULL|false", "0|true", "1|false", "2|true"],
        ),
        (
            "select a, count(*) from t1 group by a having exists (select 1 from t2 where c = a) order by a",
            &["0|1", "2|1"],
        ),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lateral_joins_see_the_left_side() {
    check(&[
        (
            "select * from t1, lateral (select sum(d) s, count(*) n from t2 where c = a) order by a",
            &["NULL|3|NULL|0", "0|1|5|2", "1|2|NULL|0", "2|NULL|NULL|1"],
        ),
        (
            "select * from t1, lateral (select a + b as z union all select a - b) order by a, z",
            &["NULL|3|NULL", "NULL|3|NULL", "0|1|-1", "0|1|1", "1|2|-1", "1|2|3", "2|NULL|NULL", "2|NULL|NULL"],
        ),
        (
            "select * from t1, lateral explode(array(a, b)) as e(x) order by a, x",
            &["NULL|3|NULL", "NULL|3|3", "0|1|0", "0|1|1", "1|2|1", "1|2|2", "2|NULL|NULL", "2|NULL|2"],
        ),
        ("select * from t1, lateral (select d from t2 where c = a order by d limit 1)", &["0|1|2", "2|NULL|NULL"]),
        (
            "select * from t1 left join lateral (select d from t2 where c = a) order by a, d",
            &["NULL|3|NULL", "0|1|2", "0|1|3", "1|2|NULL", "2|NULL|NULL"],
        ),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_of_subqueries_name_the_outer_columns() {
    let harness = tables().await;
    let names =
        harness.names("select (select max(d) from t2 where c = a), a in (select c from t2 where d > b) from t1");
    assert_eq!(names.await, ["scalarsubquery(a)", "(a IN (listquery(b)))"]);
}
