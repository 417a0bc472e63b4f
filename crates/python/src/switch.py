"""What every worker runs: tasks and planning alike, each in a module of PySpark.

A daemon starts this module; each worker that it forks reads the name of a
module before each task, and goes on there.
"""

import gc
import importlib
import os
import sys

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


def start():
    """Loads what workers need, without letting imports write to the handshake's pipe, and becomes the daemon."""
    out = os.dup(1)
    os.dup2(2, 1)
    for name in NEEDED:
        try:
            importlib.import_module(name)
        except Exception:
            pass
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
