"""A tour of the everyday API that any client from 3.5 on can take.

    python job.py sc://127.0.0.1:15002 FOLDER

Runs each step against the server and prints one line for it, then the client's
version. FOLDER is for files. Exits with 1 if a step failed. It is a program and
not a test, since each client needs a process of its own (see test_versions.py).
"""

import contextlib
import datetime
import decimal
import io
import sys
import traceback

import pyspark
from pyspark.errors import AnalysisException, ParseException, PySparkException, PythonException
from pyspark.sql import Row, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, IntegerType, MapType, StringType, StructField, StructType

VERSION = tuple(int(part) for part in pyspark.__version__.split(".")[:2])
STEPS = []


def step(since):
    """Registers a step that clients have from version `since` on."""

    def register(function):
        if VERSION >= since:
            STEPS.append(function)
        return function

    return register


def equal(got, expected):
    assert got == expected, f"{got!r}, expected {expected!r}"


def rows(frame):
    return [tuple(row) for row in frame.collect()]


def people(spark):
    data = [(1, "Ann", 30, "a"), (2, "Bob", None, "a"), (3, "Cid", 25, "b")]
    return spark.createDataFrame(data, "id INT, name STRING, age INT, team STRING")


@step((3, 5))
def range_and_schema(spark, folder):
    frame = spark.range(1, 7, 2)
    equal(rows(frame), [(1,), (3,), (5,)])
    equal(frame.schema.simpleString(), "struct<id:bigint>")
    equal(frame.count(), 3)
    equal(spark.range(0).collect(), [])


@step((3, 5))
def sql_text(spark, folder):
    frame = spark.sql("SELECT 1 AS a, 'x' AS b, 1.5 AS c, NULL AS d, DATE'2024-02-29' AS e, array(1, 2) AS f")
    equal(rows(frame), [(1, "x", decimal.Decimal("1.5"), None, datetime.date(2024, 2, 29), [1, 2])])
    equal(rows(spark.sql("SELECT :n + 1 AS m", args={"n": 41})), [(42,)])


@step((4, 0))
def sql_over_a_frame(spark, folder):
    equal(rows(spark.sql("SELECT count(*) AS n FROM {frame}", frame=people(spark))), [(3,)])
    equal(rows(spark.sql("SELECT ? AS a, ? AS b", args=[1, "x"])), [(1, "x")])


@step((3, 5))
def create_data_frame(spark, folder):
    equal(rows(people(spark).orderBy("id"))[1], (2, "Bob", None, "a"))
    equal(rows(spark.createDataFrame([Row(a=1, b=2.5)])), [(1, 2.5)])
    equal(spark.createDataFrame([{"a": 1}]).columns, ["a"])
    schema = StructType(
        [
            StructField("list", ArrayType(IntegerType())),
            StructField("map", MapType(StringType(), IntegerType())),
            StructField("at", StructType([StructField("x", IntegerType())])),
        ]
    )
    frame = spark.createDataFrame([([1, None], {"k": 2}, Row(x=3))], schema)
    equal(rows(frame), [([1, None], {"k": 2}, Row(x=3))])
    equal(rows(frame.select("at.x", F.col("map")["k"], F.size("list"))), [(3, 2, 2)])
    equal(spark.createDataFrame([], "a INT").count(), 0)


@step((3, 5))
def pandas(spark, folder):
    import pandas

    data = pandas.DataFrame({"i": [1, 2], "s": ["x", None], "f": [0.5, 1.5]})
    frame = spark.createDataFrame(data)
    equal(frame.schema.simpleString(), "struct<i:bigint,s:string,f:double>")
    back = frame.toPandas()
    equal([str(kind) for kind in back.dtypes], ["int64", "object", "float64"])
    equal(back["i"].tolist(), [1, 2])
    equal(back["s"].tolist(), ["x", None])
    equal(spark.range(3).filter("id > 5").toPandas().shape, (0, 1))


@step((3, 5))
def large_local_data(spark, folder):
    import pandas

    # Large enough that the client sends it as artifacts, since 4.1 in chunks.
    data = pandas.DataFrame({"i": range(300_000), "s": ["text of some length"] * 300_000})
    equal(rows(spark.createDataFrame(data).agg(F.count("s"), F.sum("i"))), [(300_000, 44_999_850_000)])


@step((4, 0))
def arrow(spark, folder):
    import pyarrow

    frame = spark.createDataFrame(pyarrow.table({"a": [1, 2], "b": ["x", None]}))
    equal(frame.toArrow().to_pydict(), {"a": [1, 2], "b": ["x", None]})


@step((3, 5))
def expressions(spark, folder):
    frame = people(spark).select(
        F.upper("name").alias("u"),
        F.when(F.col("age") > 26, "old").otherwise("young").alias("w"),
        F.coalesce("age", F.lit(0)).alias("c"),
        F.expr("id * 2").alias("d"),
        F.col("id").cast("string").alias("t"),
    )
    equal(rows(frame.orderBy("d")), [("ANN", "old", 30, 2, "1"), ("BOB", "young", 0, 4, "2"), ("CID", "young", 25, 6, "3")])
    changed = people(spark).withColumn("n", F.length("name")).withColumnRenamed("team", "t").drop("age")
    equal(changed.columns, ["id", "name", "t", "n"])
    equal(people(spark).na.fill({"age": 1}).filter("age = 1").count(), 1)
    equal(people(spark).where(F.col("name").like("%i%")).select("id").first()[0], 3)


@step((3, 5))
def joins(spark, folder):
    teams = spark.createDataFrame([("a", "Red"), ("c", "Blue")], "team STRING, colour STRING")
    frame = people(spark)
    equal(rows(frame.join(teams, "team").select("id", "colour").orderBy("id")), [(1, "Red"), (2, "Red")])
    equal(rows(frame.join(teams, frame.team == teams.team, "left_anti").select("id")), [(3,)])
    equal(frame.join(teams, "team", "full").count(), 4)
    equal(frame.crossJoin(teams).count(), 6)


@step((3, 5))
def groups(spark, folder):
    frame = people(spark).groupBy("team").agg(F.count("*").alias("n"), F.avg("age").alias("m"), F.max("name"))
    equal(rows(frame.orderBy("team")), [("a", 2, 30.0, "Bob"), ("b", 1, 25.0, "Cid")])
    equal(rows(people(spark).groupBy("team").pivot("id", [1, 3]).sum("age").orderBy("team")), [("a", 30, None), ("b", None, 25)])
    equal(people(spark).rollup("team").count().count(), 3)
    equal(rows(people(spark).agg({"age": "max"})), [(30,)])


@step((3, 5))
def windows(spark, folder):
    window = Window.partitionBy("team").orderBy(F.desc("id"))
    frame = people(spark).select("id", F.row_number().over(window).alias("r"), F.lag("id").over(window).alias("l"))
    equal(rows(frame.orderBy("id")), [(1, 2, 2), (2, 1, None), (3, 1, None)])


@step((3, 5))
def sets_and_order(spark, folder):
    frame = spark.range(3)
    equal(rows(frame.union(frame).distinct().orderBy(F.desc("id"))), [(2,), (1,), (0,)])
    equal(rows(frame.exceptAll(spark.range(2))), [(2,)])
    equal(rows(frame.intersect(spark.range(1, 5)).orderBy("id")), [(1,), (2,)])
    equal(rows(frame.unionByName(spark.range(1).withColumn("x", F.lit(1)), allowMissingColumns=True).filter("x = 1")), [(0, 1)])
    equal(len(frame.take(2)), 2)
    equal([row.id for row in frame.sort("id").tail(1)], [2])


@step((3, 5))
def files(spark, folder):
    path = f"{folder}/people"
    people(spark).write.mode("overwrite").partitionBy("team").parquet(path)
    back = spark.read.parquet(path)
    equal(back.columns, ["id", "name", "age", "team"])
    equal(rows(back.orderBy("id"))[0], (1, "Ann", 30, "a"))
    people(spark).write.mode("overwrite").option("header", True).csv(f"{folder}/csv")
    text = spark.read.option("header", True).option("inferSchema", True).csv(f"{folder}/csv")
    equal(text.schema.simpleString(), "struct<id:int,name:string,age:int,team:string>")
    people(spark).write.json(f"{folder}/json")
    equal(spark.read.json(f"{folder}/json").count(), 3)
    try:
        people(spark).write.parquet(path)
    except AnalysisException:
        pass
    else:
        raise AssertionError("a path that exists was written over")


@step((3, 5))
def views_and_catalog(spark, folder):
    people(spark).createOrReplaceTempView("people")
    equal(rows(spark.sql("SELECT count(*) FROM people WHERE age IS NULL")), [(1,)])
    equal(spark.table("people").count(), 3)
    assert "people" in [table.name for table in spark.catalog.listTables()]
    equal([column.name for column in spark.catalog.listColumns("people")], ["id", "name", "age", "team"])
    equal(spark.catalog.tableExists("people"), True)
    equal(spark.catalog.currentDatabase(), "default")
    equal(spark.catalog.dropTempView("people"), True)
    equal(spark.catalog.tableExists("people"), False)


@step((3, 5))
def settings(spark, folder):
    equal(spark.conf.get("spark.sql.session.timeZone") != "", True)
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    equal(rows(spark.sql("SELECT current_timezone()")), [("Asia/Tokyo",)])
    spark.conf.unset("spark.sql.session.timeZone")
    equal(spark.conf.get("no.such.key", "fallback"), "fallback")
    equal(spark.conf.isModifiable("spark.sql.shuffle.partitions"), True)


@step((3, 5))
def errors(spark, folder):
    def check(action, kind, condition, state):
        try:
            action()
        except kind as error:
            assert f"[{condition}]" in str(error), str(error)
            # 3.5 has neither for what a server says.
            if VERSION >= (4, 0):
                equal((getattr(error, "getCondition", error.getErrorClass)(), error.getSqlState()), (condition, state))
        else:
            raise AssertionError(f"no {kind.__name__}")

    check(lambda: spark.range(1).select("nope").collect(), AnalysisException, "UNRESOLVED_COLUMN.WITH_SUGGESTION", "42703")
    check(lambda: spark.sql("SELEC 1").collect(), ParseException, "PARSE_SYNTAX_ERROR", "42601")
    check(lambda: spark.table("nowhere").collect(), AnalysisException, "TABLE_OR_VIEW_NOT_FOUND", "42P01")


@step((3, 5))
def show(spark, folder):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        spark.sql("SELECT 1 AS a, 'long text' AS b").show(truncate=5)
        spark.range(1).printSchema()
    equal(
        out.getvalue(),
        "+---+-----+\n|  a|    b|\n+---+-----+\n|  1|lo...|\n+---+-----+\n\n"
        "root\n |-- id: long (nullable = false)\n\n",
    )


@step((3, 5))
def python_functions(spark, folder):
    frame = people(spark)
    shout = F.udf(lambda name, times: name.upper() * times, "string")
    equal(rows(frame.select(shout("name", "id")).orderBy("id")), [("ANN",), ("BOBBOB",), ("CIDCIDCID",)])
    spark.udf.register("plus", lambda a, b: a + b, "int")
    equal(rows(spark.sql("SELECT plus(40, 2)")), [(42,)])
    try:
        frame.select(F.udf(lambda i: 1 // (i - i), "int")("id")).collect()
    except PythonException as error:
        assert "ZeroDivisionError" in str(error), str(error)
    else:
        raise AssertionError("a function that fails has a result")


@step((3, 5))
def pandas_functions(spark, folder):
    import pandas

    frame = people(spark)

    @F.pandas_udf("double")
    def half(numbers: pandas.Series) -> pandas.Series:
        return numbers / 2

    @F.pandas_udf("double")
    def middle(numbers: pandas.Series) -> float:
        return numbers.median()

    equal(rows(frame.select(half("id")).orderBy("id")), [(0.5,), (1.0,), (1.5,)])
    equal(rows(frame.groupBy("team").agg(middle("id")).orderBy("team")), [("a", 1.5), ("b", 3.0)])

    def doubled(batches):
        for batch in batches:
            yield batch[["id"]] * 2

    equal(rows(frame.mapInPandas(doubled, "id INT").orderBy("id")), [(2,), (4,), (6,)])


# What 3.5 sends for groups, workers of 4.2 do not take.
@step((4, 0))
def pandas_functions_of_groups(spark, folder):
    def last(group):
        return group.sort_values("id").tail(1)[["team", "id"]]

    frame = people(spark).groupBy("team").applyInPandas(last, "team STRING, id INT")
    equal(rows(frame.orderBy("team")), [("a", 2), ("b", 3)])


@step((3, 5))
def python_table_functions(spark, folder):
    @F.udtf(returnType="n INT, square INT")
    class Squares:
        def eval(self, start: int, stop: int):
            for n in range(start, stop):
                yield n, n * n

    equal(rows(Squares(F.lit(1), F.lit(4))), [(1, 1), (2, 4), (3, 9)])


@step((3, 5))
def tables(spark, folder):
    spark.sql("DROP DATABASE IF EXISTS tour CASCADE")
    spark.sql(f"CREATE DATABASE tour LOCATION '{folder}/tour'")
    people(spark).write.saveAsTable("tour.people")
    people(spark).filter("id = 1").write.insertInto("tour.people")
    spark.sql("INSERT INTO tour.people VALUES (9, 'Zoe', 99, 'c')")
    equal(rows(spark.table("tour.people").agg(F.count("*"), F.sum("id"))), [(5, 16)])
    equal([row.tableName for row in spark.sql("SHOW TABLES IN tour").collect()], ["people"])
    equal(spark.catalog.getTable("tour.people").tableType, "MANAGED")
    equal(spark.catalog.databaseExists("tour"), True)
    people(spark).writeTo("tour.copy").using("parquet").create()
    equal(spark.table("tour.copy").count(), 3)
    spark.sql("CREATE VIEW tour.old AS SELECT name FROM tour.people WHERE age > 50")
    equal(rows(spark.table("tour.old")), [("Zoe",)])
    spark.sql("DROP DATABASE tour CASCADE")
    equal(spark.catalog.databaseExists("tour"), False)


@step((3, 5))
def frames_reshaped(spark, folder):
    frame = people(spark)
    equal(rows(frame.select(F.explode(F.sequence(F.lit(1), "id")).alias("n")).groupBy("n").count().orderBy("n")), [(1, 3), (2, 2), (3, 1)])
    equal(rows(frame.unpivot("id", ["name", "team"], "k", "v").orderBy("id", "k").limit(2)), [(1, "name", "Ann"), (1, "team", "a")])
    equal(rows(frame.na.drop().select("id").orderBy("id")), [(1,), (3,)])
    equal(rows(frame.replace("Ann", "Eve", "name").filter("id = 1").select("name")), [("Eve",)])
    equal(frame.dropDuplicates(["team"]).count(), 2)
    equal([tuple(row) for row in frame.describe("id").collect()][:2], [("count", "3"), ("mean", "2.0")])
    equal(frame.approxQuantile("id", [0.5], 0.0), [2.0])
    equal(frame.crosstab("team", "id").count(), 2)
    equal(rows(frame.select(F.from_json(F.lit('{"a": [1, 2]}'), "a ARRAY<INT>").alias("j")).select("j.a").limit(1)), [([1, 2],)])
    equal(rows(frame.withColumns({"x": F.col("id") + 1, "y": F.lit("z")}).select("x", "y").limit(1).orderBy("x")), [(2, "z")])
    equal(frame.hint("broadcast").repartition(2, "team").count(), 3)


@step((3, 5))
def dates_and_decimals(spark, folder):
    at = datetime.datetime(2024, 2, 29, 12, 30)
    frame = spark.createDataFrame([(at, at.date(), decimal.Decimal("12.345"))], "at TIMESTAMP, day DATE, sum DECIMAL(10,3)")
    equal(rows(frame), [(at, at.date(), decimal.Decimal("12.345"))])
    equal(
        rows(frame.select(F.date_add("day", 1), F.month("at"), F.date_format("at", "yyyy/MM"), F.round("sum", 1))),
        [(datetime.date(2024, 3, 1), 2, "2024/02", decimal.Decimal("12.3"))],
    )
    equal(rows(spark.sql("SELECT DATE'2024-03-01' - DATE'2024-02-01'")), [(datetime.timedelta(days=29),)])


@step((3, 5))
def errors_of_values(spark, folder):
    for text, condition in [
        ("1 / (id - id)", "DIVIDE_BY_ZERO"),
        ("CAST('x' AS INT)", "CAST_INVALID_INPUT"),
        ("array(1)[3]", "INVALID_ARRAY_INDEX"),
        ("raise_error('boom')", "USER_RAISED_EXCEPTION"),
    ]:
        try:
            spark.range(1).selectExpr(text).collect()
        except PySparkException as error:
            assert f"[{condition}]" in str(error), str(error)
        else:
            raise AssertionError(f"{text} has a result")


@step((3, 5))
def observed_frames(spark, folder):
    from pyspark.sql import Observation

    seen = Observation("seen")
    equal(people(spark).observe(seen, F.count(F.lit(1)).alias("n"), F.max("id").alias("most")).count(), 3)
    if VERSION >= (4, 0):
        equal(seen.get, {"n": 3, "most": 3})


@step((3, 5))
def streams_of_rows(spark, folder):
    equal(sum(row.id for row in spark.range(1000).toLocalIterator()), 499_500)
    equal([row.id for row in spark.range(5).repartition(2).sortWithinPartitions("id").sort("id").head(2)], [0, 1])
    equal(spark.range(10).sample(1.0, seed=1).count(), 10)
    equal(len(spark.range(10).randomSplit([0.5, 0.5], seed=1)), 2)


@step((3, 5))
def kept_frames(spark, folder):
    frame = spark.range(10).cache()
    equal(frame.count(), 10)
    equal(frame.is_cached, True)
    equal(frame.unpersist().is_cached, False)


@step((4, 0))
def checkpoints(spark, folder):
    frame = spark.range(50).withColumn("r", F.rand()).localCheckpoint()
    equal(frame.collect(), frame.collect())
    equal(frame.filter("id < 5").count(), 5)


@step((4, 0))
def subqueries(spark, folder):
    most = spark.range(5).agg(F.max("id"))
    equal(rows(spark.range(10).filter(F.col("id") > most.scalar()).agg(F.min("id"))), [(5,)])


@step((4, 0))
def transpose(spark, folder):
    frame = spark.createDataFrame([("a", 1, 2), ("b", 3, 4)], "k STRING, x INT, y INT").transpose()
    equal(frame.columns, ["key", "a", "b"])
    equal(rows(frame.orderBy("key")), [("x", 1, 3), ("y", 2, 4)])


@step((3, 5))
def tags_and_version(spark, folder):
    assert spark.version.count(".") == 2
    spark.addTag("tour")
    equal(spark.getTags(), {"tour"})
    equal(spark.range(1).count(), 1)
    spark.removeTag("tour")
    equal(list(spark.interruptTag("tour")), [])


def main():
    url, folder = sys.argv[1:]
    failed = 0
    # One session for all: with 4.0, nothing can be released after a session has stopped.
    spark = SparkSession.builder.remote(url).getOrCreate()
    for function in STEPS:
        try:
            function(spark, folder)
            print(f"ok {function.__name__}", flush=True)
        except Exception:
            failed += 1
            text = "\n    ".join(traceback.format_exc().splitlines())
            print(f"failed {function.__name__}\n    {text}", flush=True)
    print(f"client {pyspark.__version__}: {len(STEPS) - failed} of {len(STEPS)} steps passed", flush=True)
    spark.stop()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
