"""Writes docs/client-coverage.md: PySpark's Connect classes, method by method, and what stands for each here.

    python tools/coverage.py > ../../docs/client-coverage.md      # in crates/client, with PySpark 4.2

A method is there if this crate has a public function of the name in the table,
or of its own name in snake case, in the files of the class. The script fails if
a name of the table is missing in the sources.
"""

import inspect
import re
import sys
from pathlib import Path

from pyspark.sql.connect import catalog, column, conf, dataframe, group, merge, observation, readwriter, session, tvf, window
from pyspark.sql.connect.streaming import query as streaming_query
from pyspark.sql.connect.streaming import readwriter as streaming_readwriter
from pyspark.sql.connect import table_arg
from pyspark.sql.connect import udf, udtf
from pyspark.sql.connect.functions import builtin, partitioning

SOURCES = Path(__file__).resolve().parents[1] / "src"
# Not a matter of the protocol: Python's own objects and functions, and the classic API.
PYTHON = "Python only"
CLASSES = [
    ("SparkSession.Builder", session.SparkSession.Builder, ["session/builder.rs"]),
    ("SparkSession", session.SparkSession, ["session.rs", "session/operations.rs", "session/scope.rs", "local.rs", "artifacts.rs", "register.rs", "dataframe/analysis.rs"]),
    ("DataFrame", dataframe.DataFrame, ["dataframe.rs", "dataframe"]),
    ("DataFrameNaFunctions", dataframe.DataFrameNaFunctions, ["dataframe"]),
    ("DataFrameStatFunctions", dataframe.DataFrameStatFunctions, ["dataframe"]),
    ("Column", column.Column, ["column.rs", "column"]),
    ("DataFrameReader", readwriter.DataFrameReader, ["reader.rs"]),
    ("DataFrameWriter", readwriter.DataFrameWriter, ["writer.rs"]),
    ("DataFrameWriterV2", readwriter.DataFrameWriterV2, ["writer.rs"]),
    ("MergeIntoWriter", merge.MergeIntoWriter, ["merge.rs"]),
    ("GroupedData", group.GroupedData, ["group.rs", "dataframe/user_functions.rs"]),
    ("Catalog", catalog.Catalog, ["catalog.rs"]),
    ("RuntimeConf", conf.RuntimeConf, ["conf.rs"]),
    ("Window", window.Window, ["window.rs"]),
    ("WindowSpec", window.WindowSpec, ["window.rs"]),
    ("Observation", observation.Observation, ["observation.rs"]),
    ("TableValuedFunction", tvf.TableValuedFunction, ["table_functions.rs"]),
    ("TableArg", table_arg.TableArg, ["table_functions.rs"]),
    ("DataStreamReader", streaming_readwriter.DataStreamReader, ["streaming/reader.rs"]),
    ("DataStreamWriter", streaming_readwriter.DataStreamWriter, ["streaming/writer.rs"]),
    ("StreamingQuery", streaming_query.StreamingQuery, ["streaming/query.rs"]),
    ("StreamingQueryManager", streaming_query.StreamingQueryManager, ["streaming/manager.rs"]),
    ("UDFRegistration", udf.UDFRegistration, ["register.rs"]),
    ("UDTFRegistration", udtf.UDTFRegistration, ["register.rs"]),
    ("functions", builtin, ["functions"]),
    ("partitioning", partitioning, ["functions/partitioning.rs"]),
]
NAMES = {
    "SparkSession.Builder": {
        "create": "connect", "getOrCreate": "connect", "channelBuilder": "header", "appName": "app_name",
        "master": PYTHON, "enableHiveSupport": PYTHON,
    },
    "SparkSession": {
        "createDataFrame": "create_dataframe", "emptyDataFrame": "empty_dataframe", "readStream": "read_stream",
        "getTags": "tags", "is_stopped": "is_stopped", "newSession": "new_session", "udf": "register_java_function",
        "udtf": "register_table_function", "dataSource": "register_data_source", "client": "command",
        "addArtifact": "add_artifacts", "builder": "builder", "copyFromLocalToFs": "copy_from_local_to_fs",
        "Hook": PYTHON, "getActiveSession": PYTHON, "active": PYTHON, "getDefaultSession": PYTHON, "profile": PYTHON,
    },
    "DataFrame": {
        "where": "where_", "groupBy": "group_by", "groupby": "group_by", "orderBy": "order_by", "fillna": "fill_na",
        "dropna": "drop_na", "na": "fill_na", "stat": "corr", "toDF": "to_df", "toJSON": "to_json",
        "crossJoin": "cross_join", "toLocalIterator": "stream", "toArrow": "collect", "writeTo": "write_to",
        "sparkSession": "session", "isin": "isin", "drop_duplicates": "drop_duplicates", "selectExpr": "select_expr",
        "registerTempTable": "create_or_replace_temp_view", "inputFiles": "input_files", "mapInArrow": "map_partitions",
        "mapInPandas": "map_partitions", "unionAll": "union_all", "intersectAll": "intersect_all",
        "exceptAll": "except_all", "executionInfo": "collect_with_info", "storageLevel": "storage_level",
        "asTable": "as_table", "foreach": PYTHON, "foreachPartition": PYTHON, "toPandas": PYTHON,
        "pandas_api": PYTHON, "to_pandas_on_spark": PYTHON, "plot": PYTHON, "rdd": PYTHON,
    },
    "DataFrameNaFunctions": {"fill": "fill_na", "drop": "drop_na"},
    "UDFRegistration": {
        "register": "register_function", "registerJavaFunction": "register_java_function",
        "registerJavaUDAF": "register_java_aggregate",
    },
    "UDTFRegistration": {"register": "register_table_function"},
    "functions": {
        "struct": "struct_", "typeof": "typeof_", "mod": "modulo", "approxCountDistinct": "approx_count_distinct",
        "bitwiseNOT": "bitwise_not", "countDistinct": "count_distinct", "sumDistinct": "sum_distinct",
        "toDegrees": "degrees", "toRadians": "radians", "shiftLeft": "shiftleft", "shiftRight": "shiftright",
        "shiftRightUnsigned": "shiftrightunsigned",
        "bucket": "bucket", "days": "days", "hours": "hours", "months": "months", "years": "years",
        "udf": "call_inline", "pandas_udf": "call_inline", "arrow_udf": "call_inline", "udtf": PYTHON,
        "arrow_udtf": PYTHON,
    },
    "Column": {
        "name": "alias", "astype": "cast", "startswith": "starts_with", "endswith": "ends_with", "isNaN": "is_nan",
        "bitwiseAND": "bitwise_and", "bitwiseOR": "bitwise_or", "bitwiseXOR": "bitwise_xor", "to_plan": "to_proto",
    },
    "DataFrameWriterV2": {"overwritePartitions": "overwrite_partitions"},
    "GroupedData": {
        "apply": "apply", "applyInPandas": "apply", "applyInArrow": "apply",
        "applyInPandasWithState": "apply_with_state", "cogroup": "cogroup",
        "transformWithState": PYTHON, "transformWithStateInPandas": PYTHON,
    },
    "Catalog": {"registerFunction": PYTHON},
    "TableArg": {"to_plan": PYTHON},
    "RuntimeConf": {},
    "WindowSpec": {"partitionBy": "with_partition"},
    "Window": {"currentRow": "", "unboundedFollowing": "", "unboundedPreceding": ""},
    "DataStreamWriter": {"start": "start", "toTable": "to_table"},
    "StreamingQueryManager": {"addListener": "listen", "removeListener": "stop_listening", "close": PYTHON},
}


def snake(name):
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def functions(files):
    found = set()
    for name in files:
        path = SOURCES / name
        for file in sorted(path.rglob("*.rs")) if path.is_dir() else [path]:
            text = file.read_text()
            found.update(re.findall(r"pub (?:async )?fn (\w+)", text))
            # Functions that macros of the file make.
            for block in re.findall(r"^(?:binary|of_one_column|parsers|writers)! \{(.*?)^\}", text, re.S | re.M):
                found.update(re.findall(r"^    (\w+)", block, re.M))
            for block in re.findall(r"^functions! \{(.*?)^\}", text, re.S | re.M):
                found.update(re.findall(r"^    fn (\w+)", block, re.M))
    return found


def methods(of):
    members = [(name, member) for name, member in inspect.getmembers(of) if not name.startswith("_")]
    if inspect.ismodule(of):
        # What a module imports is not its own.
        members = [(n, m) for n, m in members if inspect.isfunction(m) and m.__module__.startswith(of.__name__)]
        return [name for name, _ in members] + (["udf", "udtf", "pandas_udf"] if of is builtin else [])
    return [name for name, _ in members]


def main():
    lines, covered, counted = [], 0, 0
    summary = []
    wrong = []
    for title, of, files in CLASSES:
        known = functions(files)
        lines += ["", f"## {title}", "", "| PySpark | here |", "| --- | --- |"]
        before = (covered, counted)
        for name in sorted(set(methods(of))):
            here = NAMES.get(title, {}).get(name, snake(name))
            if here == PYTHON:
                lines.append(f"| `{name}` | {PYTHON} |")
                continue
            counted += 1
            if here == "" and title == "Window":
                covered += 1
                lines.append(f"| `{name}` | `Bound::{name[0].upper()}{name[1:]}` |")
            elif here in known:
                covered += 1
                lines.append(f"| `{name}` | `{here}` |")
            else:
                lines.append(f"| `{name}` | missing |")
                if name in NAMES.get(title, {}):
                    wrong.append(f"{title}.{name}: {here}")
        summary.append(f"| {title} | {covered - before[0]} of {counted - before[1]} |")
    print("# What the Rust client covers")
    print()
    print("Each public method of PySpark 4.2's Connect classes, and the method of `crates/client` that does it.")
    print("Written by `crates/client/tools/coverage.py`, checked by `crates/client/tests/suite/coverage.rs`; methods that only")
    print("make sense in Python do not count.")
    print()
    print(f"{covered} of {counted} methods: {100 * covered / counted:.1f} %.")
    print()
    print("| class | covered |\n| --- | --- |")
    print("\n".join(summary))
    print("\n".join(lines))
    if wrong:
        sys.exit("not in the sources: " + ", ".join(wrong))


main()
