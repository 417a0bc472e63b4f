"""What Spark 4.2 says of statements that are wrong: the condition, and the piece of text that it is about."""

import pytest
from pyspark.errors import PySparkException

SETUP = [
    "CREATE DATABASE IF NOT EXISTS conditions",
    "USE conditions",
    "CREATE TABLE IF NOT EXISTS t1 (a INT, b STRING, c DOUBLE, d DATE) USING parquet",
    "CREATE OR REPLACE VIEW v1 AS SELECT a, b FROM t1",
    "CREATE OR REPLACE TEMP VIEW tv AS SELECT * FROM VALUES (1, 'a', array(1, 2)), (3, 'c', null) AS t(id, name, arr)",
]

# Statement, condition, fragment.
CASES = [
    ("SELECT * FROM VALUES (1), ('x')", 'INVALID_INLINE_TABLE.INCOMPATIBLE_TYPES_IN_INLINE_TABLE', "VALUES (1), ('x')"),
    ("SELECT * FROM VALUES (array(1)), (array('x'))", 'INVALID_INLINE_TABLE.INCOMPATIBLE_TYPES_IN_INLINE_TABLE',
     "VALUES (array(1)), (array('x'))"),
    ('SELECT a FROM t1 ORDER BY b, 2', 'ORDER_BY_POS_OUT_OF_RANGE', '2'),
    ('CREATE TABLE t1 (a INT) USING parquet PARTITIONED BY (z)', 'COLUMN_NOT_DEFINED_IN_TABLE', None),
    ('CREATE TABLE t9 (a VARIANT) USING csv', 'UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE', None),
    ('CREATE TABLE t9 (a VARIANT, b INT) USING parquet PARTITIONED BY (a)', 'INVALID_PARTITION_COLUMN_DATA_TYPE', None),
    ("EXECUTE IMMEDIATE 'BEGIN SELECT 1; END'", 'SQL_SCRIPT_IN_EXECUTE_IMMEDIATE', None),
    ('SELECT * FROM t1 LIMIT a', 'INVALID_LIMIT_LIKE_EXPRESSION.IS_UNFOLDABLE', 'SELECT * FROM t1'),
    ('SELECT arr.x FROM tv', 'DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE', 'arr.x'),
    ('SELECT * FROM tv WHERE explode(arr) = 1', 'UNSUPPORTED_GENERATOR.OUTSIDE_SELECT', None),
    ('SELECT count(*) FILTER (WHERE a) FROM t1', 'INVALID_AGGREGATE_FILTER.NOT_BOOLEAN', 'count(*) FILTER (WHERE a)'),
    ('SELECT * EXCEPT (zz) FROM t1', 'UNRESOLVED_COLUMN.WITH_SUGGESTION', '* EXCEPT (zz)'),
    ('SELECT * EXCEPT (a, a) FROM t1', 'EXCEPT_OVERLAPPING_COLUMNS', '* EXCEPT (a, a)'),
    ('SELECT b.* FROM t1', '_LEGACY_ERROR_TEMP_1050', 'b.*'),
    ('SELECT count(t1.*) FROM t1', 'INVALID_USAGE_OF_STAR_WITH_TABLE_IDENTIFIER_IN_COUNT', None),
    ('SELECT * + 1 FROM t1', 'INVALID_USAGE_OF_STAR_OR_REGEX', None),
    ('SELECT a FROM t1 GROUP BY *', 'INVALID_USAGE_OF_STAR_OR_REGEX', '*'),
    ('SELECT sum(c) + a FROM t1 GROUP BY ALL', 'UNRESOLVED_ALL_IN_GROUP_BY', 'GROUP BY ALL'),
    ('SELECT a FROM t1 QUALIFY a = 1', 'QUALIFY_REQUIRES_WINDOW_FUNCTION', None),
    ('SELECT b FROM t1 GROUP BY 3', 'GROUP_BY_POS_OUT_OF_RANGE', '3'),
    ('SELECT b FROM t1 ORDER BY 3', 'ORDER_BY_POS_OUT_OF_RANGE', '3'),
    ('SELECT * FROM t1 LIMIT -1', 'INVALID_LIMIT_LIKE_EXPRESSION.IS_NEGATIVE', '-1'),
    ('SELECT a, count(*) FROM t1 GROUP BY b', 'MISSING_AGGREGATION', None),
    ('SELECT * FROM t1 AS t(a,b)', 'ASSIGNMENT_ARITY_MISMATCH', 't1 AS t(a,b)'),
    ('SELECT * FROM tv LATERAL VIEW nofunc(arr) e AS x', 'ROUTINE_NOT_FOUND', 'LATERAL VIEW nofunc(arr) e AS x'),
    ('SHOW COLUMNS IN nope', 'TABLE_OR_VIEW_NOT_FOUND', 'nope'),
    ('SHOW PROCEDURES', 'MISSING_CATALOG_ABILITY.PROCEDURES', None),
    ('SHOW FOO', 'PARSE_SYNTAX_ERROR', None),
    ('CALL nope()', 'UNRESOLVED_ROUTINE', 'CALL nope()'),
    ('DESCRIBE nope', 'TABLE_OR_VIEW_NOT_FOUND', 'nope'),
    ('DESCRIBE TABLE t1 AS JSON', 'DESCRIBE_JSON_NOT_EXTENDED', None),
    ('DESCRIBE t1 PARTITION (p=1)', '_LEGACY_ERROR_TEMP_1251', None),
    ('CREATE TABLE x1 (a INT, b INT) USING parquet PARTITIONED BY (a, a)', 'COLUMN_ALREADY_EXISTS', None),
    ('CREATE TABLE x1 (a INT) USING parquet PARTITIONED BY (a, b INT)', '_LEGACY_ERROR_TEMP_0035', 'CREATE TABLE x1 (a INT) USING parquet PARTITIONED BY (a, b INT)'),
    ('CREATE TABLE x1 (a INT) USING parquet CLUSTERED BY (a) INTO 0 BUCKETS', 'INVALID_BUCKET_COUNT', None),
    ('CREATE TABLE x1 (a INT) USING parquet CLUSTERED BY (z) INTO 2 BUCKETS', 'COLUMN_NOT_DEFINED_IN_TABLE', None),
    ("CREATE TABLE x1 (a INT) USING parquet TBLPROPERTIES ('provider'='x')", 'UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY', "CREATE TABLE x1 (a INT) USING parquet TBLPROPERTIES ('provider'='x')"),
    ("CREATE TABLE x1 (a INT DEFAULT 'a') USING parquet", 'INVALID_DEFAULT_VALUE.DATA_TYPE', None),
    ('CREATE TABLE x1 (a INT DEFAULT (SELECT 1)) USING parquet', 'INVALID_DEFAULT_VALUE.SUBQUERY_EXPRESSION', None),
    ('CREATE TABLE x1 (a INT DEFAULT zz) USING parquet', 'INVALID_DEFAULT_VALUE.NOT_CONSTANT', None),
    ('CREATE TABLE x1 (a INT CHECK (a > 0)) USING parquet', 'UNSUPPORTED_FEATURE.TABLE_OPERATION', None),
    ('CREATE TABLE x1 (a INT, CHECK (a > 0) NOT ENFORCED) USING parquet', 'UNSUPPORTED_CONSTRAINT_CHARACTERISTIC', 'CHECK (a > 0) NOT ENFORCED'),
    ('CREATE TABLE x1 (a INT) STORED AS PARQUET', 'NOT_SUPPORTED_COMMAND_WITHOUT_HIVE_SUPPORT', None),
    ('CREATE TABLE `a b` (a INT) USING parquet', 'INVALID_SCHEMA_OR_RELATION_NAME', None),
    ('CREATE OR REPLACE VIEW v1 AS SELECT * FROM v1', 'RECURSIVE_VIEW', None),
    ('CREATE MATERIALIZED VIEW mv AS SELECT 1', 'UNSUPPORTED_FEATURE.CREATE_PIPELINE_DATASET_QUERY_EXECUTION', None),
    ('CREATE VIEW t1 AS SELECT 1', 'TABLE_OR_VIEW_ALREADY_EXISTS', None),
    ('INSERT INTO nope VALUES (1)', 'TABLE_OR_VIEW_NOT_FOUND', 'nope'),
    ("INSERT INTO v1 VALUES (1,'a')", 'EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE', 'v1'),
    ('UPDATE t1 SET zz = 1', 'UNRESOLVED_COLUMN.WITH_SUGGESTION', 'zz = 1'),
    ('UPDATE t1 SET a = 1', 'UNSUPPORTED_FEATURE.TABLE_OPERATION', None),
    ('DELETE FROM t1 WHERE a = 1', 'UNSUPPORTED_FEATURE.TABLE_OPERATION', None),
    ('MERGE INTO t1 USING tv ON t1.a = tv.zz WHEN MATCHED THEN DELETE', 'UNRESOLVED_COLUMN.WITH_SUGGESTION', 'tv.zz'),
    ('ALTER TABLE v1 ADD COLUMN h INT', 'EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE', 'v1'),
    ('ALTER VIEW v1 AS SELECT * FROM v1', 'RECURSIVE_VIEW', None),
    ('ALTER TABLE t1 ADD PARTITION (p=1)', '_LEGACY_ERROR_TEMP_1251', None),
    ("ALTER TABLE t1 SET SERDE 'x'", 'UNSUPPORTED_FEATURE.ALTER_TABLE_SERDE_FOR_DATASOURCE_TABLE', None),
    ('ANALYZE TABLE v1 COMPUTE STATISTICS', 'UNSUPPORTED_FEATURE.ANALYZE_VIEW', None),
    ("LOAD DATA INPATH 'x' INTO TABLE t1", '_LEGACY_ERROR_TEMP_1261', None),
    ('SELECT * FROM t1 VERSION AS OF 1', 'UNSUPPORTED_FEATURE.TIME_TRAVEL', None),
    ('SELECT * FROM t1 TIMESTAMP AS OF a', '_LEGACY_ERROR_TEMP_0056', 'TIMESTAMP AS OF a'),
    ('SELECT * FROM nope VERSION AS OF 1', 'TABLE_OR_VIEW_NOT_FOUND', 'nope'),
    ('SELECT :x', 'UNBOUND_SQL_PARAMETER', ':x'),
    ('SELECT ?', 'UNBOUND_SQL_PARAMETER', '?'),
    ('SELECT IDENTIFIER(1)', 'NOT_A_CONSTANT_STRING.WRONG_TYPE', '1'),
    ("EXECUTE IMMEDIATE 'SELECT :x' USING 1", 'ALL_PARAMETERS_MUST_BE_NAMED', None),
    ('SELECT a x, sum(x) OVER () FROM t1', 'UNSUPPORTED_FEATURE.LATERAL_COLUMN_ALIAS_IN_WINDOW', None),
    ('SELECT * FROM t1 JOIN tv ON sum(a) = 1', 'UNSUPPORTED_EXPR_FOR_OPERATOR', 'JOIN tv ON sum(a) = 1'),
    ('SELECT a FROM t1 GROUP BY GROUPING SETS (())', 'MISSING_GROUP_BY', 'GROUP BY GROUPING SETS (())'),
    ('DROP TEMPORARY FUNCTION abs', 'FORBIDDEN_OPERATION', None),
    ("CREATE TEMPORARY FUNCTION a.f1 AS 'x'", 'INVALID_TEMP_OBJ_QUALIFIER', "CREATE TEMPORARY FUNCTION a.f1 AS 'x'"),
]


@pytest.fixture(scope="module")
def prepared(server):
    from pyspark.sql import SparkSession

    session = SparkSession.builder.remote(server.url).create()
    for statement in SETUP:
        session.sql(statement).collect()
    yield session
    session.sql("USE default").collect()
    session.sql("DROP DATABASE conditions CASCADE").collect()
    session.stop()


@pytest.mark.parametrize("statement, condition, fragment", CASES, ids=[case[0] for case in CASES])
def test_a_wrong_statement(prepared, statement, condition, fragment):
    with pytest.raises(PySparkException) as error:
        prepared.sql(statement).collect()
    assert error.value.getCondition() == condition
    contexts = [c.fragment() for c in error.value.getQueryContext() or []]
    assert contexts == ([fragment] if fragment else [])


def test_syntax_errors_show_the_line(prepared):
    with pytest.raises(PySparkException) as error:
        prepared.sql("SELECT a\nFROM t1 WHER x").collect()
    assert error.value.getCondition() == "PARSE_SYNTAX_ERROR"
    assert "(line 2, pos 13)" in str(error.value) and "-------------^^^" in str(error.value)


def test_fields_of_structs_are_left_out(prepared):
    frame = prepared.sql("SELECT * EXCEPT (s.x) FROM (SELECT 1 AS id, named_struct('x', 1, 'y', 2) AS s)")
    assert frame.schema.simpleString() == "struct<id:int,s:struct<y:int>>"
    assert [tuple(row) for row in frame.collect()] == [(1, (2,))]


def test_group_keys_are_the_same_in_any_order(prepared):
    rows = prepared.sql("SELECT sum(b) s FROM VALUES (1, 2), (3, 4) t(a, b) GROUP BY a + 1 ORDER BY 1 + a").collect()
    assert [row.s for row in rows] == [2, 4]


def test_not_of_in_minds_nulls(prepared):
    prepared.sql("CREATE OR REPLACE TEMP VIEW s1 AS SELECT * FROM VALUES (null), (5), (8), (11) AS s(a)")
    prepared.sql("CREATE OR REPLACE TEMP VIEW s2 AS SELECT * FROM VALUES (7), (8), (11), (null) AS s(c)")
    for operator, subquery, kept in [
        ("OR", "IN", []),
        ("OR", "NOT IN", []),
        ("AND", "IN", [5]),
        ("AND", "NOT IN", [5, 8, 11]),
    ]:
        rows = prepared.sql(f"SELECT * FROM s1 WHERE NOT (a > 5 {operator} a {subquery} (SELECT c FROM s2)) ORDER BY a")
        assert [row.a for row in rows.collect()] == kept, (operator, subquery)


def test_handlers_end_their_block(prepared):
    script = "BEGIN DECLARE EXIT HANDLER FOR {} BEGIN SELECT 'caught' AS x; END; SELECT 1/0; SELECT 2 AS x; END"
    for condition in ("SQLEXCEPTION", "DIVIDE_BY_ZERO", "SQLSTATE '22012'"):
        assert prepared.sql(script.format(condition)).collect()[0].x == "caught"
    with pytest.raises(PySparkException) as error:
        prepared.sql(script.format("CAST_INVALID_INPUT")).collect()
    assert error.value.getCondition() == "DIVIDE_BY_ZERO"


def test_steps_of_a_recursion_have_random_values_of_their_own(prepared):
    query = "WITH RECURSIVE r(v) AS (SELECT CAST(floor(rand(82374) * 5 + 1) AS INT) UNION ALL " \
        "SELECT CAST(floor(rand(237685) * 5 + 1) AS INT) FROM r) SELECT v FROM r LIMIT 5"
    assert [row.v for row in prepared.sql(query).collect()] == [1, 3, 5, 4, 4]


def test_grouping_id_without_parentheses(prepared):
    frame = prepared.sql("SELECT a, grouping__id, grouping__id + 1 FROM VALUES (1) t(a) GROUP BY CUBE(a)")
    assert frame.columns == ["a", "grouping__id", "(grouping_id() + 1)"]


def test_calls_over_keys_of_grouping_sets_may_be_null(prepared):
    query = "SELECT (x + y) * 1 AS k, sum(z) FROM (SELECT 1 AS x, 2 AS y, 3 AS z) GROUP BY GROUPING SETS (x + y, x)"
    assert sorted(str(row.k) for row in prepared.sql(query).collect()) == ["3", "None"]


def test_positions_of_columns_that_keys_need(prepared):
    prepared.conf.set("spark.sql.prioritizeOrdinalResolutionInSort.enabled", "false")
    try:
        rows = prepared.sql("SELECT a FROM VALUES (1, 5), (2, 4) t(a, b) ORDER BY b, 2").collect()
    finally:
        prepared.conf.unset("spark.sql.prioritizeOrdinalResolutionInSort.enabled")
    assert [row.a for row in rows] == [2, 1]


def test_respect_nulls_is_what_aggregates_do(prepared):
    assert prepared.sql("SELECT sum(x) RESPECT NULLS FROM VALUES (1), (2) t(x)").collect()[0][0] == 3


def test_long_sums(prepared):
    total = prepared.sql("SELECT " + "+".join(["id"] * 1000) + " FROM range(1, 2)").collect()[0][0]
    assert total == 1000
