"""Writes src/functions/table.rs: the table that the functions of this crate are generated from.

    FIRESTEEL_URL=sc://localhost python tools/functions.py > src/functions/table.rs

Names, parameters and what a text stands for (a column's name, or a value) come
from PySpark's Connect functions: each is called with marked arguments, and its
expression read. The sentences are those of crates/functions, which a
running server tells.
"""

import inspect
import itertools
import os
import re
import sys

from pyspark.sql import SparkSession
from pyspark.sql.connect.column import Column
from pyspark.sql.connect.functions import builtin

# Written by hand: closures, options, other kinds of arguments or results.
BY_HAND = set(
    """aggregate array_sort arrow_udf arrow_udtf asc asc_nulls_first asc_nulls_last broadcast bucket call_function
    call_udf col column convert_timezone countDistinct count_distinct days desc desc_nulls_first desc_nulls_last exists
    expr filter forall from_csv from_json from_xml hours lit listagg_distinct map_filter map_zip_with months pandas_udf
    partitioning reduce schema_of_csv schema_of_json schema_of_xml string_agg_distinct sumDistinct sum_distinct to_csv
    to_json to_xml transform transform_keys transform_values udf udtf unwrap_udt when window years zip_with
    approxCountDistinct bitwiseNOT toDegrees toRadians shiftLeft shiftRight shiftRightUnsigned""".split()
)
# Those that refuse marked arguments, or change with them: Spark's name, parameters, what may follow.
SPECIAL = {
    "sha2": ("sha2", [("col", "IntoColumn"), ("num_bits", "IntoValue")], []),
    "log": ("ln", [("col", "IntoColumn")], []),
    "make_timestamp": ("make_timestamp", [], None),
    "make_timestamp_ntz": ("make_timestamp_ntz", [], None),
    "try_make_timestamp": ("try_make_timestamp", [], None),
    "try_make_timestamp_ntz": ("try_make_timestamp_ntz", [], None),
    "make_interval": ("make_interval", [], None),
    "make_dt_interval": ("make_dt_interval", [], None),
    "make_ym_interval": ("make_ym_interval", [], None),
    "try_make_interval": ("try_make_interval", [], None),
}
# Those that SQL has as syntax, not as functions that can be described.
SENTENCES = {
    "~": "The number with each bit the other way round.",
    "timestampadd": "The timestamp so many units later; the unit is a text such as `HOUR`.",
    "timestampdiff": "How many whole units lie between two timestamps; the unit is a text such as `HOUR`.",
}
KEYWORDS = {"struct": "struct_", "typeof": "typeof_", "mod": "modulo"}
PARAMETERS = {"str": "text", "len": "length", "input": "input", "end": "end", "type": "kind", "mode": "mode", "ref": "reference"}


def sentences(names):
    """Our sentence about each function, as DESCRIBE FUNCTION of a running server gives it."""
    session = SparkSession.builder.remote(os.environ["FIRESTEEL_URL"]).create()
    found = {}
    for name in sorted(names):
        try:
            rows = [row[0] for row in session.sql(f"DESCRIBE FUNCTION `{name}`").collect()]
        except Exception:
            continue
        for row in rows:
            usage = re.match(r"Usage:\s*(.*)", row, re.S)
            if usage and usage[1].strip() not in ("", "N/A."):
                text = usage[1].strip()
                text = re.sub(r"^\w+\([^)]*\) - ", "", text)
                found[name] = re.sub(r"\s*This server cannot yet\.", "", text)
    return found


def snake(name):
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def candidates(parameter):
    marks = [f"mark_{parameter.name}", 7, True, 0.5, Column(builtin.col(f"mark_{parameter.name}")._expr)]
    if "bool" in str(parameter.annotation) and "str" not in str(parameter.annotation).replace("struct", ""):
        marks = [True, *marks]
    return marks


def call(function, parameters):
    """The arguments of the expression, for the first kinds of arguments that the function takes."""
    variadic = [p for p in parameters if p.kind == p.VAR_POSITIONAL]
    plain = [p for p in parameters if p.kind != p.VAR_POSITIONAL]
    for marks in itertools.islice(itertools.product(*(candidates(p) for p in plain)), 4000):
        arguments = [*marks, *(["mark_rest_a", "mark_rest_b"] if variadic else [])]
        try:
            message = function(*arguments)._expr.to_plan(None)
        except Exception:
            continue
        if message.HasField("unresolved_function"):
            return message.unresolved_function, marks
    return None, None


def trait(argument, mark):
    """What a text means at this place, by what became of the mark."""
    if argument is None:
        return None
    kind = argument.WhichOneof("expr_type")
    if kind == "unresolved_attribute":
        return "IntoColumn"
    return "IntoValue"


def described(name, function):
    if name in SPECIAL:
        spark, head, tail = SPECIAL[name]
        return spark, head, tail or [], tail is None, False
    parameters = [p for p in inspect.signature(function).parameters.values() if p.kind != p.KEYWORD_ONLY]
    required = [p for p in parameters if p.default is p.empty and p.kind != p.VAR_POSITIONAL]
    variadic = any(p.kind == p.VAR_POSITIONAL for p in parameters)
    optional = [p for p in parameters if p.default is not p.empty]
    message, marks = call(function, [p for p in parameters if p.default is p.empty])
    if message is None:
        return None
    arguments = list(message.arguments)
    if len(arguments) < len(required):
        return None
    head = [(snake(p.name), trait(a, m)) for p, a, m in zip(required, arguments, marks or [])]
    tail = []
    if optional:
        full, _ = call(function, parameters)
        if full is None or len(full.arguments) != len(parameters):
            tail = [(snake(p.name), "IntoColumn") for p in optional]
        else:
            tail = [(snake(p.name), trait(a, None)) for p, a in zip(optional, full.arguments[len(required):])]
    return message.function_name, head, tail, variadic, message.is_distinct


def line(name, spark, parameters, rest):
    written = [f"{PARAMETERS.get(n, n)}: {t}" for n, t in parameters]
    if rest:
        written.append(f"..{rest}")
    return f'    fn {name} = "{spark}"({", ".join(written)});'


def main():
    names = [n for n, f in vars(builtin).items() if inspect.isfunction(f) and not n.startswith("_") and f.__module__ == builtin.__name__]
    known = sentences(set(names) | {"named_struct", "map", "ln", "char", "mod"})
    print("//! The built-in functions, by Spark's names. Written by tools/functions.py.")
    print()
    print("use super::{IntoColumn, IntoColumns, IntoValue};")
    print("use crate::Column;")
    print()
    print("functions! {")
    missed = []
    for name in sorted(names):
        if name in BY_HAND:
            continue
        found = described(name, getattr(builtin, name))
        if found is None:
            missed.append(name)
            continue
        spark, head, tail, variadic, distinct = found
        if distinct:
            missed.append(name)
            continue
        rust = KEYWORDS.get(snake(name), snake(name))
        text = known.get(spark) or known.get(name) or SENTENCES.get(spark) or f"Spark's `{spark}`."
        text = text.replace("[", "\\[").replace("]", "\\]").replace("<", "\\<").replace(">", "\\>")
        text = re.sub(r"\s+", " ", text)
        print(f"    /// {text}")
        print(line(rust, spark, head, "columns" if variadic else None))
        if len(tail) == 1:
            print(f"    /// As [`{rust}`], with `{tail[0][0]}`.")
            print(line(f"{rust}_with", spark, head + tail, None))
        elif tail:
            listed = ", ".join(f"`{n}`" for n, _ in tail)
            print(f"    /// As [`{rust}`], with any of these arguments, in this order: {listed}.")
            print(line(f"{rust}_with", spark, head, "arguments"))
    print("}")
    print("by hand:", ", ".join(missed), file=sys.stderr)
    undocumented = sorted(n for n in names if n not in BY_HAND and n not in known)
    print("no sentence:", ", ".join(undocumented), file=sys.stderr)


main()
