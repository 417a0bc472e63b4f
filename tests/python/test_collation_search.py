"""Functions that search texts, under collations."""

import pytest
from pyspark.errors import AnalysisException


@pytest.mark.parametrize(
    "call, expected",
    [
        ("contains('xAbC' COLLATE UTF8_LCASE, 'aB')", True),
        ("contains('a b' COLLATE UTF8_LCASE_RTRIM, '   ')", True),
        ("startswith('ab' COLLATE UTF8_BINARY_RTRIM, 'ab  ')", True),
        ("endswith('ab  ' COLLATE UNICODE_CI_RTRIM, 'B')", True),
        ("instr('aB,Ab :b' COLLATE UTF8_LCASE_RTRIM, 'B ')", 2),
        ("instr('xİz' COLLATE UTF8_LCASE, 'i')", 0),
        ("instr('xéA' COLLATE UNICODE_CI_AI, 'e')", 2),
        ("locate('b ', 'abab' COLLATE UNICODE_RTRIM, 3)", 4),
        ("find_in_set('b' COLLATE UTF8_LCASE_RTRIM, 'a,B  ,c')", 2),
        ("replace('a b  ' COLLATE UTF8_LCASE_RTRIM, 'B  ', 'x')", "a x"),
        ("replace('xéAxÉa' COLLATE UNICODE_CI, 'éA', '_')", "x_x_"),
        ("translate('xéAxÉa' COLLATE UTF8_LCASE, 'éa', '12')", "x12x12"),
        ("substring_index('aXXXc' COLLATE UTF8_LCASE, 'xx', 2)", "aX"),
        ("substring_index('aXXXc' COLLATE UNICODE_CI, 'xx', -2)", "Xc"),
        ("split_part('aXbxc' COLLATE UTF8_LCASE, 'x', -1)", "c"),
        ("split_part('a b c  ' COLLATE UTF8_LCASE_RTRIM, ' ', 2)", ""),
        ("trim(BOTH 'xX' FROM 'xyXabYx  ' COLLATE UTF8_LCASE_RTRIM)", "yXabY  "),
        ("trim('İ' FROM 'İabi\u0307' COLLATE UTF8_LCASE)", "ab"),
        ("str_to_map('aB,Ab :b' COLLATE UTF8_LCASE, 'B ', ':')", {"aB,A": None, "": "b"}),
        ("'aB' COLLATE UTF8_LCASE RLIKE 'Ab'", True),
        ("'aB' COLLATE UTF8_LCASE LIKE 'A_'", True),
    ],
)
def test_searches_follow_the_collation(spark, call, expected):
    assert spark.sql(f"SELECT {call}").collect()[0][0] == expected


@pytest.mark.parametrize(
    "call",
    [
        "contains('a' COLLATE UNICODE_AI, 'a')",
        "replace('a' COLLATE UNICODE_AI, 'a', 'b')",
        "str_to_map('a' COLLATE UTF8_BINARY_RTRIM)",
        "'a' COLLATE UNICODE LIKE 'a'",
        "split('a' COLLATE UTF8_LCASE_RTRIM, 'a')",
    ],
)
def test_collations_that_a_function_does_not_know_are_refused(spark, call):
    with pytest.raises(AnalysisException) as error:
        spark.sql(f"SELECT {call}").collect()
    assert error.value.getCondition() == "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"
