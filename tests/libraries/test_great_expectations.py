"""great_expectations' Spark engine validates frames."""

import great_expectations as gx
import great_expectations.expectations as gxe
import pytest


@pytest.fixture(scope="module")
def context():
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    return context


@pytest.fixture(scope="module")
def batches(context):
    asset = context.data_sources.add_spark("spark").add_dataframe_asset("parcels")
    return asset.add_batch_definition_whole_dataframe("all")


@pytest.fixture
def parcels(spark):
    return spark.createDataFrame([(1, "a", 10.0), (2, "b", None), (3, "b", 30.0)], "id INT, zone STRING, mass DOUBLE")


MET = [
    gxe.ExpectTableRowCountToEqual(value=3),
    gxe.ExpectTableColumnsToMatchOrderedList(column_list=["id", "zone", "mass"]),
    gxe.ExpectColumnValuesToBeOfType(column="id", type_="IntegerType"),
    gxe.ExpectColumnValuesToBeInSet(column="zone", value_set=["a", "b"]),
    gxe.ExpectColumnDistinctValuesToEqualSet(column="zone", value_set=["a", "b"]),
    gxe.ExpectColumnValuesToMatchRegex(column="zone", regex="^[ab]$"),
    gxe.ExpectColumnValueLengthsToEqual(column="zone", value=1),
    gxe.ExpectColumnMostCommonValueToBeInSet(column="zone", value_set=["b"]),
    gxe.ExpectColumnMeanToBeBetween(column="mass", min_value=20, max_value=20),
    gxe.ExpectColumnMedianToBeBetween(column="mass", min_value=20, max_value=20),
    gxe.ExpectColumnStdevToBeBetween(column="mass", min_value=14.1, max_value=14.2),
    gxe.ExpectColumnQuantileValuesToBeBetween(
        column="id", quantile_ranges={"quantiles": [0.5], "value_ranges": [[2, 2]]}
    ),
    gxe.ExpectColumnProportionOfUniqueValuesToBeBetween(column="zone", min_value=0.6, max_value=0.7),
    gxe.ExpectColumnPairValuesAToBeGreaterThanB(column_A="mass", column_B="id"),
    gxe.ExpectCompoundColumnsToBeUnique(column_list=["id", "zone"]),
    gxe.ExpectColumnValueZScoresToBeLessThan(column="mass", threshold=2, double_sided=True),
    gxe.ExpectColumnKLDivergenceToBeLessThan(
        column="zone", partition_object={"values": ["a", "b"], "weights": [0.4, 0.6]}, threshold=0.01
    ),
]

UNMET = [
    (gxe.ExpectColumnValuesToNotBeNull(column="mass"), {"unexpected_count": 1, "partial_unexpected_list": [None]}),
    (gxe.ExpectColumnValuesToBeBetween(column="mass", max_value=20), {"unexpected_count": 1, "partial_unexpected_list": [30.0]}),
    (gxe.ExpectColumnValuesToBeUnique(column="zone"), {"unexpected_count": 2, "partial_unexpected_list": ["b", "b"]}),
    (gxe.UnexpectedRowsExpectation(unexpected_rows_query="SELECT * FROM {batch} WHERE mass > 20"), {"observed_value": 1}),
    (gxe.ExpectMulticolumnSumToEqual(column_list=["id", "mass"], sum_total=11), {"unexpected_count": 2}),
    (gxe.ExpectColumnToExist(column="colour"), {}),
]


def named(value):
    return type(value).__name__ if isinstance(value, gxe.Expectation) else None


@pytest.mark.parametrize("expectation", MET, ids=named)
def test_expectations_that_are_met(batches, parcels, expectation):
    result = batches.get_batch({"dataframe": parcels}).validate(expectation)
    assert result.success, result


@pytest.mark.parametrize(("expectation", "found"), UNMET, ids=named)
def test_expectations_that_are_not_met(batches, parcels, expectation, found):
    result = batches.get_batch({"dataframe": parcels}).validate(expectation)
    assert not result.success
    assert {key: result.result.get(key) for key in found} == found


def test_suites(context, batches, parcels):
    suite = context.suites.add(gx.ExpectationSuite("parcels", expectations=MET[:4] + [UNMET[0][0]]))
    checks = context.validation_definitions.add(gx.ValidationDefinition(name="parcels", data=batches, suite=suite))
    result = checks.run(batch_parameters={"dataframe": parcels})
    assert (result.success, result.statistics["successful_expectations"]) == (False, 4)
