"""Formats of files: what readers and writers make of options and of odd content."""

import gzip
import zlib
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException, IllegalArgumentException, PySparkException
from pyspark.sql.types import Row

CORRUPT = "a int, _corrupt_record string"


def put(tmp_path, name, content):
    path = tmp_path / "data" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(tmp_path / "data")


def texts(folder):
    return sorted(p.read_bytes() for p in Path(folder).rglob("part-*"))


@pytest.mark.parametrize(
    "text, rows",
    [
        ('[{"a":1},null]', [Row(a=None, _corrupt_record='[{"a":1},null]')]),
        ('[{"a":1},2]', [Row(a=None, _corrupt_record='[{"a":1},2]')]),
        ('[{"a":1},{"a":2}]', [Row(a=1, _corrupt_record=None), Row(a=2, _corrupt_record=None)]),
        ("[]", []),
        ('{"a":1} x', [Row(a=1, _corrupt_record=None)]),
        ('{"a":1,}', [Row(a=None, _corrupt_record='{"a":1,}')]),
        ('{"a":"5"}', [Row(a=None, _corrupt_record='{"a":"5"}')]),
        ("null", [Row(a=None, _corrupt_record="null")]),
    ],
)
def test_json_records(spark, tmp_path, text, rows):
    assert spark.read.schema(CORRUPT).json(put(tmp_path, "f", text)).collect() == rows


def test_a_bad_item_of_a_json_array_makes_all_rows_bad(spark, tmp_path):
    text = '[{"a":1},{"a":"x"}]'
    path = put(tmp_path, "f", text)
    rows = spark.read.schema(CORRUPT).json(path).collect()
    assert rows == [Row(a=1, _corrupt_record=text), Row(a=None, _corrupt_record=text)]
    assert spark.read.schema("a int").option("mode", "DROPMALFORMED").json(path).collect() == []


def test_json_values_stand_in_strings_as_they_are_written(spark, tmp_path):
    path = put(tmp_path, "f", '{"d":{"e":1.50,"f":[1, 2]},"m":{"k":{"y" : 2.50}},"l":[1e5, true]}')
    row = spark.read.schema("d struct<e:string,f:string>, m map<string,string>, l array<string>").json(path).first()
    assert row == Row(d=Row(e="1.50", f="[1, 2]"), m={"k": '{"y" : 2.50}'}, l=["1e5", "true"])


def test_types_of_json(spark, tmp_path):
    path = put(tmp_path, "f", '{"":1,"a b":2,"d":{"e":{}}}\n[{"a b":1.5},null]\n')
    assert spark.read.json(path).schema.simpleString() == "struct<a b:double>"
    path = put(tmp_path / "x", "f", '{"b":"01/02/2020 03"}')
    reader = spark.read.option("timestampFormat", "dd/MM/yyyy HH").option("inferTimestamp", True)
    assert reader.json(path).schema.simpleString() == "struct<b:timestamp>"
    for number, text in enumerate(['{"a":1,"a":2}', '{"s":{"a":1,"A":2}}']):
        with pytest.raises(AnalysisException) as error:
            spark.read.json(put(tmp_path / str(number), "f", text)).collect()
        assert error.value.getCondition() == "COLUMN_ALREADY_EXISTS"


def test_corrupt_records_are_not_read_alone(spark, tmp_path):
    path = put(tmp_path, "f", '{"a":\n{"a":1}\n')
    frame = spark.read.schema(CORRUPT).json(path)
    for query in [frame.select("_corrupt_record"), frame.filter("_corrupt_record is null").groupBy().count()]:
        with pytest.raises(AnalysisException) as error:
            query.collect()
        assert error.value.getCondition() == "UNSUPPORTED_FEATURE.QUERY_ONLY_CORRUPT_RECORD_COLUMN"


def test_charsets(spark, tmp_path):
    path = put(tmp_path, "f", "a,b\né,ü\n".encode("latin1"))
    assert spark.read.csv(path, header=True, encoding="ISO-8859-1").first() == Row(a="é", b="ü")
    assert spark.read.csv(path, header=True, encoding="US-ASCII").first() == Row(a="\ufffd", b="\ufffd")
    with pytest.raises(IllegalArgumentException) as error:
        spark.read.csv(path, encoding="latin1").collect()
    assert error.value.getCondition() == "INVALID_PARAMETER_VALUE.CHARSET"
    path = put(tmp_path / "j", "f", '{"a":"é"}'.encode("utf-16"))
    assert spark.read.json(path, multiLine=True).first() == Row(a="é")
    out = str(tmp_path / "out")
    spark.sql("select 'é日' a").coalesce(1).write.option("encoding", "UTF-16").csv(out)
    assert texts(out) == [b"\xfe\xff" + "é日\n".encode("utf-16-be")]


@pytest.mark.parametrize("codec", ["gzip", "bzip2", "deflate", "snappy", "lz4", "none"])
@pytest.mark.parametrize("format", ["csv", "json", "text"])
def test_codecs_of_text(spark, tmp_path, format, codec):
    path = str(tmp_path / "out")
    frame = spark.range(1000).selectExpr("cast(id as string) value")
    frame.write.format(format).option("compression", codec).save(path)
    found = spark.read.format(format).schema("value string").load(path)
    assert sorted(found.collect()) == sorted(frame.collect())


def test_unknown_codecs(spark, tmp_path):
    with pytest.raises(IllegalArgumentException) as error:
        spark.range(1).write.option("compression", "zstd").csv(str(tmp_path / "out"))
    assert error.value.getCondition() == "CODEC_NOT_AVAILABLE.WITH_AVAILABLE_CODECS_SUGGESTION"


def test_files_of_other_programs_are_decompressed(spark, tmp_path):
    put(tmp_path, "a.gz", gzip.compress(b"1\n"))
    assert spark.read.text(put(tmp_path, "b.deflate", zlib.compress(b"2\n"))).count() == 2


def test_json_is_written_pretty(spark, tmp_path):
    path = str(tmp_path / "out")
    spark.sql("select 1 a, array(1,2) b, struct(1 x) c").coalesce(1).write.option("pretty", True).json(path)
    assert texts(path) == [b'{\n  "a" : 1,\n  "b" : [ 1, 2 ],\n  "c" : {\n    "x" : 1\n  }\n}\n']


def test_keys_of_json_maps(spark, tmp_path):
    path = str(tmp_path / "out")
    query = "select map(date'2020-01-01', 1) a, map(timestamp_ntz'2020-01-01', 1) b, map(1.5BD, 1) c"
    spark.sql(query).coalesce(1).write.json(path)
    assert texts(path) == [b'{"a":{"18262":1},"b":{"1577836800000000":1},"c":{"1.5":1}}\n']


def test_fields_of_parquet_are_found_by_name_at_any_depth(spark, tmp_path):
    path = str(tmp_path / "out")
    spark.sql("select map('k', struct(1 m, 2 n)) c, array(struct(1 u, 2 v)) b, struct(1 X) a").write.parquet(path)
    frame = spark.read.schema("c map<string,struct<n:int,o:int>>, b array<struct<v:bigint>>, a struct<x:int>").parquet(path)
    assert frame.collect() == [Row(c={"k": Row(n=2, o=None)}, b=[Row(v=2)], a=Row(x=1))]


NESTED = """
    select 1.25BD a, array(1, null) b, map('k', named_struct('x', 1, 'y', array('z'))) c,
        timestamp_ntz'2020-01-01 01:02:03.456789' d, timestamp'1500-01-01 00:00:00.5' e,
        cast(12345678901234567890.5 as decimal(38,3)) f, struct(null n, true o) g, X'4142' h, date'0001-01-01' i
    union all select null, null, null, null, null, null, null, null, null
    union all select -1.25BD, array(), map(), timestamp_ntz'1960-01-01 00:00:00', null, 0, named_struct('n', '', 'o', cast(null as boolean)), X'', null
"""


@pytest.mark.parametrize("codec", ["none", "snappy", "zlib", "zstd", "lz4"])
def test_orc_holds_nested_values(spark, tmp_path, codec):
    path = str(tmp_path / "out")
    frame = spark.sql(NESTED.replace("null n", "cast(null as string) n"))
    frame.coalesce(1).write.option("compression", codec).orc(path)
    found = spark.read.orc(path)
    assert found.schema.simpleString() == frame.schema.simpleString()
    assert sorted(found.collect(), key=str) == sorted(frame.collect(), key=str)


def test_partition_values(spark, tmp_path):
    put(tmp_path, "p=1e5/f", '{"v":1}')
    path = put(tmp_path, "p=2/f", '{"v":1}')
    assert spark.read.json(path).schema.simpleString() == "struct<v:bigint,p:decimal(10,0)>"
    path = put(tmp_path / "n", "p=__HIVE_DEFAULT_PARTITION__/f", '{"v":1}')
    assert spark.read.json(path).schema.simpleString() == "struct<v:bigint,p:void>"
    with pytest.raises(PySparkException) as error:
        spark.read.json(put(tmp_path / "e", "p=/f", '{"v":1}')).collect()
    assert error.value.getCondition() == "EMPTY_PARTITION_COLUMN_VALUE"


def test_wrong_options(spark, tmp_path):
    path = put(tmp_path, "f", "1\n")
    for options, condition in [
        ({"header": "maybe"}, "_LEGACY_ERROR_TEMP_2147"),
        ({"maxColumns": "x"}, "_LEGACY_ERROR_TEMP_2146"),
        ({"quote": "''"}, "OPTION_VALUE_EXCEEDS_ONE_CHARACTER"),
        ({"sep": "\\x"}, "INVALID_DELIMITER_VALUE.UNSUPPORTED_SPECIAL_CHARACTER"),
        ({"lineSep": ""}, None),
        ({"multiLine": "x"}, None),
    ]:
        with pytest.raises(PySparkException) as error:
            spark.read.options(**options).csv(path).collect()
        assert error.value.getCondition() == condition, options


def test_missing_files_are_skipped(spark, tmp_path):
    path = tmp_path / "out"
    spark.range(2).coalesce(1).write.parquet(str(path))
    spark.read.option("ignoreMissingFiles", True).parquet(str(path)).createOrReplaceTempView("vanishing")
    for file in path.glob("*.parquet"):
        file.unlink()
    assert spark.table("vanishing").count() == 0


XML = "<rs>\n<r><a>1</a><b>x</b></r>\n<r id='7'><a>2</a><c>1.5</c></r>\n<r/>\n</rs>"


def test_xml_is_read(spark, tmp_path):
    path = put(tmp_path, "f.xml", XML)
    frame = spark.read.format("xml").option("rowTag", "r").load(path)
    assert frame.schema.simpleString() == "struct<_id:bigint,a:bigint,b:string,c:double>"
    assert frame.collect() == [
        Row(_id=None, a=1, b="x", c=None),
        Row(_id=7, a=2, b=None, c=1.5),
        Row(_id=None, a=None, b=None, c=None),
    ]
    assert frame.count() == 3
    with pytest.raises(AnalysisException) as error:
        spark.read.format("xml").load(path).collect()
    assert error.value.getCondition() == "XML_ROW_TAG_MISSING"


@pytest.mark.parametrize(
    "text, rows",
    [
        ("<rs><r><a>1</a></r><r><a>x</a></r></rs>", [1, None]),
        ("<rs><r><a>1</a></r><r><a>2</a>", [1, None]),
        ("<rs><r><a>1</a></r></rs>junk", [1, None]),
        ("<rs><r><a>1</a></r>", [1]),
        ("<rs><!-- <r><a>9</a></r> --><rr><a>0</a></rr><r k='a>b'><a>1</a></r></rs>", [1]),
    ],
)
def test_xml_records(spark, tmp_path, text, rows):
    path = put(tmp_path, "f.xml", text)
    frame = spark.read.format("xml").option("rowTag", "r").schema(CORRUPT).load(path)
    assert frame.collect() == [Row(a=a, _corrupt_record=text if a is None else None) for a in rows]


def test_xml_is_written(spark, tmp_path):
    path = str(tmp_path / "out")
    query = "select 1 a, 'x<&>\"' b, array(1, null, 3) c, named_struct('_k', 1, '_VALUE', 'v') d, cast(null as int) e"
    spark.sql(query).coalesce(1).write.format("xml").options(rowTag="row", rootTag="root x='1'").save(path)
    assert texts(path) == [
        b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<root x="1">\n    <row>\n        <a>1</a>\n'
        b'        <b>x&lt;&amp;>"</b>\n        <c>1</c>\n        <c>3</c>\n        <d k="1">v</d>\n    </row>\n</root>'
    ]
    assert spark.read.format("xml").option("rowTag", "row").load(path).first()["d"] == Row(_VALUE="v", _k=1)


def test_binary_files(spark, tmp_path):
    put(tmp_path, "empty", "")
    path = put(tmp_path, "a.bin", b"\x00\x01")
    assert spark.read.format("binaryFile").load(path).select("length", "content").collect() == [(2, b"\x00\x01")]
    with pytest.raises(PySparkException) as error:
        spark.range(1).write.format("binaryFile").save(str(tmp_path / "out"))
    assert error.value.getCondition() == "UNSUPPORTED_FEATURE.WRITE_FOR_BINARY_SOURCE"


def test_files_that_change_are_read_anew(spark, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = str(tmp_path / "f.parquet")
    for values in [[1, 2, 3], [4, 5, 6], [7]]:
        parquet.write_table(pyarrow.table({"a": values}), path)
        assert [row.a for row in spark.read.parquet(path).collect()] == values
    text = tmp_path / "f.json"
    for name in ["a", "b"]:
        text.write_text(f'{{"{name}":1}}')
        assert spark.read.json(str(text)).columns == [name]


def test_old_days_of_the_julian_calendar_keep_their_names(spark, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    # 0000-12-30 and 1500-01-10 by the calendar that Spark has: 0001-01-01 and 1500-01-01 by the old one.
    columns = {
        "d": pyarrow.array([-719164, 0], pyarrow.int32()).cast(pyarrow.date32()),
        "t": pyarrow.array([-14830992000000000, 0]).cast(pyarrow.timestamp("us", "UTC")),
    }
    query = "cast(d as string) d", "cast(t as string) t"
    keys = {"org.apache.spark.legacyDateTime": "", "org.apache.spark.legacyINT96": ""}
    for name, metadata, options, rows in [
        ("old", keys, {}, ("0001-01-01", "1500-01-01 00:00:00")),
        ("int96", keys, {"use_deprecated_int96_timestamps": True}, ("0001-01-01", "1500-01-01 00:00:00")),
        ("new", {}, {}, ("0000-12-30", "1500-01-10 00:00:00")),
    ]:
        path = str(tmp_path / f"{name}.parquet")
        parquet.write_table(pyarrow.table(columns).replace_schema_metadata(metadata), path, **options)
        frame = spark.read.parquet(path)
        assert [tuple(row) for row in frame.selectExpr(*query).collect()] == [rows, ("1970-01-01", "1970-01-01 00:00:00")]
        assert frame.selectExpr("cast(min(d) as string)").first()[0] == rows[0]


def test_a_view_of_files_is_refreshed(spark, tmp_path):
    path = str(tmp_path / "out")
    spark.range(2).selectExpr("id", "1 p").write.partitionBy("p").parquet(path)
    spark.read.parquet(path).createOrReplaceTempView("files")
    assert spark.table("files").count() == 2
    spark.range(3).selectExpr("id", "2 p").write.mode("append").partitionBy("p").parquet(path)
    assert spark.table("files").count() == 2
    spark.sql("refresh table files")
    assert spark.table("files").count() == 5
    assert spark.table("files").filter("p = 2").count() == 3


def test_texts_of_xml_are_rows(spark):
    texts = [("<p><a>1</a><b>x</b></p>",), ("<q><a>2</a></q>",), ("<bad",), (None,), ("<p a='1'/>",)]
    frame = spark.createDataFrame(texts, "v string")
    read = spark.read.xml(frame)
    assert read.schema.simpleString() == "struct<_a:bigint,_corrupt_record:string,a:bigint,b:string>"
    assert [tuple(row) for row in read.collect()] == [
        (None, None, 1, "x"),
        (None, None, 2, None),
        (None, "<bad", None, None),
        (None, None, None, None),
        (1, None, None, None),
    ]
    dropping = spark.read.schema("a int").option("mode", "DROPMALFORMED").xml(frame)
    assert [row.a for row in dropping.collect()] == [1, 2, None]
