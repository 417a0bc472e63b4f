"""What every worker runs: tasks and planning alike, each in a module of PySpark.

A daemon starts this module; each worker that it forks reads the name of a
module before each task, and goes on there.
"""

import builtins
import gc
import importlib
import itertools
import os
import sys
import types

# What every worker needs; what is not installed is not needed.
NEEDED = (
    "concurrent.futures.thread",
    "pandas",
    "pyarrow",
    "pyarrow.compute",
    "pyarrow.pandas_compat",
    "pyspark.worker",
    "pyspark.sql.pandas.serializers",
)

# Bytes of a batch of pickled results.
BATCH = 1 << 14


def start():
    """Loads what workers need, without letting imports write to the handshake's pipe, and becomes the daemon."""
    out = os.dup(1)
    os.dup2(2, 1)
    for name in NEEDED:
        try:
            importlib.import_module(name)
        except Exception:
            pass
    if "pyspark.worker" in sys.modules:
        quicken(sys.modules["pyspark.worker"])
    import pyspark.daemon

    if hasattr(pyspark.daemon, "worker_main"):
        pyspark.daemon.worker_main = main
    sys.stdout.flush()
    os.dup2(out, 1)
    os.close(out)
    gc.collect()
    gc.freeze()
    pyspark.daemon.manager()


def main(infile, outfile):
    """Serves one task."""
    from pyspark.serializers import UTF8Deserializer

    try:
        name = UTF8Deserializer().loads(infile)
    except EOFError:
        sys.exit(-1)
    importlib.import_module(name).main(infile, outfile)


def quicken(worker):
    """Lets workers call functions of rows directly.

    PySpark calls them through a mapper that is the same for any number of functions and arguments, and
    costs several times what a small function does. Where the mapper is what we know, one that is made for
    the functions of the task stands in for it.
    """
    read = getattr(worker, "read_udfs", None)
    kind = getattr(getattr(worker, "PythonEvalType", None), "SQL_BATCHED_UDF", None)
    if read is None or kind is None:
        return

    def read_udfs(pickled, infile, eval_type, *rest, **named):
        task = read(pickled, infile, eval_type, *rest, **named)
        if eval_type != kind:
            return task
        try:
            return direct(task)
        except Exception:
            return task

    worker.read_udfs = read_udfs


def direct(task):
    """The same task with a mapper of its own; the task itself where its mapper is another than the known one."""
    from pyspark.serializers import AutoBatchedSerializer

    function, profiler, reader, writer = task
    mapper = held(function).get("mapper")
    calls = held(mapper).get("udfs")
    if not maps(function) or not is_general(mapper) or type(calls) is not list:
        return task
    calls = [(offsets, bare(call)) for offsets, call in calls]
    offsets, call = calls[0]
    if len(calls) == 1 and list(offsets) == list(range(len(offsets))):
        # Rows have the columns that arguments name and no others.
        def apply(_, rows):
            return itertools.starmap(call, rows)

    else:
        mapped = written(calls, mapper.__code__)

        def apply(_, rows):
            return map(mapped, rows)

    return apply, profiler, reader, AutoBatchedSerializer(writer.serializer, BATCH)


def written(calls, code):
    """The mapper of several functions, or of arguments in any order, as one expression."""
    texts = [f"f{i}({', '.join(f'a[{offset}]' for offset in offsets)})" for i, (offsets, _) in enumerate(calls)]
    text = texts[0] if len(texts) == 1 else f"({', '.join(texts)})"
    names = {f"f{i}": call for i, (_, call) in enumerate(calls)}
    mapped = eval(compile(f"lambda a: {text}", code.co_filename, "eval"), names)
    # Traces name the mapper that it stands for.
    mapped.__code__ = mapped.__code__.replace(co_name=code.co_name, co_firstlineno=code.co_firstlineno)
    return mapped


def held(function):
    """The variables that a function took from the one around it."""
    cells = getattr(function, "__closure__", None) or ()
    return dict(zip(function.__code__.co_freevars, (cell.cell_contents for cell in cells))) if cells else {}


def copy(function, *values):
    """The same code with other values in its variables, and none of its globals."""
    cells = tuple(types.CellType(value) for value in values)
    return types.FunctionType(function.__code__, {"__builtins__": builtins}, "copy", None, cells)


def names(code):
    """All global names and attributes that code uses."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= names(constant)
    return found


def maps(function):
    """Whether a function of a partition does nothing but call the mapper for each row."""
    if function.__code__.co_freevars != ("mapper",) or names(function.__code__) != {"map"}:
        return False
    return list(copy(function, lambda row: (row, 0))(0, iter("xy"))) == [("x", 0), ("y", 0)]


def is_general(mapper):
    """Whether a mapper gives the results of functions for one row, that of a single function bare."""
    if mapper.__code__.co_freevars != ("udfs",) or not names(mapper.__code__) <= {"tuple", "len"}:
        return False
    row, call = ("x", "y"), lambda *values: [*values]
    one = copy(mapper, [((1, 0), call)])(row)
    two = copy(mapper, [((0,), call), ((), call)])(row)
    return one == ["y", "x"] and two == (["x"], [])


def bare(call):
    """The function that a call hands its arguments on to and whose result it gives, or the call itself."""
    code = getattr(call, "__code__", None)
    if code is None or code.co_freevars != ("func",) or names(code) or code.co_argcount or call.__defaults__:
        return call
    seen = []

    def probe(*values):
        seen.append(values)
        return seen

    return held(call)["func"] if copy(call, probe)(1, 2) is seen and seen == [(1, 2)] else call
