"""What PySpark's client takes for the result that benches/overhead.rs reads.

    SPARK_REMOTE=sc://127.0.0.1:15002 python tools/overhead.py
"""

import os
import time

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

ROWS = 10_000_000

session = SparkSession.builder.remote(os.environ.get("SPARK_REMOTE", "sc://127.0.0.1:15002")).create()
frame = session.range(0, ROWS).select("id", (F.col("id") * 2).alias("d"), F.lit("text").alias("t"))
for _ in range(3):
    start = time.perf_counter()
    rows = frame.toArrow().num_rows
    seconds = time.perf_counter() - start
    print(f"toArrow: {rows} rows in {seconds:.2f} s, {rows / seconds / 1e6:.2f} M rows/s")
few = frame.limit(ROWS // 20)
start = time.perf_counter()
rows = len(few.collect())
seconds = time.perf_counter() - start
print(f"collect: {rows} rows in {seconds:.2f} s, {rows / seconds / 1e6:.2f} M rows/s")
session.stop()
