//! What expressions mean. Expected shapes are what Spark's own parser makes of the texts.

#![allow(clippy::unwrap_used, clippy::panic)]

mod shape;

use firesteel_plan::Origin;
use firesteel_sql::{ParserOptions, parse_expression};
use shape::{expression, expression_with};

#[test]
fn arithmetic_binds_as_in_spark() {
    assert_eq!(expression("a + b * c"), "(+ a (* b c))");
    assert_eq!(expression("(a + b) * c"), "(* (+ a b) c)");
    assert_eq!(expression("a - b - c"), "(- (- a b) c)");
    assert_eq!(expression("a + b || c - d"), "(- (concat (+ a b) c) d)");
    assert_eq!(expression("a | b & c ^ d << 1"), "(| a (^ (& b c) (<< d 1)))");
    assert_eq!(expression("a << 1 + 2"), "(<< a (+ 1 2))");
    assert_eq!(expression("a << 2 >> 3 >>> 4"), "(>>> (>> (<< a 2) 3) 4)");
    assert_eq!(expression("a div b % c"), "(% (div a b) c)");
    assert_eq!(expression("a + -b * c"), "(+ a (* (- b) c))");
    assert_eq!(expression("~-a"), "(~ (- a))");
    assert_eq!(expression("-a.b"), "(- a.b)");
    assert_eq!(expression("-a::int"), "(- (cast Session a Integer))");
}

#[test]
fn comparisons_run_from_left_to_right() {
    assert_eq!(expression("a = b = c"), "(= (= a b) c)");
    assert_eq!(expression("a <> b"), "(not (= a b))");
    assert_eq!(expression("a !> b"), "(<= a b)");
    assert_eq!(expression("a !< b"), "(>= a b)");
    assert_eq!(expression("a == b"), "(= a b)");
    assert_eq!(expression("a <=> b"), "(<=> a b)");
}

#[test]
fn logic_is_balanced_and_not_is_looser_than_comparison() {
    assert_eq!(expression("a AND b OR NOT c"), "(or (and a b) (not c))");
    assert_eq!(expression("NOT a = b"), "(not (= a b))");
    assert_eq!(expression("! a = b"), "(not (= a b))");
    assert_eq!(expression("a AND b AND c AND d"), "(and (and a b) (and c d))");
    assert_eq!(expression("a OR b AND c"), "(or a (and b c))");
}

#[test]
fn a_value_has_one_predicate() {
    assert_eq!(expression("a = b IN (c)"), "(in (= a b) c)");
    assert_eq!(expression("NOT a IN (1)"), "(not (in a 1))");
    assert_eq!(expression("a NOT IN (1, 2)"), "(not (in a 1 2))");
    assert_eq!(expression("a NOT BETWEEN 1 AND 2"), "(not (between a 1 2))");
    assert_eq!(expression("a BETWEEN b AND c AND d"), "(and (between a b c) d)");
    assert_eq!(expression("a IS NULL AND b IS NOT NULL"), "(and (isnull a) (isnotnull b))");
    assert_eq!(expression("a IS NOT TRUE"), "(not (<=> a true))");
    assert_eq!(expression("a IS DISTINCT FROM b"), "(not (<=> a b))");
    assert_eq!(expression("a IS NOT DISTINCT FROM b"), "(<=> a b)");
    assert_eq!(expression("a IS NULL IS NULL"), "PARSE_SYNTAX_ERROR");
    assert_eq!(expression("a IS NULL = true"), "PARSE_SYNTAX_ERROR");
    assert_eq!(expression("a IN ()"), "INVALID_SQL_SYNTAX.EMPTY_IN_PREDICATE");
    assert_eq!(expression("a !IN (1)"), "SYNTAX_DISCONTINUED.BANG_EQUALS_NOT");
}

#[test]
fn patterns_may_be_several() {
    assert_eq!(expression("a LIKE 'b' ESCAPE '!'"), "(like a 'b' '!')");
    assert_eq!(expression("a NOT RLIKE b"), "(not (rlike a b))");
    assert_eq!(expression("a LIKE ALL ('x', 'y')"), "(likeall a 'x' 'y')");
    assert_eq!(expression("a NOT LIKE ANY ('x', 'y')"), "(notlikeany a 'x' 'y')");
    assert_eq!(expression("a ILIKE SOME ('X')"), "(likeany (lower a) 'x')");
    assert_eq!(expression("a LIKE ANY (b, 'c')"), "(or (like a b) (like a 'c'))");
    assert_eq!(expression("a LIKE 'x' ESCAPE 'ab'"), "INVALID_ESC");
}

#[test]
fn parentheses_hold_values_rows_and_queries() {
    assert_eq!(expression("(a).b"), "a.b");
    assert_eq!(expression("(1, b)"), "(builtin.named_struct 'col1' 1 'b' b)");
    assert_eq!(expression("(1 AS a, 2)"), "(builtin.named_struct 'a' 1 as a 'col2' 2)");
    assert_eq!(expression("((SELECT 1) + 1)"), "(+ (scalar: Project(One)[1]) 1)");
    assert_eq!(expression("((SELECT 1) UNION (SELECT 2))"), "(scalar: Union(Project(One)[1], Project(One)[2]))");
    assert_eq!(expression("a IN (SELECT 1)"), "(in a: Project(One)[1])");
    assert_eq!(expression("a IN ((SELECT 1), 2)"), "(in a (scalar: Project(One)[1]) 2)");
    assert_eq!(expression("(a, b) IN (SELECT 1, 2)"), "(in a, b: Project(One)[1, 2])");
    assert_eq!(expression("EXISTS (SELECT 1)"), "(exists: Project(One)[1])");
    assert_eq!(expression("exists(a, x -> x)"), "(exists a (x -> x))");
    assert_eq!(expression("(from)"), "from");
}

#[test]
fn names_may_be_keywords() {
    assert_eq!(expression("select"), "select");
    assert_eq!(expression("case"), "case");
    assert_eq!(expression("a.select"), "a.select");
    assert_eq!(expression("interval + 1"), "(+ interval 1)");
    assert_eq!(expression("left('a', 1)"), "(left 'a' 1)");
    assert_eq!(expression("date"), "date");
    assert_eq!(expression("1a"), "1a");
    assert_eq!(expression("`a``b`.`c d`"), "a`b.c d");
    assert_eq!(expression("é"), "INVALID_IDENTIFIER");
    let reserved = ParserOptions { enforce_reserved_keywords: true, ..ParserOptions::default() };
    assert_eq!(expression_with("select", &reserved), "PARSE_SYNTAX_ERROR");
    assert_eq!(expression_with("current_date", &reserved), "(current_date)");
    assert_eq!(expression("current_date"), "current_date");
}

#[test]
fn calls_have_their_clauses() {
    assert_eq!(expression("count(*)"), "(count *)");
    assert_eq!(expression("count(DISTINCT a, b)"), "(count distinct a b)");
    assert_eq!(expression("count(distinct)"), "(count distinct)");
    assert_eq!(expression("sum(a) FILTER (WHERE b)"), "(sum a filter b)");
    assert_eq!(expression("f(a) IGNORE NULLS"), "(f a ignore nulls)");
    assert_eq!(expression("first(a IGNORE NULLS)"), "(first a ignore nulls)");
    assert_eq!(expression("first(a, true)"), "(first a true)");
    assert_eq!(expression("mode() WITHIN GROUP (ORDER BY a DESC)"), "(mode within a desc)");
    assert_eq!(expression("f(x => 1)"), "(f x => 1)");
    assert_eq!(expression("sum(a) OVER w"), "(over (sum a) w)");
    assert_eq!(expression("sum(a) OVER (w)"), "(over (sum a) w)");
    assert_eq!(
        expression("sum(a) OVER (PARTITION BY b ORDER BY c DESC NULLS LAST ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)"),
        "(over (sum a) by [b] order [c desc last] Rows 1 back to CurrentRow)"
    );
    assert_eq!(expression("a.b.f(1).c"), "(a.b.f 1)['c']");
}

#[test]
fn special_functions_have_words_between_arguments() {
    assert_eq!(expression("position('a' IN b)"), "(locate 'a' b)");
    assert_eq!(expression("position(a + 1, b)"), "(position (+ a 1) b)");
    assert_eq!(expression("extract(YEAR FROM a)"), "(extract 'YEAR' a)");
    assert_eq!(expression("substring(a FROM 1 FOR 2)"), "(substring a 1 2)");
    assert_eq!(expression("substr(a, 1, 2)"), "(substr a 1 2)");
    assert_eq!(expression("trim(LEADING 'x' FROM y)"), "(ltrim 'x' y)");
    assert_eq!(expression("trim(FROM y)"), "(trim y)");
    assert_eq!(expression("trim(y)"), "(trim y)");
    assert_eq!(expression("overlay(a PLACING b FROM 1)"), "(overlay a b 1)");
    assert_eq!(expression("dateadd(MONTH, 1, x)"), "(timestampadd 'MONTH' 1 x)");
    assert_eq!(expression("dateadd(x, 1)"), "(dateadd x 1)");
    assert_eq!(expression("datediff(day, a, b)"), "(timestampdiff 'day' a b)");
    assert_eq!(expression("dateadd('month', 1, x)"), "INVALID_PARAMETER_VALUE.DATETIME_UNIT");
    assert_eq!(expression("CASE a WHEN 1 THEN 'x' ELSE 'y' END"), "(when (= a 1) 'x' 'y')");
    assert_eq!(expression("CASE WHEN a THEN 1 END"), "(when a 1)");
    assert_eq!(expression("CAST(a AS INT)"), "(cast Session a Integer)");
    assert_eq!(expression("TRY_CAST(a AS INT)"), "(cast Try a Integer)");
    assert_eq!(expression("a COLLATE x.y || b"), "(concat (collate a 'x.y') b)");
    assert_eq!(expression("a:b.c[0]"), "(variant_get a '$.b.c[0]') as c");
    assert_eq!(expression("identifier('a.b')"), "a.b");
    assert_eq!(expression("identifier(:x)(1)"), "identifier(:x)(1)");
}

#[test]
fn lambdas_reach_as_far_as_they_can() {
    assert_eq!(expression("f(x -> x + 1 > 2 AND y, 3)"), "(f (x -> (and (> (+ x 1) 2) y)) 3)");
    assert_eq!(expression("(x, y) -> x + y"), "(x y -> (+ x y))");
    assert_eq!(expression("x -> y -> z"), "(x -> (y -> z))");
}

#[test]
fn an_alias_may_be_one_name_or_several() {
    assert_eq!(expression("a + 1 AS b"), "(+ a 1) as b");
    assert_eq!(expression("a b"), "a as b");
    assert_eq!(expression("explode(a) AS (b, c)"), "(explode a) as b c");
    assert_eq!(expression("t.* EXCEPT (a, b.c)"), "t.* except a b.c");
    assert_eq!(expression("a AS 'b'"), "PARSE_SYNTAX_ERROR");
}

#[test]
fn every_node_knows_its_place() {
    let span = |text: &str| match parse_expression(text, &ParserOptions::default()).unwrap().origin {
        Origin::Sql { start, stop, .. } => (start, stop),
        other => panic!("{other:?}"),
    };
    assert_eq!(span("a + b"), (0, 4));
    assert_eq!(span("(a + b)"), (1, 5));
    assert_eq!(span("f(a) OVER ()"), (0, 11));
    // A predicate's place is that of its own words.
    assert_eq!(span("a IN (1, 2)"), (2, 10));
    assert_eq!(span("a NOT LIKE 'b'"), (2, 13));
    assert_eq!(span("  -1"), (2, 3));
    assert_eq!(span("'é' || x"), (0, 7));
}

#[test]
fn errors_point_at_the_token() {
    let error = parse_expression("a +\n  )", &ParserOptions::default()).unwrap_err();
    assert_eq!(error.parameters(), [("error".to_string(), "')'".to_string()), ("hint".to_string(), String::new())]);
    let position = error.position().unwrap();
    assert_eq!((position.line, position.column), (2, 2));
    assert!(error.contexts().is_empty());
    let error = parse_expression("a + ", &ParserOptions::default()).unwrap_err();
    assert_eq!(error.parameters()[0].1, "end of input");
}

#[test]
fn quoted_names_may_be_patterns() {
    let options = ParserOptions { quoted_regex_column_names: true, ..ParserOptions::default() };
    assert_eq!(expression_with("`(a|b)?+.+`", &options), "regex (a|b)?+.+");
    assert_eq!(expression_with("a", &options), "a");
    assert_eq!(expression("`(a|b)?+.+`"), "(a|b)?+.+");
}
