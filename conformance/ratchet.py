"""Runs conformance suites against a fresh server, and holds them to lists of what passes.

A listed case that fails is an error. New passes are printed, and with
--update added to the lists, which only ever grow. Of the usage examples the
list names the misses, and only ever shrinks.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "python"))
import usage  # noqa: E402
from server import Server, running_functions  # noqa: E402

DOCTEST_SUITES = ["functions", "dataframe", "sql"]


def fresh() -> Server:
    """A server with as many cores as the lists were made with."""
    return running_functions("--cores", "2")


def doctests(suites: Path, work: Path) -> tuple[dict[str, str], dict[str, tuple[int, int]]]:
    """Status by object, and passes over baseline by suite."""
    tool = suites / "doctests"
    modules = json.loads((tool / "baseline-spark-4.2.1.json").read_text())["objects"]
    baseline = {name for names in modules.values() for name in names}
    status, table = {}, {}
    for suite in DOCTEST_SUITES:
        out = work / f"doctests-{suite}.json"
        with fresh() as server:
            subprocess.run(
                [sys.executable, str(tool / "run.py"), "--url", server.url, "--out", str(out),
                 "--suite", suite, "--clean"],
                cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
            )
        result = json.loads(out.read_text()) if out.exists() else {"objects": {}}
        passed = total = 0
        for name, record in result["objects"].items():
            outcome = record["status"]
            key = f"{suite}:{name}"
            status[key] = outcome
            if name in baseline:
                total += 1
                passed += outcome == "pass"
        table[f"doctests {suite}"] = (passed, total)
    return status, table


def golden(suites: Path, work: Path) -> tuple[dict[str, str], dict[str, tuple[int, int]]]:
    """Status by file and block, and result blocks that match."""
    tool = suites / "golden"
    out = work / "golden.json"
    with fresh() as server:
        subprocess.run(
            [sys.executable, str(tool / "run.py"), "--url", server.url, "--cases", str(tool / "cases"),
             "--out", str(out), "--clean", "--timeout", "30"],
            cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
        )
    result = json.loads(out.read_text()) if out.exists() else {}
    status = {}
    matched = total = 0
    for file, record in result.get("files", {}).items():
        matched += record.get("result_match", 0)
        total += record.get("result_total", 0)
        status[f"golden:{file}"] = str(record.get("result_match", 0) + record.get("error_match", 0))
    return status, {"golden result blocks": (matched, total)}


def examples() -> tuple[dict[str, str | None], dict[str, tuple[int, int]]]:
    """How answers to usage examples differ from Spark's, by case."""
    with fresh() as server:
        differences = usage.check(server.url)
    right = sum(text is None for text in differences.values())
    return differences, {"usage examples": (right, len(differences))}


def grid(update: bool) -> tuple[int, dict[str, tuple[int, int]]]:
    """New differences, and cases that are equal. A process of its own, as it starts further ones."""
    with fresh() as server, tempfile.NamedTemporaryFile("r") as counts:
        subprocess.run(
            [sys.executable, str(HERE / "grid" / "run.py"), "check", "--url", server.url, "--counts", counts.name,
             *(["--update"] if update else [])],
            check=False,
        )
        result = json.loads(counts.read() or "{}")
    return result.get("new", 1), {"grid": (result.get("equal", 0), result.get("cases", 0))}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suites", type=Path, required=True)
    parser.add_argument("--update", action="store_true", help="add new passes to the lists")
    parser.add_argument("names", nargs="*", default=[])
    arguments = parser.parse_args()
    names = arguments.names or ["doctests", "golden", "usage", "grid"]
    failures = 0
    rows = []
    with tempfile.TemporaryDirectory(prefix="firesteel-conformance-") as folder:
        work = Path(folder)
        if "doctests" in names:
            status, table = doctests(arguments.suites, work)
            rows += table.items()
            failures += hold_passes(HERE / "doctests.txt", status, arguments.update)
        if "golden" in names:
            status, table = golden(arguments.suites, work)
            rows += table.items()
            failures += hold_counts(HERE / "golden.txt", status, arguments.update)
    if "usage" in names:
        differences, table = examples()
        rows += table.items()
        failures += hold_misses(HERE / "usage_misses.txt", differences, arguments.update)
    if "grid" in names:
        new, table = grid(arguments.update)
        rows += table.items()
        failures += new
    print(f"{'suite':<28}{'passed':>8}{'of':>8}{'share':>9}")
    for name, (passed, total) in rows:
        print(f"{name:<28}{passed:>8}{total:>8}{passed / max(total, 1):>9.1%}")
    print("conformance:", "FAILED" if failures else "ok", f"({failures} listed cases fail)")
    return 1 if failures else 0


def read(path: Path) -> list[str]:
    lines = path.read_text().splitlines() if path.exists() else []
    return [line for line in lines if line and not line.startswith("#")]


def hold_passes(path: Path, status: dict[str, str], update: bool) -> int:
    """The list names objects that pass."""
    listed = set(read(path))
    passed = {name for name, outcome in status.items() if outcome == "pass"}
    lost = sorted(listed - passed)
    for name in lost:
        print(f"FAILS, but is listed: {name} ({status.get(name, 'not run')})")
    new = passed - listed
    print(f"{path.name}: {len(listed)} listed, {len(new)} new passes")
    if update and new:
        header = "# Documented objects whose examples pass: suite:object.\n"
        path.write_text(header + "\n".join(sorted(listed | passed)) + "\n")
    return len(lost)


def hold_counts(path: Path, status: dict[str, str], update: bool) -> int:
    """The list holds, for each golden file, how many of its blocks are right at least."""
    listed = dict(line.rsplit(" ", 1) for line in read(path))
    lost = 0
    for name, least in sorted(listed.items()):
        if int(status.get(name, 0)) < int(least):
            print(f"FEWER right than listed: {name}: {status.get(name, 'not run')} < {least}")
            lost += 1
    if update:
        best = {n: max(int(status.get(n, 0)), int(listed.get(n, 0))) for n in set(listed) | set(status)}
        header = "# Golden SQL files, with the number of blocks (results and errors) that are right at least.\n"
        path.write_text(header + "".join(f"{n} {c}\n" for n, c in sorted(best.items()) if c))
    return lost


def hold_misses(path: Path, differences: dict[str, str | None], update: bool) -> int:
    """The list names the cases that are not Spark's, each with the reason; all others are."""
    listed = dict(line.split(" ", 1) for line in read(path))
    wrong = {name: text for name, text in differences.items() if text}
    lost = sorted(wrong.keys() - listed.keys())
    for name in lost:
        print(f"NOT SPARK'S, and not listed: {name}: {wrong[name]}")
    right = listed.keys() - wrong.keys()
    print(f"{path.name}: {len(listed)} listed, {len(right)} of them are Spark's now")
    if update and right:
        header = "".join(f"{line}\n" for line in path.read_text().splitlines() if line.startswith("#"))
        path.write_text(header + "".join(f"{n} {r}\n" for n, r in listed.items() if n in wrong))
    return len(lost)


if __name__ == "__main__":
    ended = main()
    sys.stdout.flush()
    # Threads of a client may still look for a server that has ended.
    os._exit(ended)
