"""Makes requests of many kinds with PySpark, and keeps what it sends."""

import grpc
from pyspark.errors import PySparkException
from pyspark.sql.connect import functions as F
from pyspark.sql.connect.window import Window
from pyspark.sql.connect.client import DefaultChannelBuilder
from pyspark.sql.connect.session import SparkSession

from server import Server


class Recorder(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor, grpc.StreamUnaryClientInterceptor):
    """Keeps the bytes of all requests."""

    def __init__(self):
        self.seeds = []

    def _keep(self, details, request):
        method = details.method.rsplit("/", 1)[-1]
        data = request.SerializeToString()
        if len(data) < 20_000 and sum(m == method for m, _ in self.seeds) < 400:
            self.seeds.append((method, data))
        return request

    def intercept_unary_unary(self, call, details, request):
        return call(details, self._keep(details, request))

    def intercept_unary_stream(self, call, details, request):
        return call(details, self._keep(details, request))

    def intercept_stream_unary(self, call, details, requests):
        return call(details, (self._keep(details, r) for r in requests))


STATEMENTS = """
SELECT id, id % 3 AS k FROM range(10) WHERE id > 2 ORDER BY id DESC LIMIT 5
SELECT k, count(*), sum(id) FROM (SELECT id, id % 3 AS k FROM range(10)) GROUP BY k HAVING count(*) > 1
SELECT *, row_number() OVER (PARTITION BY id % 2 ORDER BY id) FROM range(10)
WITH a AS (SELECT id FROM range(3)) SELECT * FROM a JOIN range(5) b USING (id)
SELECT id FROM range(3) WHERE EXISTS (SELECT 1 FROM range(2) b WHERE b.id = id)
SELECT explode(array(1, 2, 3)), map('a', 1), named_struct('x', 1.5, 'y', DATE'2024-02-29')
SELECT CAST('1' AS INT), CAST(1 AS STRING), TIMESTAMP'2024-01-01 00:00:00', INTERVAL '1' DAY
SELECT transform(array(1, 2), x -> x + 1), aggregate(array(1, 2), 0, (a, b) -> a + b)
VALUES (1, 'a'), (2, NULL)
SELECT 1 UNION ALL SELECT 2 EXCEPT SELECT 3
SELECT * FROM VALUES (1, 2) AS t(a, b) PIVOT (sum(b) FOR a IN (1, 2))
SHOW TABLES
SHOW FUNCTIONS LIKE 'a*'
DESCRIBE FUNCTION abs
EXPLAIN SELECT 1
SET spark.sql.ansi.enabled
CREATE OR REPLACE TEMPORARY VIEW v AS SELECT 1 AS a
FROM range(10) |> WHERE id > 5 |> AGGREGATE count(*)
""".strip().splitlines()


def frames(spark):
    """Frames whose plans hold every kind of relation and expression that PySpark makes."""
    base = spark.range(20).withColumn("k", F.col("id") % 3).withColumn("s", F.concat(F.lit("x"), F.col("id")))
    local = spark.createDataFrame([(1, "a", [1, 2], {"m": 1.5}), (2, None, None, None)], "id INT, n STRING, l ARRAY<INT>, m MAP<STRING, DOUBLE>")
    window = Window.partitionBy("k").orderBy("id").rowsBetween(-1, Window.currentRow)
    yield from (base, local, base.select("*", F.sum("id").over(window), F.lag("id", 1).over(Window.orderBy("id"))))
    yield base.groupBy("k").agg(F.sum("id"), F.count_distinct("s"), F.collect_list("id"), F.max_by("s", "id"))
    yield base.rollup("k").count()
    yield base.cube("k", "s").agg(F.grouping("k"))
    yield base.groupBy("k").pivot("k", [0, 1]).sum("id")
    yield base.unpivot(["id"], ["k"], "name", "value")
    yield from (base.join(local, base.id == local.id, how) for how in ("inner", "left", "full", "left_semi", "left_anti"))
    yield from (base.crossJoin(local), base.join(local, "id"), base.alias("a").join(base.alias("b"), F.col("a.id") == F.col("b.k")))
    yield from (base.union(base), base.unionByName(base), base.intersect(base), base.exceptAll(base), base.distinct())
    yield from (base.dropDuplicates(["k"]), base.orderBy(F.desc("id")), base.sortWithinPartitions("k"), base.limit(3), base.offset(2))
    yield from (base.sample(0.5, 7), base.repartition(3), base.repartition(2, "k"), base.coalesce(1), base.hint("broadcast"))
    yield from (base.drop("k"), base.withColumnRenamed("k", "z"), base.toDF("a", "b", "c"), base.to(base.schema), base.withColumns({"u": F.lit(1)}))
    yield from (local.na.fill(0), local.na.drop(), local.na.replace("a", "b"), base.summary(), base.describe(), base.crosstab("k", "id"))
    yield from (base.freqItems(["k"]), base.sampleBy("k", {0: 0.5}, 3), base.transpose(), base.observe("o", F.count("*")), base.randomSplit([0.5, 0.5], 1)[0])
    yield from (local.select(F.explode("l")), local.select(F.inline(F.array(F.struct("id", "n")))), local.select(F.col("m")["m"], F.col("l")[0]))
    yield local.select(F.transform("l", lambda x: x + 1), F.filter("l", lambda x: x > 1), F.map_filter("m", lambda k, v: v > 1))
    yield base.select(F.when(F.col("id") > 3, "a").otherwise("b"), F.expr("id + 1"), F.col("id").cast("string"), F.col("id").try_cast("int"))
    yield base.select(F.lit(None), F.lit(b"x"), F.lit(1.5), F.lit([1, 2]), F.to_timestamp(F.lit("2024-01-01")), F.current_date(), F.rand(3))
    yield base.select(F.struct("id", "k").alias("t")).select(F.col("t").withField("z", F.lit(1)), F.col("t").dropFields("k"), "t.*")
    yield base.filter(F.col("id").isin(1, 2) & F.col("s").like("x%") | ~F.col("k").between(1, 2) | F.col("s").rlike("x.*"))
    yield base.select(F.regexp_replace("s", "x", "y"), F.split("s", "x"), F.date_format(F.current_timestamp(), "yyyy"), F.from_json(F.lit("{}"), "a INT"))
    yield base.select(base.colRegex("`i.*`"), F.call_function("abs", "id"), F.hash("id"), F.greatest("id", "k"), F.date_add(F.current_date(), 1))
    yield from (spark.sql(text) for text in STATEMENTS)
    yield spark.sql("SELECT :a AS x", args={"a": 1})
    yield spark.sql("SELECT * FROM {b}", b=base)
    yield from (base.localCheckpoint(), base.localCheckpoint(False), base.cache(), spark.read.schema("a INT").format("csv").load("/nowhere"))
    yield from (spark.tvf.range(3), spark.tvf.explode(F.array(F.lit(1))), base.lateralJoin(spark.tvf.explode(F.array(F.lit(1)))))
    yield base.filter(base.id == local.select("id").where("id > 1").scalar())


def questions(spark, frame):
    """All that is asked of a frame."""
    yield from (lambda: frame.schema, lambda: frame.collect(), lambda: frame.show(3), lambda: frame.explain(True), lambda: frame.isLocal())
    yield from (lambda: frame.semanticHash(), lambda: frame.sameSemantics(frame), lambda: frame.storageLevel, lambda: frame._show_string(2, 3, True))
    yield from (lambda: frame.createOrReplaceTempView("v"), lambda: frame.tail(2), lambda: frame.toPandas(), lambda: frame.isStreaming, lambda: frame.unpersist())


def others(spark):
    yield from (lambda: spark.conf.set("spark.x", "1"), lambda: spark.conf.get("spark.sql.ansi.enabled"), lambda: spark.conf.unset("spark.x"))
    yield from (lambda: spark.conf.getAll, lambda: spark.conf.isModifiable("spark.x"), lambda: spark.version, lambda: spark.catalog.listTables())
    yield from (lambda: spark.catalog.listFunctions(), lambda: spark.catalog.tableExists("v"), lambda: spark.catalog.listColumns("v"), lambda: spark.catalog.currentDatabase())
    yield from (lambda: spark.catalog.dropTempView("v"), lambda: spark.interruptAll(), lambda: spark.interruptTag("t"), lambda: spark.interruptOperation("x"))
    yield from (lambda: spark.addArtifacts(__file__, pyfile=True), lambda: spark.client._analyze("ddl_parse", ddl_string="a INT"), lambda: spark.cloneSession().stop())
    yield from (lambda: spark.client.copy_from_local_to_fs(__file__, "/nowhere/x"), lambda: spark.addTag("t"), lambda: spark.range(3).count())


def capture() -> list:
    recorder = Recorder()
    with Server() as server:
        builder = DefaultChannelBuilder(server.url)
        builder.add_interceptor(recorder)
        spark = SparkSession(connection=builder)
        made = []
        try:
            for frame in frames(spark):
                made.append(frame)
        except (PySparkException, AttributeError, TypeError) as error:
            print("frames end early:", str(error)[:200])
        for frame in made:
            for question in questions(spark, frame) if hasattr(frame, "collect") else ():
                attempt(question)
        for question in others(spark):
            attempt(question)
        spark.stop()
    return recorder.seeds


def attempt(question) -> None:
    try:
        question()
    except Exception as error:  # noqa: BLE001: what the server refuses is a seed all the same
        print(type(error).__name__, str(error)[:100].replace("\n", " "))
