"""A tour: a PySpark session on TPC-H data, against a Firesteel server on a free port.

    python examples/tour.py --server target/release/firesteel

Generates the TPC-H tables at a small scale factor, then reads, joins,
aggregates, runs SQL, writes, reads back and checkpoints, printing each step.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "python"))
from server import Server  # noqa: E402


def generate(folder: Path, scale: str) -> None:
    tool = Path(sys.executable).with_name("tpchgen-cli")
    subprocess.run(
        [str(tool), "parquet", "-s", scale, "--output-dir", str(folder), "--quiet"],
        check=True,
    )


class Steps:
    def __init__(self) -> None:
        self.start = time.monotonic()

    def __call__(self, title: str) -> None:
        print(f"\n[{time.monotonic() - self.start:6.2f} s] {title}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", help="the firesteel binary (default: the release build)")
    parser.add_argument("--scale", default="0.1", help="TPC-H scale factor (default 0.1, about 30 MB)")
    arguments = parser.parse_args()

    work = Path(tempfile.mkdtemp(prefix="firesteel-tour-"))
    step = Steps()
    step(f"Generating TPC-H, scale factor {arguments.scale}, as Parquet")
    generate(work / "tpch", arguments.scale)

    step("Starting the server and connecting with PySpark")
    with Server(path=arguments.server) as server:
        from pyspark.sql import SparkSession
        from pyspark.sql import functions as F

        spark = SparkSession.builder.remote(server.url).getOrCreate()
        print(f"connected to {server.url}, compatible with Spark {spark.version}")

        step("Reading Parquet")
        lineitem = spark.read.parquet(str(work / "tpch" / "lineitem.parquet"))
        orders = spark.read.parquet(str(work / "tpch" / "orders.parquet"))
        customer = spark.read.parquet(str(work / "tpch" / "customer.parquet"))
        orders.printSchema()
        print(f"{lineitem.count():,} line items, {orders.count():,} orders, {customer.count():,} customers")

        step("Join and aggregation with the DataFrame API: revenue by market segment")
        revenue = F.col("l_extendedprice") * (1 - F.col("l_discount"))
        segments = (
            lineitem.join(orders, lineitem.l_orderkey == orders.o_orderkey)
            .join(customer, orders.o_custkey == customer.c_custkey)
            .groupBy("c_mktsegment")
            .agg(F.sum(revenue).alias("revenue"), F.countDistinct("o_orderkey").alias("orders"))
            .orderBy(F.desc("revenue"))
        )
        segments.show()

        step("SQL over temporary views")
        lineitem.createOrReplaceTempView("lineitem")
        orders.createOrReplaceTempView("orders")
        spark.sql(
            """
            SELECT year(o_orderdate) AS year, o_orderpriority AS priority, count(*) AS late
            FROM orders
            WHERE EXISTS (SELECT * FROM lineitem WHERE l_orderkey = o_orderkey AND l_commitdate < l_receiptdate)
            GROUP BY year(o_orderdate), o_orderpriority
            ORDER BY year, priority
            LIMIT 5
            """
        ).show()

        step("Writing partitioned Parquet, and reading it back")
        target = str(work / "by_status")
        orders.write.partitionBy("o_orderstatus").mode("overwrite").parquet(target)
        back = spark.read.parquet(target)
        back.groupBy("o_orderstatus").count().orderBy("o_orderstatus").show()
        assert back.count() == orders.count()

        step("Checkpoint: random numbers that stay")
        random = spark.range(1_000_000).withColumn("x", F.rand()).localCheckpoint()
        first = random.agg(F.sum("x")).collect()[0][0]
        second = random.agg(F.sum("x")).collect()[0][0]
        print(f"sum of a million random numbers, read twice: {first:.6f} and {second:.6f}")
        assert first == second
        del random

        step("Done")
        spark.stop()
    shutil.rmtree(work)


if __name__ == "__main__":
    main()
