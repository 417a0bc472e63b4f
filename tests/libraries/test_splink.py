"""splink finds records that mean the same person: long SQL over frames that it keeps."""

import itertools

import pytest
import splink.comparison_library as cl
from splink import Linker, SettingsCreator, SparkAPI, block_on


@pytest.fixture(scope="module")
def records(spark):
    firsts, lasts = ["amy", "bob", "cid", "dan", "eve", "fay", "gus", "hal"], ["smith", "jones", "brown", "white"]
    rows = []
    for number, (first, last) in enumerate(itertools.product(firsts, lasts), start=1):
        born, city = f"19{50 + number}-01-01", "paris" if number % 2 else "rome"
        rows.append((number, first, last, born, city))
        if number % 3 == 0:
            rows.append((1000 + number, first, f"{last[:-1]}x", born, city))
    return spark.createDataFrame(rows, "unique_id INT, first_name STRING, surname STRING, dob STRING, city STRING")


def test_duplicates_are_found(spark, records):
    # The defaults ask the JVM for a checkpoint folder and for functions of a jar.
    database = SparkAPI(
        spark_session=spark,
        register_udfs_automatically=False,
        break_lineage_method="persist",
        num_partitions_on_repartition=2,
    )
    settings = SettingsCreator(
        link_type="dedupe_only",
        comparisons=[cl.ExactMatch("first_name"), cl.LevenshteinAtThresholds("surname", 1), cl.ExactMatch("city")],
        blocking_rules_to_generate_predictions=[block_on("dob")],
    )
    linker = Linker(database.register(records), settings)
    linker.training.estimate_probability_two_random_records_match([block_on("first_name", "dob")], recall=1.0)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e4)
    pairs = linker.inference.predict(threshold_match_probability=0.0)
    found = [tuple(row) for row in pairs.as_spark_dataframe().select("unique_id_l", "unique_id_r").collect()]
    assert sorted(found) == [(number, 1000 + number) for number in range(3, 33, 3)]
    likely = {round(row["match_probability"], 6) for row in pairs.as_spark_dataframe().collect()}
    assert likely == {0.05317}
    clusters = linker.clustering.cluster_pairwise_predictions_at_threshold(pairs, 0.0001).as_spark_dataframe()
    assert clusters.select("cluster_id").distinct().count() == 32
    assert clusters.count() == 42
