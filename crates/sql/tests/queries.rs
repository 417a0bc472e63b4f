//! What queries mean. Expected shapes are what Spark's own parser makes of the texts.

#![allow(clippy::unwrap_used, clippy::panic)]

mod shape;

use firesteel_sql::ParserOptions;
use shape::{query, query_with};
use std::fs;
use std::path::Path;

#[test]
fn select_is_a_projection_or_an_aggregate() {
    assert_eq!(query("SELECT 1"), "Project(One)[1]");
    assert_eq!(query("SELECT a, b c FROM t WHERE d"), "Project(Filter(t)[d])[a, b as c]");
    assert_eq!(query("SELECT count(*) FROM t"), "Project(t)[(count *)]");
    assert_eq!(query("SELECT a FROM t GROUP BY b HAVING c"), "Having(Aggregate(t)[b][a])[c]");
    assert_eq!(query("SELECT a FROM t HAVING c"), "Having(Project(t)[a])[c]");
    assert_eq!(query("SELECT DISTINCT a FROM t"), "Distinct(Project(t)[a])");
    assert_eq!(query("SELECT a FROM t QUALIFY b"), "Qualify(Project(t)[a])[b]");
    assert_eq!(query("SELECT /*+ x(1), y */ a FROM t"), "Hint(Hint(Project(t)[a])[y ])[x 1]");
}

#[test]
fn words_of_clauses_may_be_names() {
    assert_eq!(query("SELECT from WHERE"), "Project(One)[from as WHERE]");
    assert_eq!(query("SELECT 1 from"), "Project(One)[1 as from]");
    assert_eq!(query("SELECT a FROM t limit"), "Project(t as limit)[a]");
    assert_eq!(query("SELECT distinct FROM t"), "Project(t)[distinct]");
    assert_eq!(query("SELECT a FROM t CROSS JOIN u"), "Project(Cross(t, u))[a]");
    assert_eq!(query("SELECT a FROM t LEFT"), "PARSE_SYNTAX_ERROR");
}

#[test]
fn grouping_has_many_forms() {
    assert_eq!(query("SELECT a FROM t GROUP BY ALL"), "Aggregate(t)[All][a]");
    assert_eq!(query("SELECT a FROM t GROUP BY a, 1"), "Aggregate(t)[a, 1][a]");
    assert_eq!(query("SELECT a FROM t GROUP BY a, ROLLUP(b, (c, d))"), "Aggregate(t)[a, rollup (b) (c, d)][a]");
    assert_eq!(query("SELECT a FROM t GROUP BY a, b WITH CUBE"), "Aggregate(t)[cube (a) (b)][a]");
    assert_eq!(query("SELECT a FROM t GROUP BY GROUPING SETS ((a), b, ())"), "Aggregate(t)[sets (a) (b) ()][a]");
    assert_eq!(query("SELECT a FROM t GROUP BY (a, b)"), "Aggregate(t)[(builtin.named_struct 'a' a 'b' b)][a]");
    assert_eq!(query("SELECT a FROM t GROUP BY CUBE(a, ())"), "_LEGACY_ERROR_TEMP_0051");
}

#[test]
fn joins_bind_to_the_left_and_commas_are_joins() {
    assert_eq!(query("SELECT * FROM a, b JOIN c ON x, d"), "Project(Inner(Inner(Inner(a, b), c on x), d))[*]");
    assert_eq!(query("SELECT * FROM a LEFT JOIN b USING (x, y)"), "Project(LeftOuter(a, b using x y))[*]");
    assert_eq!(query("SELECT * FROM a NATURAL FULL OUTER JOIN b"), "Project(FullOuter(a, b natural))[*]");
    assert_eq!(query("SELECT * FROM a SEMI JOIN b LEFT ANTI JOIN c"), "Project(LeftAnti(LeftSemi(a, b), c))[*]");
    assert_eq!(query("SELECT * FROM a, LATERAL (SELECT 1) b"), "Project(Inner(a, Project(One)[1] as b lateral))[*]");
    assert_eq!(query("SELECT * FROM a JOIN LATERAL f(x) ON y"), "Project(Inner(a, f(x) on y lateral))[*]");
    assert_eq!(query("SELECT * FROM (a JOIN b ON x) AS c"), "Project(Inner(a, b on x) as c)[*]");
    assert_eq!(query("SELECT * FROM a, LATERAL b"), "INVALID_SQL_SYNTAX.LATERAL_WITHOUT_SUBQUERY_OR_TABLE_VALUED_FUNC");
    assert_eq!(query("SELECT * FROM a RIGHT JOIN LATERAL (SELECT 1)"), "INVALID_LATERAL_JOIN_TYPE");
    assert_eq!(query("SELECT * FROM a NATURAL CROSS JOIN b"), "INCOMPATIBLE_JOIN_TYPES");
}

#[test]
fn from_holds_tables_queries_values_and_functions() {
    assert_eq!(query("SELECT * FROM (SELECT 1)"), "Project(Project(One)[1] as __auto_generated_subquery_name)[*]");
    assert_eq!(query("SELECT * FROM ((SELECT 1) a JOIN b)"), "Project(Inner(Project(One)[1] as a, b))[*]");
    assert_eq!(
        query("SELECT * FROM ((SELECT 1) UNION ALL (SELECT 2)) c"),
        "Project(Union all(Project(One)[1], Project(One)[2]) as c)[*]"
    );
    assert_eq!(query("SELECT * FROM (((a)))"), "Project(a)[*]");
    assert_eq!(query("SELECT * FROM t AS u(a, b)"), "Project(t as u(a b))[*]");
    assert_eq!(query("SELECT * FROM VALUES (1, 2), (3, 4) AS t(a, b)"), "Project(Values([1, 2] [3, 4]) as t(a b))[*]");
    assert_eq!(query("VALUES 1, (2)"), "Values([1] [2])");
    assert_eq!(query("SELECT * FROM range(10) AS t(id)"), "Project(range(10) as t(id))[*]");
    assert_eq!(
        query("SELECT * FROM f(x => TABLE(t) PARTITION BY (a, b) ORDER BY c, 1)"),
        "Project(f(x => (table by a, b c asc: t), 1))[*]"
    );
    assert_eq!(query("SELECT * FROM parquet.`/a/b`"), "Project(parquet./a/b)[*]");
    assert_eq!(query("SELECT * FROM STREAM t"), "Project(stream t)[*]");
    assert_eq!(query("SELECT * FROM identifier('a.b').c"), "Project(a.b.c)[*]");
    assert_eq!(query("SELECT * FROM identifier(:x)"), "Project(identifier :x)[*]");
    assert_eq!(query("SELECT * FROM t VERSION AS OF 1"), "Project(t Version(\"1\"))[*]");
    assert_eq!(query("TABLE t"), "t");
    assert_eq!(query("FROM t"), "t");
    assert_eq!(query("FROM t SELECT a SELECT b WHERE c"), "Union all(Project(t)[a], Project(Filter(t)[c])[b])");
    assert_eq!(query("SELECT * FROM a-b"), "INVALID_IDENTIFIER");
}

#[test]
fn samples_are_limits_or_fractions() {
    assert_eq!(query("SELECT * FROM t TABLESAMPLE (5 ROWS) a"), "Project(Limit(t as a)[5])[*]");
    assert_eq!(query("SELECT * FROM t TABLESAMPLE (5 PERCENT) REPEATABLE (7)"), "Project(Sample(t)[0.05 Some(7)])[*]");
    assert_eq!(query("SELECT * FROM t TABLESAMPLE (BUCKET 1 OUT OF 4)"), "Project(Sample(t)[0.25 None])[*]");
    assert_eq!(
        query("SELECT * FROM (SELECT 1) TABLESAMPLE (50 PERCENT) AS x"),
        "Project(Sample(Project(One)[1])[0.5 None] as x)[*]"
    );
    assert_eq!(query("SELECT * FROM t TABLESAMPLE (150 PERCENT)"), "_LEGACY_ERROR_TEMP_0064");
}

#[test]
fn views_and_pivots_follow_from() {
    assert_eq!(
        query("SELECT a FROM t LATERAL VIEW OUTER explode(x) u AS b, c LATERAL VIEW explode(y) v WHERE d"),
        "Project(Filter(View(View(t)[outer (explode x) Some(\"u\") b c])[inner (explode y) Some(\"v\") ])[d])[a]"
    );
    assert_eq!(
        query("SELECT * FROM t PIVOT (sum(a) AS s FOR (b, c) IN ((1, 2) AS x)) p"),
        "Project(Pivot(t)[(sum a) as s for b, c in (builtin.named_struct 'col1' 1 'col2' 2) as x] as p)[*]"
    );
    assert_eq!(
        query("SELECT * FROM t PIVOT (a FOR b IN (1)) UNPIVOT (a FOR b IN (c))"),
        "NOT_ALLOWED_IN_FROM.UNPIVOT_WITH_PIVOT"
    );
}

#[test]
fn intersect_binds_tighter_than_union() {
    assert_eq!(
        query("SELECT 1 UNION SELECT 2 INTERSECT SELECT 3 EXCEPT ALL SELECT 4"),
        "Except all(Union(Project(One)[1], Intersect(Project(One)[2], Project(One)[3])), Project(One)[4])"
    );
    let options = ParserOptions { legacy_set_operation_precedence: true, ..ParserOptions::default() };
    assert_eq!(
        query_with("SELECT 1 UNION SELECT 2 INTERSECT SELECT 3", &options),
        "Intersect(Union(Project(One)[1], Project(One)[2]), Project(One)[3])"
    );
    assert_eq!(query("SELECT 1 UNION (SELECT 2) ORDER BY 1"), "Sort(Union(Project(One)[1], Project(One)[2]))[1 asc]");
}

#[test]
fn results_are_ordered_and_limited() {
    assert_eq!(query("SELECT a FROM t ORDER BY a DESC NULLS FIRST, b"), "Sort(Project(t)[a])[a desc first, b asc]");
    assert_eq!(query("SELECT a FROM t ORDER BY ALL DESC"), "Sort(Project(t)[a])[all false None]");
    assert_eq!(query("SELECT a FROM t LIMIT 2 OFFSET 1"), "Limit(Offset(Project(t)[a])[1])[2]");
    assert_eq!(query("SELECT a FROM t LIMIT ALL OFFSET 1"), "LimitAll(Offset(Project(t)[a])[1])");
    assert_eq!(query("SELECT a FROM t CLUSTER BY b"), "LocalSort(Spread(Project(t)[a])[b])[b asc]");
    assert_eq!(query("SELECT a FROM t DISTRIBUTE BY a SORT BY b"), "LocalSort(Spread(Project(t)[a])[a])[b asc]");
    assert_eq!(query("SELECT a FROM t ORDER BY a SORT BY b"), "UNSUPPORTED_FEATURE.COMBINATION_QUERY_RESULT_CLAUSES");
    assert_eq!(
        query("SELECT sum(a) OVER w FROM t WINDOW w AS (ORDER BY b), v AS w"),
        "Windows(Project(t)[(over (sum a) w)])[w v]"
    );
    assert_eq!(query("SELECT 1 FROM t WINDOW v AS w"), "INVALID_SQL_SYNTAX.UNRESOLVED_WINDOW_REFERENCE");
    assert_eq!(
        query("SELECT 1 FROM t WINDOW w AS (ORDER BY a), w AS (ORDER BY b)"),
        "INVALID_SQL_SYNTAX.REPETITIVE_WINDOW_DEFINITION"
    );
}

#[test]
fn ctes_have_scopes() {
    assert_eq!(
        query("WITH a AS (SELECT 1), b(x) AS (SELECT 2) SELECT * FROM a"),
        "With a() = Project(One)[1]; b(x) = Project(One)[2]: Project(a)[*]"
    );
    assert_eq!(
        query("WITH RECURSIVE a(x) MAX RECURSION LEVEL 5 AS (SELECT 1) SELECT 2"),
        "With recursive a(x) = Project(One)[1]: Project(One)[2]"
    );
    assert_eq!(query("WITH a (SELECT 1) SELECT 2"), "With a() = Project(One)[1]: Project(One)[2]");
    assert_eq!(query("WITH a AS (SELECT 1), A AS (SELECT 2) SELECT 3"), "DUPLICATED_CTE_NAMES");
}

#[test]
fn pipes_apply_one_operator_after_another() {
    assert_eq!(query("FROM t |> WHERE a |> SELECT b"), "Project(Filter(t)[a])[b]");
    assert_eq!(query("TABLE t |> EXTEND 1 AS z"), "Project(t)[*, 1 as z]");
    assert_eq!(query("TABLE t |> SET x = 1, y = x"), "WithColumns(WithColumns(t)[1 as x])[x as y]");
    assert_eq!(query("TABLE t |> DROP a, b"), "Project(t)[* except a b]");
    assert_eq!(query("TABLE t |> AS u"), "t as u");
    assert_eq!(query("TABLE t |> AGGREGATE sum(x) AS s GROUP BY y"), "Aggregate(t)[y][(sum x) as s]");
    assert_eq!(query("TABLE t |> JOIN u USING (a)"), "Inner(t, u using a)");
    assert_eq!(
        query("SELECT 1 UNION SELECT 2 |> UNION ALL TABLE u"),
        "Union all(Union(Project(One)[1], Project(One)[2]), u)"
    );
    assert_eq!(query("TABLE t |> LIMIT 1 OFFSET 2"), "Limit(Offset(t)[2])[1]");
    assert_eq!(query("TABLE t |> ORDER BY a LIMIT 1"), "MULTIPLE_QUERY_RESULT_CLAUSES_WITH_PIPE_OPERATORS");
    assert_eq!(
        query("TABLE t |> AGGREGATE sum(x) GROUP BY ROLLUP(y)"),
        "UNSUPPORTED_FEATURE.PIPE_OPERATOR_AGGREGATE_UNSUPPORTED_CASE"
    );
    assert_eq!(query("SELECT 1 ORDER BY 1 |> WHERE x"), "PARSE_SYNTAX_ERROR");
}

#[test]
fn comments_are_blanks() {
    assert_eq!(query("SELECT /* a /* b */ c */ 1 -- d\n + 2"), "Project(One)[(+ 1 2)]");
    assert_eq!(query("SELECT 1 -- a\\\n b\n"), "Project(One)[1]");
    assert_eq!(query("SELECT '/*'"), "Project(One)['/*']");
    assert_eq!(query("SELECT 1 /* a"), "UNCLOSED_BRACKETED_COMMENT");
}

#[test]
fn transform_is_known_and_not_run() {
    assert_eq!(query("SELECT TRANSFORM(a) USING 'cat' AS (b INT) FROM t"), "Unsupported(\"TRANSFORM\")");
    assert_eq!(query("SELECT transform(a, x -> x) FROM t"), "Project(t)[(transform a (x -> x))]");
}

/// The texts of TPC-H lie beside the checkout; without them the test says so and passes.
#[test]
fn tpch_parses() {
    let path =
        Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../../../shared/bench/tpch_queries.py");
    let Ok(file) = fs::read_to_string(path) else {
        println!("skipped: no TPC-H queries beside the checkout");
        return;
    };
    let texts = file.split("\"\"\"").skip(3).step_by(2);
    let queries: Vec<String> =
        texts.filter(|text| text.contains("select")).map(|text| text.replace("{fraction}", "0.0001")).collect();
    assert_eq!(queries.len(), 22);
    for text in &queries {
        let shape = query(text);
        assert!(shape.contains('('), "{shape}: {text}");
    }
}
