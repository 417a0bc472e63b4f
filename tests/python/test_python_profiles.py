"""Profiles of Python functions come to the client, of every kind of function."""

import sys
from typing import Iterator

import pandas as pd
import pyarrow as pa
import pytest
from pyspark import cloudpickle
from pyspark.sql import Window
from pyspark.sql import functions as F
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.functions import pandas_udf, udf, udtf

from python_server import python_server, spark  # noqa: F401

# Workers do not have this module.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

PROFILER = "spark.sql.pyspark.udf.profiler"


def plus(s: pd.Series) -> pd.Series:
    return s + 1


def plus_each(batches: Iterator[pd.Series]) -> Iterator[pd.Series]:
    for batch in batches:
        yield batch + 1


def total(s: pd.Series) -> float:
    return s.sum()


def keep(batches):
    for batch in batches:
        yield batch


def same(group):
    return group


def first(left, right):
    return left


def frames(spark):
    """A frame for each kind of function."""
    rows = spark.range(6)
    keyed = rows.withColumn("k", F.col("id") % 2)
    grouped = keyed.groupBy("k")
    schema = keyed.schema
    window = Window.partitionBy("k")
    kinds = {
        "pickled": rows.select(udf(lambda x: x + 1, "long", useArrow=False)("id")),
        "over Arrow": rows.select(udf(lambda x: x + 1, "long", useArrow=True)("id")),
        "pandas": rows.select(pandas_udf(plus, "long")("id")),
        "pandas iterator": rows.select(pandas_udf(plus_each, "long")("id")),
        "map in pandas": rows.mapInPandas(keep, "id long"),
        "map in Arrow": rows.mapInArrow(keep, "id long"),
        "groups in pandas": grouped.applyInPandas(same, schema),
        "pairs of groups": grouped.cogroup(grouped).applyInPandas(first, schema),
        "aggregate": grouped.agg(pandas_udf(total, "double")("id")),
        "window": keyed.select(pandas_udf(total, "double")("id").over(window)),
        "bounded window": keyed.select(pandas_udf(total, "double")("id").over(window.orderBy("id").rowsBetween(-1, 0))),
    }
    if hasattr(grouped, "applyInArrow"):
        kinds["groups in Arrow"] = grouped.applyInArrow(same, schema)
        kinds["pairs in Arrow"] = grouped.cogroup(grouped).applyInArrow(first, schema)
    arrow_udf = getattr(F, "arrow_udf", None)
    if arrow_udf is not None:

        def array(values: pa.Array) -> pa.Array:
            return values

        kinds["Arrow array"] = rows.select(arrow_udf(array, "long")("id"))
    return kinds


def results(spark, kind):
    collector = spark._client._profiler_collector
    return collector._perf_profile_results if kind == "perf" else collector._memory_profile_results


@pytest.mark.parametrize("kind", ["perf", "memory"])
def test_all_kinds_of_functions_are_profiled(spark, kind, capsys, tmp_path):
    if kind == "memory":
        pytest.importorskip("memory_profiler")
    spark.conf.set(PROFILER, kind)
    for name, frame in frames(spark).items():
        frame.collect()
        assert len(results(spark, kind)) == 1, name
        capsys.readouterr()
        spark.profile.show(type=kind)
        assert "Profile of UDF" in capsys.readouterr().out, name
        spark.profile.dump(str(tmp_path / name), type=kind)
        assert len(list((tmp_path / name).iterdir())) == 1, name
        spark.profile.clear()
        assert len(results(spark, kind)) == 0, name


def test_profiles_add_up_and_are_cleared_by_their_id(spark):
    spark.conf.set(PROFILER, "perf")
    frame = spark.range(6).select(udf(lambda x: x + 1, "long", useArrow=False)("id"))
    frame.collect()
    frame.collect()
    ids = sorted(results(spark, "perf"))
    assert len(ids) == 2
    spark.profile.clear(ids[0], type="perf")
    assert sorted(results(spark, "perf")) == ids[1:]


def test_table_functions_have_no_profile(spark):
    spark.conf.set(PROFILER, "perf")

    class Same:
        def eval(self, x):
            yield (x,)

    for arrow in (True, False):
        assert len(udtf(Same, returnType="a int", useArrow=arrow)(F.lit(1)).collect()) == 1
    assert len(results(spark, "perf")) == 0


def test_data_sources_are_profiled(spark):
    class Reader(DataSourceReader):
        def partitions(self):
            return [InputPartition(0), InputPartition(1)]

        def read(self, partition):
            yield (partition.value,)

    class Numbers(DataSource):
        @classmethod
        def name(cls):
            return "h_numbers"

        def schema(self):
            return "n int"

        def reader(self, schema):
            return Reader()

    spark.dataSource.register(Numbers)
    spark.conf.set("spark.sql.pyspark.dataSource.profiler", "perf")
    assert spark.read.format("h_numbers").load().count() == 2
    assert results(spark, "perf") or spark._client._profiler_collector._profile_results
