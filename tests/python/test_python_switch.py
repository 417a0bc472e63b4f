"""The mapper that workers use for functions of rows gives what PySpark's own does."""

import datetime
import io
import struct
import types
from pathlib import Path

import pytest
from pyspark.cloudpickle import dumps
from pyspark.serializers import AutoBatchedSerializer
from pyspark.sql.types import DateType, LongType, StringType

worker = pytest.importorskip("pyspark.worker")

SWITCH = Path(__file__).parents[2] / "crates/python/src/switch.py"


def switch():
    module = types.ModuleType("pyspark_switch")
    exec(compile(SWITCH.read_text(), str(SWITCH), "exec"), module.__dict__)
    return module


class Settings:
    udf_profiler = None
    data_source_profiler = None


def message(functions):
    """What the worker reads of functions: (function, type, arguments), an argument with a name being a pair."""
    out = io.BytesIO()

    def text(data):
        out.write(struct.pack("!i", len(data)) + data)

    out.write(struct.pack("!i", len(functions)))
    for function, kind, arguments in functions:
        out.write(struct.pack("!i", len(arguments)))
        for argument in arguments:
            column, name = argument if isinstance(argument, tuple) else (argument, None)
            out.write(struct.pack("!i?", column, name is not None))
            if name is not None:
                text(name.encode())
        out.write(struct.pack("!i", 1))
        text(dumps((function, kind)))
        out.write(struct.pack("!q", 7))
    out.seek(0)
    return out


def results(task, rows):
    try:
        return list(task[0](0, iter(rows)))
    except Exception as error:
        return repr(error)


def stop(_):
    raise StopIteration


def pair(x, y=3):
    return x, y


CASES = [
    ([(lambda x: x + 1, LongType(), [0])], [(1,), (2,)]),
    ([(lambda x: x + 1, LongType(), [0])], [(1,), ("a",)]),
    ([(pair, StringType(), [0, 1])], [(1, 2), (3, 4)]),
    ([(pair, StringType(), [1, 0])], [(1, 2), (3, 4)]),
    ([(pair, StringType(), [0, 0])], [(1,), (2,)]),
    ([(pair, StringType(), [0, (1, "y")])], [(1, 2)]),
    ([(lambda: 5, LongType(), [])], [(), ()]),
    ([(lambda x: datetime.date(2020, 1, x), DateType(), [0])], [(1,), (2,)]),
    ([(lambda x: x, LongType(), [1]), (pair, StringType(), [0, 1])], [(1, 2), (3, 4)]),
    ([(lambda: 1, LongType(), []), (lambda: 2, LongType(), [])], [()]),
    ([(stop, LongType(), [0])], [(1,)]),
    ([(stop, DateType(), [0])], [(1,)]),
]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_results_are_those_of_the_general_mapper(case):
    functions, rows = CASES[case]
    module = switch()
    task = worker.read_udfs(worker.pickleSer, message(functions), 100, Settings(), None)
    direct = module.direct(task)
    assert isinstance(direct[3], AutoBatchedSerializer)
    assert results(direct, rows) == results(task, rows)


def test_other_mappers_stay():
    module = switch()
    udfs = [([0], lambda x: x)]

    def mapper(a):
        return [f(a) for _, f in udfs]

    def function(_, rows):
        return map(mapper, rows)

    task = (function, None, None, None)
    assert module.direct(task) is task
    assert module.bare(print) is print
    func = abs
    other = lambda *a: [func(*a)]  # noqa: E731
    assert module.bare(other) is other
