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
rates = []
for _ in range(9):
    start = time.perf_counter()
    rows = frame.toArrow().num_rows
    rates.append(rows / (time.perf_counter() - start) / 1e6)
rates.sort()
print(f"toArrow of {ROWS} rows: {rates[len(rates) // 2]:.2f} M rows/s in the middle of {[round(rate, 1) for rate in rates]}")
few = frame.limit(ROWS // 20)
start = time.perf_counter()
rows = len(few.collect())
seconds = time.perf_counter() - start
print(f"collect: {rows} rows in {seconds:.2f} s, {rows / seconds / 1e6:.2f} M rows/s")
session.stop()
