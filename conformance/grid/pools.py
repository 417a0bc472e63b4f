"""Argument values by kind: a kind is a SQL type and literals of it, the most ordinary first.

A kind that ends in `*` in `TEXT` below is a string with a meaning (a pattern, a document).
"""

NULL = "CAST(NULL AS {})"


def _kind(sql_type: str, *literals: str, null: bool = True) -> tuple[str, list[str]]:
    return sql_type, [*literals, *([NULL.format(sql_type)] if null else [])]


def _text(*values: str, null: bool = True) -> tuple[str, list[str]]:
    return _kind("STRING", *(quote(value) for value in values), null=null)


def quote(value: str) -> str:
    """A string literal."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\t", "\\t")
    return f"'{escaped}'"


def _cast(sql_type: str, *values: str) -> tuple[str, list[str]]:
    return _kind(sql_type, *(f"CAST({value} AS {sql_type})" for value in values))


_FAR = ["0001-01-01", "1582-10-04", "1582-10-15", "1900-01-01", "1969-12-31", "1970-01-01", "2000-02-29",
        "2023-12-31", "2024-02-29", "2024-03-10", "9999-12-31"]
_TIMES = ["2024-05-17 13:45:59.123456", "2024-03-10 02:30:00", "2024-03-10 03:00:00", "2024-11-03 01:30:00",
          "1969-12-31 23:59:59.999999", "1970-01-01 00:00:00", "0001-01-01 00:00:00", "1582-10-10 12:00:00",
          "1883-11-18 12:00:00", "9999-12-31 23:59:59.999999", "2000-02-29 00:00:00.5"]

KINDS: dict[str, tuple[str, list[str]]] = {
    "void": ("VOID", ["NULL"]),
    "bool": _kind("BOOLEAN", "true", "false"),
    "i8": _kind("TINYINT", "5Y", "0Y", "-1Y", "127Y", "-128Y"),
    "i16": _kind("SMALLINT", "5S", "0S", "-1S", "32767S", "-32768S"),
    "i32": _kind("INT", "5", "0", "1", "-1", "-7", "2147483647", "-2147483648"),
    "i64": _kind("BIGINT", "5L", "0L", "-1L", "1000000L", "9223372036854775807L", "-9223372036854775808L"),
    "f32": _kind("FLOAT", "1.5F", "0F", "-0.0F", "-2.5F", "3.4028234E38F", "1.4E-45F", "CAST('NaN' AS FLOAT)",
                 "CAST('-Infinity' AS FLOAT)"),
    "f64": _kind("DOUBLE", "1.5D", "0D", "-0.0D", "-2.5D", "0.1D", "1D", "-1D", "1.7976931348623157E308D", "4.9E-324D",
                 "CAST('NaN' AS DOUBLE)", "CAST('Infinity' AS DOUBLE)", "CAST('-Infinity' AS DOUBLE)", "123456789.987654321D"),
    "dec": _kind("DECIMAL(5,2)", "1.50BD", "CAST(0 AS DECIMAL(5,2))", "-999.99BD", "999.99BD", "-2.50BD"),
    "dec18": _cast("DECIMAL(18,6)", "'3.141593'", "'-0.000001'", "'999999999999.999999'", "'0'"),
    "dec38": _cast("DECIMAL(38,18)", "'2.5'", "'99999999999999999999.999999999999999999'", "'-1E-18'", "'0'"),
    "dec0": _cast("DECIMAL(38,0)", "'7'", "'99999999999999999999999999999999999999'",
                  "'-99999999999999999999999999999999999999'"),
    "decs": _cast("DECIMAL(10,10)", "'0.5'", "'0.9999999999'", "'-0.0000000001'"),
    "str": _text("Spark SQL", "", "a", " x ", "héllo wörld", "😀b😀", "ß", "2024-03-10", "12", "İ", "a,b,,c", "%_\\"),
    "bin": _kind("BINARY", "X'537061726B'", "X''", "X'00'", "X'FF80'", "X'F09F9880'", "X'3132'"),
    "date": _kind("DATE", "DATE'2024-05-17'", *(f"DATE'{d}'" for d in _FAR)),
    "ts": _kind("TIMESTAMP", *(f"TIMESTAMP'{t}'" for t in _TIMES)),
    "ntz": _kind("TIMESTAMP_NTZ", *(f"TIMESTAMP_NTZ'{t}'" for t in _TIMES)),
    "time": _kind("TIME(6)", "TIME'12:34:56.789012'", "TIME'00:00:00'", "TIME'23:59:59.999999'"),
    "time0": _cast("TIME(0)", "TIME'12:34:56'", "TIME'00:00:00'", "TIME'23:59:59'"),
    "ym": _kind("INTERVAL YEAR TO MONTH", "INTERVAL '1-2' YEAR TO MONTH", "INTERVAL '0-0' YEAR TO MONTH",
                "INTERVAL '-3-11' YEAR TO MONTH", "INTERVAL '178956970-7' YEAR TO MONTH",
                "INTERVAL '-178956970-8' YEAR TO MONTH"),
    "dt": _kind("INTERVAL DAY TO SECOND", "INTERVAL '1 02:03:04.5' DAY TO SECOND", "INTERVAL '0 00:00:00' DAY TO SECOND",
                "INTERVAL '-1 00:00:00.000001' DAY TO SECOND", "INTERVAL '106751991 04:00:54.775807' DAY TO SECOND",
                "INTERVAL '30 00:00:00' DAY TO SECOND"),
    "cal": _kind("INTERVAL", "make_interval(1, 2, 0, 3, 4, 5, 6.5)", "make_interval(0)", "make_interval(0, -1, 0, 31)",
                 "make_interval(0, 0, 0, 0, 25)"),
    "ai32": _kind("ARRAY<INT>", "array(3, 1, 2)", "CAST(array() AS ARRAY<INT>)", "array(1, NULL, 1)",
                  "array(-2147483648, 2147483647)", "array(5)", "CAST(array(NULL, NULL) AS ARRAY<INT>)"),
    "as": _kind("ARRAY<STRING>", "array('b', 'a')", "CAST(array() AS ARRAY<STRING>)", "array('a', NULL, '', 'a')",
                "array('😀', 'é', 'z')"),
    "af64": _kind("ARRAY<DOUBLE>", "array(1.5D, 2.5D)", "array(0D, -0.0D, CAST('NaN' AS DOUBLE), CAST('NaN' AS DOUBLE))",
                  "CAST(array() AS ARRAY<DOUBLE>)", "array(CAST(NULL AS DOUBLE), 1D)"),
    "af32": _kind("ARRAY<FLOAT>", "array(1.5F, 2.5F)", "array(0F, -0.0F)", "CAST(array() AS ARRAY<FLOAT>)",
                  "array(3F, CAST(NULL AS FLOAT))", "array(CAST('NaN' AS FLOAT), 1F)"),
    "aai32": _kind("ARRAY<ARRAY<INT>>", "array(array(1, 2), array(3))", "array(CAST(NULL AS ARRAY<INT>), array(1))",
                   "CAST(array() AS ARRAY<ARRAY<INT>>)", "array(array(NULL, 1), CAST(array() AS ARRAY<INT>))"),
    "ast": _kind("ARRAY<STRUCT<a: INT, b: STRING>>",
                 "array(named_struct('a', 2, 'b', 'x'), named_struct('a', 1, 'b', 'y'))",
                 "CAST(array() AS ARRAY<STRUCT<a: INT, b: STRING>>)",
                 "array(named_struct('a', CAST(NULL AS INT), 'b', 'z'), CAST(NULL AS STRUCT<a: INT, b: STRING>))"),
    "msi": _kind("MAP<STRING, INT>", "map('a', 1, 'b', 2)", "CAST(map() AS MAP<STRING, INT>)", "map('', CAST(NULL AS INT))",
                 "map('c', 3, 'a', 7)"),
    "mis": _kind("MAP<INT, STRING>", "map(1, 'a', 2, 'b')", "CAST(map() AS MAP<INT, STRING>)",
                 "map(0, CAST(NULL AS STRING), 5, '')"),
    "mss": _kind("MAP<STRING, STRING>", "map('a', 'x', 'b', 'y')", "CAST(map() AS MAP<STRING, STRING>)",
                 "map('k', CAST(NULL AS STRING))"),
    "aent": _kind("ARRAY<STRUCT<k: STRING, v: INT>>", "array(named_struct('k', 'a', 'v', 1), named_struct('k', 'b', 'v', 2))",
                  "array(named_struct('k', 'a', 'v', 1), named_struct('k', 'a', 'v', 2))",
                  "CAST(array() AS ARRAY<STRUCT<k: STRING, v: INT>>)",
                  "array(named_struct('k', CAST(NULL AS STRING), 'v', 1))"),
    "st": _kind("STRUCT<a: INT, b: STRING>", "named_struct('a', 1, 'b', 'x')", "named_struct('a', CAST(NULL AS INT), 'b', '')"),
    "var": _kind("VARIANT", "parse_json('{\"a\": 1, \"b\": [true, null, \"x\"], \"c\": 1.25}')", "parse_json('null')",
                 "parse_json('[]')", "parse_json('-5')", "parse_json('\"2024-03-10\"')", "parse_json('1e300')",
                 "parse_json('12345678901234567890.5')"),
    # Tame values, for aggregates.
    "m32": _kind("INT", "3", "1", "4", "1", "-5"),
    "m64": _kind("BIGINT", "3L", "1L", "4L", "1L", "-5L"),
    "mdbl": _kind("DOUBLE", "1.5D", "2D", "-4D", "0.25D", "8D"),
    "mdec": _kind("DECIMAL(5,2)", "1.50BD", "2.25BD", "-4.00BD", "100.10BD"),
    "mstr": _text("b", "a", "", "c", "a"),
    # Numbers with a meaning.
    "small": _kind("INT", "2", "0", "1", "-1", "3", "-2", "100"),
    "count": _kind("INT", "3", "0", "1", "-1", "20"),
    "scale": _kind("INT", "1", "0", "2", "-1", "-3", "10"),
    "day": _kind("INT", "1", "0", "-1", "31", "366", "-400", "2147483647"),
    "year": _kind("INT", "2024", "1", "0", "-1", "9999", "10000", "1582"),
    "month": _kind("INT", "2", "1", "12", "0", "13"),
    "mday": _kind("INT", "28", "29", "1", "31", "0", "32"),
    "hour": _kind("INT", "2", "0", "23", "24", "-1"),
    "minute": _kind("INT", "30", "0", "59", "60", "-1"),
    "sec": _cast("DECIMAL(16,6)", "'7.5'", "'0'", "'59.999999'", "'60'", "'60.000001'", "'-1'"),
    "epoch": _kind("BIGINT", "1710054000L", "0L", "-1L", "1730622600L", "-62135596800L", "253402300799L", "9223372036854775807L"),
    "millis": _kind("BIGINT", "1710054000123L", "0L", "-1L", "-62135596800000L", "9223372036854775807L"),
    "micros": _kind("BIGINT", "1710054000123456L", "0L", "-1L", "-62135596800000000L", "9223372036854775807L",
                    "-9223372036854775808L"),
    "secs": _kind("BIGINT", "45296L", "0L", "86399L", "86400L", "-1L"),
    "bit": _kind("INT", "1", "0", "31", "32", "63", "64", "-1"),
    "radix": _kind("INT", "10", "2", "16", "36", "37", "1", "-10", "0"),
    "frac": _kind("DOUBLE", "0.5D", "0D", "1D", "-0.1D", "1.1D"),
    "seed": _kind("INT", "7", "0", "-1", null=False),
    "lgk": _kind("INT", "12", "4", "21", "3", "22", null=False),
    # Strings with a meaning.
    "word": _text("Spark", "", "park", "a", "😀", "é"),
    "delim": _text(",", "", " ", "a", "park", "😀"),
    "pad": _text("*", "", "ab", "é", "😀"),
    "num_text": _text("12", "", " 7 ", "-0", "1.5", "1e3", "abc", "NaN", "99999999999999999999", "0x1F", "१२"),
    "hex_text": _text("4D7953514C", "", "F", "zz", "ff80", "é"),
    "b64_text": _text("U3Bhcms=", "", "U3Bhcms", "====", "!!", "AA==", "U3 Bh\ncms="),
    "date_text": _text("2024-03-10", "", "2024", "2024-3-9", " 2024-02-29 ", "2023-02-29", "2024-03-10T02:30:00", "+12024-01-01",
                       "10/03/2024", "-0044-03-15", "0000-01-01", "epoch", "2024-03-10 junk"),
    "ts_text": _text("2024-03-10 02:30:00", "", "2024-03-10", "2024-03-10T02:30:00Z", "2024-11-03 01:30:00.123456789",
                     "2024-03-10 02:30:00+05:30", "2024-03-10 25:00:00", "2024-03-10 02:30:00 Europe/Paris",
                     "0001-01-01 00:00:00", "T12:34", "12:34:56", "2024-03-10 1:2:3", "now"),
    "time_text": _text("12:34:56", "", "1:2:3", "23:59:59.9999999", "24:00:00", "12:34", "12:34:56 PM", "abc"),
    "bool_text": _text("true", "", "T", "yes", "0", "FALSE ", "no", "maybe"),
    "ym_text": _text("1-2", "-1-11", "1-12", "INTERVAL '1-2' YEAR TO MONTH", "1", ""),
    "dt_text": _text("1 02:03:04", "-1 0:0:0.5", "1 24:00:00", "INTERVAL '1 02:03:04' DAY TO SECOND", "1", ""),
    "cal_text": _text("1 day 2 hours", "interval 1 month -3 days", "1", "", "-1.5 seconds", "1 fortnight", "1 year 1 year"),
    "date_fmt": _text("yyyy-MM-dd", "", "dd/MM/yyyy HH:mm:ss.SSS", "EEE, d MMM yy", "QQQ 'of' y G", "D", "MMMM LLLL E a h K k",
                      "YYYY", "xxx VV z", "''", "yyyy-MM-dd HH:mm:ss", "B", "SSSSSSSSS", "e"),
    "parse_fmt": _text("yyyy-MM-dd", "", "dd/MM/yyyy", "yyyy", "yyyy-MM-dd HH:mm:ss", "MMM d, yyyy", "abc", "D yyyy",
                       "yyyy-MM-dd['T'HH:mm:ss[XXX]]"),
    "time_fmt": _text("HH:mm:ss", "", "hh:mm a", "HH.mm.ss.SSSSSS", "yyyy"),
    "num_fmt": _text("999.99", "9", "$99,999.99", "S000.0", "000D00MI", "999PR", "", "abc", "99999999999999999999999999999999999999"),
    "num_fmt_text": _text("123.45", "9", "$12,345.60", "-001.5", "12.5-", "<45>", "", "abc", "1,23"),
    "unit": _text("month", "YEAR", "quarter", "week", "day", "hour", "minute", "second", "millisecond", "microsecond", "decade",
                  "", "fortnight"),
    "trunc_unit": _text("MM", "year", "quarter", "WEEK", "day", "HOUR", "microsecond", "millisecond", "century", ""),
    "time_unit": _text("HOUR", "minute", "SECOND", "MILLISECOND", "microsecond", "DAY", ""),
    "part": _text("year", "YEAROFWEEK", "quarter", "MONTH", "week", "day", "DAYOFWEEK", "DOW_ISO", "DOY", "hour", "minute", "SECOND",
                  "epoch", "", "century"),
    "iv_part": _text("day", "year", "month", "HOUR", "minute", "second", "week"),
    "weekday": _text("MON", "sunday", "Tu", "xx", "", "FRIDAY"),
    "zone": _text("America/Los_Angeles", "UTC", "+05:30", "Asia/Kathmandu", "GMT+1", "Z", "EST", "Mars/Base", "", "+25:00"),
    "charset": _text("UTF-8", "utf-16", "US-ASCII", "ISO-8859-1", "UTF-16BE", "UTF-16LE", "UTF-32", "windows-1252", ""),
    "binary_fmt": _text("hex", "utf-8", "BASE64", "UTF8", "other", ""),
    "regex": _text("(S)(park)", "", "a", "[a-z]+", "(", "\\d+", "(?i)SPARK", "(\\w)\\1", "x*", "^|$", "😀", "(?<n>a)"),
    "replacement": _text("<$1>", "", "X", "$2", "\\$", "$"),
    "like": _text("%park%", "", "%", "_", "S%", "a\\%", "%_\\\\", "\\", "😀%", "\\a"),
    "json": _text('{"a": 1, "b": [1, 2, {"c": "x"}], "d": null}', "", "[1, 2]", "null", "{", '{"a": "😀\\u0041", "a": 2}', "1.50",
                  '"s"', '{"a": 1e400}', "[]", "{}", " {\"a\":true} x"),
    "json_path": _text("$.a", "$", "$.b[*]", "$.b[2].c", "a", "", "$['a']", "$.b[", "$..c", "$.*"),
    "variant_path": _text("$.a", "$", "$.b[1]", "$['c']", "a", "", "$.x.y", "$.b[*]"),
    "variant_type": _text("int", "string", "double", "boolean", "date", "decimal(10,2)", "array<variant>", "nothing", null=False),
    "json_schema": _text("a INT, b ARRAY<STRING>", "a STRING, d DOUBLE", "ARRAY<INT>", "MAP<STRING, STRING>", "STRUCT<a: BIGINT>",
                         "a DATE, _corrupt_record STRING", "oops(", null=False),
    "csv": _text("1,abc", "", "x,y,z", '"a,b",2', ",", "1", "2024-03-10,1e3"),
    "csv_schema": _text("a INT, b STRING", "a STRING", "a DATE, b DOUBLE", "STRUCT<a: INT, b: STRING>", "oops(", null=False),
    "xml": _text("<p><a>1</a><b x=\"2\">t</b><b/></p>", "", "<p/>", "<p>", "text", "<p><a>1</a><a>2</a></p>"),
    "xml_schema": _text("a INT, b STRING", "a STRING", "a ARRAY<INT>", "oops(", null=False),
    "xpath": _text("p/a/text()", "p/b/@x", "count(p/*)", "p/a", "p/none", "p/[", "", "sum(p/a)"),
    "url": _text("https://user:pw@spark.apache.org:8080/path/x.html?query=1&b=%20#Ref", "", "http://a b", "file:///tmp/x", "foo",
                 "http://host?query=", "http://[::1]/x", "mailto:a@b.c"),
    "url_part": _text("HOST", "PATH", "QUERY", "REF", "PROTOCOL", "FILE", "AUTHORITY", "USERINFO", "host", ""),
    "url_text": _text("a b&c=d/é+😀", "", "%41%zz", "%E9", "a%20b+c", "%"),
    "aes_mode": _text("GCM", "ECB", "CBC", "gcm", "XXX"),
    "aes_key": _text("0000111122223333", "abcdefghijklmnop12345678", "", "short"),
    "sha_bits": _kind("INT", "256", "0", "224", "384", "512", "128", "-1"),
    "md_text": _text("Spark", "", "é😀"),
    "luhn": _text("79927398713", "", "0", "79927398714", "a1", " 0"),
    "printf": _text("%s and %d", "%5.2f", "%x", "%%", "%-5s|", "%", "%c", "", "%2$s %1$s"),
    "collation": _text("UTF8_LCASE", "UTF8_BINARY", "UNICODE", "UNICODE_CI", "UNICODE_CI_AI", "de_CI", "nope", null=False),
    "norm": _text("L2", "l1", "LINF", "", "inf"),
    "window": _text("10 minutes", "1 hour", "1 day", "1 month", "0 seconds", "-1 hour", "x", null=False),
    "alpha": _text("A", "", "é", "😀"),
    "locale": _text("en", "de", "xx"),
    "country": _text("US", "DE", ""),
    "options": ("MAP<STRING, STRING>", ["map('mode', 'PERMISSIVE')", "map('mode', 'FAILFAST')", "map()",
                                        "map('timestampFormat', 'dd/MM/yyyy')"]),
    "wkb": _kind("BINARY", "X'0101000000000000000000F03F0000000000000040'", "X''", "X'00'"),
    "geom": ("GEOMETRY(0)", ["st_geomfromwkb(X'0101000000000000000000F03F0000000000000040')"]),
}

# One ordinary value per type: what every argument of every function is also tried with.
TYPES: list[tuple[str, str]] = [
    ("void", "NULL"), ("bool", "true"), ("i8", "5Y"), ("i16", "5S"), ("i32", "5"), ("i64", "5L"), ("f32", "1.5F"), ("f64", "1.5D"),
    ("dec", "1.50BD"), ("dec0", "CAST(7 AS DECIMAL(38,0))"), ("str_num", "'5'"), ("str", "'abc'"), ("str_date", "'2024-03-10'"),
    ("bin", "X'6162'"), ("date", "DATE'2024-05-17'"), ("ts", "TIMESTAMP'2024-05-17 13:45:59.5'"),
    ("ntz", "TIMESTAMP_NTZ'2024-05-17 13:45:59.5'"), ("time", "TIME'12:34:56'"), ("ym", "INTERVAL '1-2' YEAR TO MONTH"),
    ("dt", "INTERVAL '1 02:03:04' DAY TO SECOND"), ("cal", "make_interval(1, 2, 0, 3)"), ("ai32", "array(1, 2)"),
    ("as", "array('a', 'b')"), ("empty", "array()"), ("msi", "map('k', 1)"), ("st", "named_struct('a', 1, 'b', 'x')"),
    ("var", "parse_json('{\"a\": 1}')"),
]

# The targets of casts.
TARGETS = ["BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(5,2)", "DECIMAL(38,10)", "DECIMAL(3,0)",
           "STRING", "BINARY", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIME(3)", "INTERVAL YEAR TO MONTH", "INTERVAL MONTH",
           "INTERVAL DAY TO SECOND", "INTERVAL HOUR", "INTERVAL", "VARIANT", "ARRAY<STRING>", "ARRAY<BIGINT>",
           "MAP<STRING, STRING>", "STRUCT<x: BIGINT, y: STRING>", "VARCHAR(3)", "CHAR(4)"]

# What is cast: kinds of which every value is cast to every target.
CAST_SOURCES = ["void", "bool", "i8", "i16", "i32", "i64", "f32", "f64", "dec", "dec18", "dec38", "str", "num_text", "bool_text",
                "date_text", "ts_text", "time_text", "ym_text", "dt_text", "cal_text", "bin", "date", "ts", "ntz", "time", "ym", "dt",
                "cal", "ai32", "as", "msi", "mss", "st", "var"]

# Names for several kinds.
MACROS = {
    "num": "i32|f64|dec|i64|f32|dec38|i8|dec0",
    "int": "i32|i64|i8",
    "any": "i32|str|f64|dec|ts|ai32|bool|date|msi|st|bin",
    "anyc": "i32|str|f64|dec|ts|ai32|st|dec18|bin|date",
    "ord": "i32|str|f64|dec|ts|date|ai32|bin|dec18|ym",
    "dnt": "ts|date|ntz|time|ym|dt|f64|dec38|f32|bin|bool|i64",
}
