"""Times of single functions over Spark Connect, on one server or side by side on several.

    python bench/functions.py firesteel=sc://127.0.0.1:15002 spark=sc://127.0.0.1:15003

The rows are made once, by the first server, as Parquet in a folder that all servers
see. Each expression is reduced to one number by an aggregate as cheap as its type
allows, so that beside the reading (the rows `read …`) only the expression costs. The
servers take turns; the best of several runs counts, after one that does not.
"""

import argparse
import os
import re
import sys
import tempfile
import time

from pyspark.sql import SparkSession

# How a value of a kind becomes one number over all rows.
REDUCERS = {
    "number": "sum({})",
    "flag": "count_if({})",
    "text": "sum(octet_length({}))",
    "date": "sum(unix_date({}))",
    "moment": "sum(unix_micros({}))",
    "list": "sum(size({}))",
    "aggregate": "{}",
}

WORDS = "array('Green', 'old', 'apple', 'garden', 'river', 'gray', 'Of', 'THE')"

# Columns by their expressions of `v`, a number without visible order.
COLUMNS = {
    "i": "cast(v % 1000000 as int)",
    "j": "cast(v % 1000 as int)",
    "x": "cast(v % 200000000 as double) / 1e3 - 1e5",
    "y": "cast(v % 10000 + 1 as double) / 8.0d",
    "p": "v % 2 = 0",
    "q": "v % 2 = 0",
    "s": "concat('  ', {0}, ' ', {1}, ' ', {2}, ' ', {3}, ' ')".format(
        *(f"element_at({WORDS}, cast(shiftright(v, {3 * k}) % 8 as int) + 1)" for k in range(4))
    ),
    "n": "cast(v % 100000000 as string)",
    "iso": "cast(date_from_unix_date(cast(v % 20000 as int)) as string)",
    "dmy": "date_format(date_from_unix_date(cast(v % 20000 as int)), 'dd/MM/yyyy')",
    "js": "concat('{\"id\":', v % 1000000, ',\"address\":{\"city\":\"old\",\"zip\":\"', v % 100000,"
    " '\"},\"name\":\"n', v % 1000, '\"}')",
    "d1": "date_from_unix_date(cast(v % 20000 as int))",
    "d2": "date_from_unix_date(cast(v % 20000 as int))",
    "t": "timestamp_micros(v % 1700000000000000)",
    "a": "slice(array(cast(v % 16 as int), cast(shiftright(v, 4) % 16 as int), cast(shiftright(v, 8) % 16 as int),"
    " cast(shiftright(v, 12) % 16 as int)), 1, cast(v % 5 as int))",
}

# (name, kind of the value, expression)
CASES = [
    ("read int", "number", "i"),
    ("read double", "number", "x"),
    ("read text", "text", "s"),
    ("read date", "date", "d1"),
    ("read list", "list", "a"),
    ("add", "number", "i + j"),
    ("multiply", "number", "i * j"),
    ("divide", "number", "x / y"),
    ("equal", "flag", "i = j"),
    ("less", "flag", "i < j"),
    ("and", "flag", "p and q"),
    ("cast int to string", "text", "cast(i as string)"),
    ("cast string to int", "number", "cast(n as int)"),
    ("cast string to date", "date", "cast(iso as date)"),
    ("upper", "text", "upper(s)"),
    ("lower", "text", "lower(s)"),
    ("trim", "text", "trim(s)"),
    ("concat", "text", "concat(s, '-', n)"),
    ("substring", "text", "substring(s, 3, 5)"),
    ("length", "number", "length(s)"),
    ("like", "flag", "s like '%garden%'"),
    ("rlike", "flag", "s rlike 'gr(e|a)y +[A-Z]'"),
    ("regexp_replace", "text", "regexp_replace(s, '[aeiou]+', '_')"),
    ("split", "list", "split(s, ' ')"),
    ("replace", "text", "replace(s, 'river', 'sea')"),
    ("coalesce", "number", "coalesce(i, j)"),
    ("if", "text", "if(p, s, n)"),
    ("round", "number", "round(x, 2)"),
    ("abs", "number", "abs(x)"),
    ("date_add", "date", "date_add(d1, 7)"),
    ("year", "number", "year(d1)"),
    ("date_trunc", "moment", "date_trunc('MONTH', t)"),
    ("to_date", "date", "to_date(dmy, 'dd/MM/yyyy')"),
    ("datediff", "number", "datediff(d1, d2)"),
    ("get_json_object", "text", "get_json_object(js, '$.name')"),
    ("array_contains", "flag", "array_contains(a, 5)"),
    ("size", "number", "size(a)"),
    ("hash", "number", "hash(i, s)"),
    # The upper half of the 64 bits: the sum of whole hashes overflows.
    ("xxhash64", "number", "shiftright(xxhash64(i, s), 32)"),
    ("sum", "aggregate", "sum(i)"),
    ("avg", "aggregate", "avg(x)"),
    ("count", "aggregate", "count(s)"),
]


def make(spark, path, rows):
    """Writes the rows, one value in sixteen of a column null."""
    values = []
    for salt, (name, expression) in enumerate(COLUMNS.items(), 1):
        # Not negative, so that remainders are not.
        drawn = f"(xxhash64(id, {salt}) & 4611686018427387903L)"
        value = re.sub(r"\bv\b", drawn, expression)
        values.append(f"if(xxhash64(id, {salt}, 0) & 15L = 0, null, {value}) as {name}")
    spark.range(0, rows, 1, 4).selectExpr(*values).write.mode("overwrite").parquet(path)


def seconds(spark, path, query):
    begin = time.perf_counter()
    spark.read.parquet(path).selectExpr(query).collect()
    return time.perf_counter() - begin


def reason(error):
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:160]


def measure(sessions, path, query, runs):
    """The best time by server, and why there is none."""
    best, faults = {}, {}
    for run in range(runs + 1):
        for name, spark in sessions.items():
            if name in faults:
                continue
            try:
                taken = seconds(spark, path, query)
            except Exception as error:  # noqa: BLE001 - whatever a server answers
                faults[name] = reason(error)
                best.pop(name, None)
                continue
            if run > 0:
                best[name] = min(best.get(name, taken), taken)
    return best, faults


def line(name, cells):
    return f"{name:<22}" + "".join(f"{cell:>14}" for cell in cells)


def main():
    parser = argparse.ArgumentParser(description="Times of single functions over Spark Connect.")
    parser.add_argument("servers", nargs="+", metavar="NAME=URL", help="servers that see the same files")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3, help="measured runs, of which the best counts")
    parser.add_argument("--folder", default=os.path.join(tempfile.gettempdir(), "firesteel-functions"))
    parser.add_argument("--only", default="", help="names of functions, separated by commas")
    options = parser.parse_args()

    sessions = {}
    for server in options.servers:
        name, separator, url = server.partition("=")
        if not separator or not url.startswith("sc://"):
            parser.error(f"{server} is not of the form name=sc://host:port")
        sessions[name] = SparkSession.builder.remote(url).create()
    wanted = {name.strip() for name in options.only.split(",") if name.strip()}
    unknown = wanted - {name for name, _, _ in CASES}
    if unknown:
        parser.error(f"no such function: {', '.join(sorted(unknown))}")

    path = os.path.join(os.path.abspath(options.folder), f"rows-{options.rows}")
    first = next(iter(sessions))
    if not os.path.exists(os.path.join(path, "_SUCCESS")):
        make(sessions[first], path, options.rows)

    others = [name for name in sessions if name != first]
    print(f"Best of {options.runs}, in seconds, over {options.rows} rows.")
    print(line("", [*sessions, *(f"{name}/{first}" for name in others)]))
    notes = []
    for name, kind, expression in CASES:
        if wanted and name not in wanted:
            continue
        best, faults = measure(sessions, path, REDUCERS[kind].format(expression), options.runs)
        cells = [f"{best[server]:.4f}" if server in best else "-" for server in sessions]
        for server in others:
            both = first in best and server in best
            cells.append(f"{best[server] / best[first]:.2f}" if both else "-")
        print(line(name, cells), flush=True)
        notes += [f"{name} on {server}: {fault}" for server, fault in faults.items()]
    for note in notes:
        print(note)
    for spark in sessions.values():
        spark.stop()
    return 1 if notes else 0


if __name__ == "__main__":
    sys.exit(main())
