"""Compares functions over the grid with Spark's answers, and asks Spark for them.

  run.py check --url sc://host:port [--only REGEX] [--out FILE] [--update]
  run.py ask   --url sc://host:port [--guide sc://ours] [--all]
                                         asks a Spark 4.2.1 server; writes answers.jsonl.xz
  run.py list                            how many cases there are

`check` fails on a difference that known.txt does not list. --update takes differences that
are gone out of the list; new ones are put into it by hand, with a reason, from --out.
"""

import argparse
import collections
import json
import lzma
import multiprocessing
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from ask import SMALL, Asker  # noqa: E402
from cases import HERE, Unit, units  # noqa: E402

ANSWERS = HERE / "answers.jsonl.xz"
KNOWN = HERE / "known.txt"
CHUNK = 150
# Answers are written after so many units.
SLICE = 3000
# Rows of one unit that fail alike; further ones are not asked again.
MOST_ALIKE = 2

_asker: Asker | None = None


def _connect(url: str, further: dict) -> None:
    global _asker
    _asker = Asker(url, further)


def _work(task: tuple[int, list[Unit], list | None]) -> tuple[int, list]:
    number, some, expected = task
    return number, _asker.answer(some, expected)


def ask_all(url: str, some: list[Unit], expected: list | None, processes: int, further: dict | None = None) -> list:
    """The answers to all units, asked from several processes."""
    order = sorted(range(len(some)), key=lambda k: (some[k].profile, some[k].mode))
    chunks = [order[k:k + CHUNK] for k in range(0, len(order), CHUNK)]
    tasks = [(n, [some[k] for k in c], [expected[k] for k in c] if expected else None) for n, c in enumerate(chunks)]
    answers: list = [None] * len(some)
    with multiprocessing.get_context("spawn").Pool(processes, _connect, (url, further or {})) as pool:
        for done, (number, part) in enumerate(pool.imap_unordered(_work, tasks), 1):
            for k, answer in zip(chunks[number], part):
                answers[k] = answer
            if done % 10 == 0 and len(tasks) > 20:
                print(f"{done} of {len(tasks)}", file=sys.stderr, flush=True)
    return answers


def ask(url: str, guide: str | None, processes: int, everything: bool) -> None:
    """Asks for what has no answer yet. A guide is another server, whose answers tell which units
    probably fail; that only saves queries."""
    some = units()
    answers = read_answers() if ANSWERS.exists() and not everything else {}
    missing = [unit for unit in some if unit.key() not in answers or stale(unit, answers[unit.key()])]
    for start in range(0, len(missing), SLICE):
        part = missing[start:start + SLICE]
        hints = ask_all(guide, part, None, processes) if guide else None
        for unit, answer in zip(part, ask_all(url, part, hints, processes, SMALL)):
            if any(is_no_answer(e) for e in [answer, *answer.get("v", [])]):
                continue
            answer.pop("m", None)
            thin(answer)
            if unit.mode == "column" and "v" in answer:
                answer["r"] = unit.rows_key()
            answers[unit.key()] = answer
        write_answers(some, answers)
        print(f"{start + len(part)} of {len(missing)} units asked", file=sys.stderr, flush=True)
    print(f"{len(missing)} asked; {len(some)} units, {sum(u.count for u in some)} cases; {ANSWERS.stat().st_size} bytes")


def write_answers(some: list[Unit], answers: dict[str, dict]) -> None:
    fresh = ANSWERS.with_suffix(".new")
    with lzma.open(fresh, "wt", preset=9) as out:
        for key in (unit.key() for unit in some):
            if key in answers:
                out.write(json.dumps([key, answers[key]], ensure_ascii=True, separators=(",", ":")) + "\n")
    fresh.replace(ANSWERS)


def is_no_answer(value) -> bool:
    """The server was too busy to say what Spark says."""
    return isinstance(value, dict) and value.get("e") in ("DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED", "no row")


def stale(unit: Unit, answer: dict) -> bool:
    """The rows of the unit are not those of the answer."""
    return unit.mode == "column" and "v" in answer and answer.get("r") != unit.rows_key()


def thin(answer: dict) -> None:
    """Leaves out rows that fail as others of the unit do."""
    alike = collections.Counter()
    for value in answer.get("v", []):
        if isinstance(value, dict):
            value.pop("m", None)
            alike[value["e"]] += 1
            if alike[value["e"]] > MOST_ALIKE:
                value["e"] = "-"


def read_answers() -> dict[str, dict]:
    with lzma.open(ANSWERS, "rt") as lines:
        return dict(map(json.loads, lines))


def differences(unit: Unit, want: dict, got: dict):
    """(key, text, aspect, expected, found) for each case that differs, and the number of cases."""
    if "e" in want or "e" in got:
        if not ("e" in want and "e" in got and alike(want["e"], got["e"])):
            yield unit.key(), unit.case_text(0), "error", shown(want), shown(got)
        return
    if want["t"] != got["t"]:
        yield unit.key(), unit.case_text(0), "type", want["t"], got["t"]
    elif want["n"] != got["n"]:
        yield unit.key(), unit.case_text(0), "nullable", want["n"], got["n"]
    for row, (expected, found) in enumerate(zip(want["v"], got["v"])):
        if isinstance(expected, dict):
            if expected["e"] != "-" and not (isinstance(found, dict) and alike(expected["e"], found["e"])):
                yield unit.case_key(row), unit.case_text(row), "error", shown(expected), shown(found)
        elif isinstance(found, dict):
            yield unit.case_key(row), unit.case_text(row), "error", shown(expected), shown(found)
        elif not unit.volatile and expected != found:
            yield unit.case_key(row), unit.case_text(row), "value", expected, found


# Exceptions without a condition, by the class under which clients know them; others are unknown to them.
CLASSES = {
    "java.lang.ArithmeticException": "arithmetic",
    "java.lang.IllegalArgumentException": "argument",
    "java.util.IllegalFormatConversionException": "argument",
    "java.util.IllegalFormatCodePointException": "argument",
    "java.util.MissingFormatArgumentException": "argument",
    "java.util.UnknownFormatConversionException": "argument",
    "java.util.regex.PatternSyntaxException": "argument",
    "java.lang.NumberFormatException": "number",
    "java.lang.UnsupportedOperationException": "unsupported",
    "java.time.DateTimeException": "datetime",
    "org.apache.spark.SparkException": "spark",
    "org.apache.spark.sql.AnalysisException": "analysis",
}


def alike(one: str, other: str) -> bool:
    """Two errors that clients cannot tell apart. Conditions that are only numbered say nothing."""
    if one == other:
        return True
    if " " in one or " " in other:
        return False
    numbered = one.startswith("_LEGACY_ERROR_TEMP") or other.startswith("_LEGACY_ERROR_TEMP")
    return numbered or CLASSES.get(one, "unknown") == CLASSES.get(other, "unknown")


def shown(value) -> str:
    if isinstance(value, dict):
        if "e" not in value:
            return f"{value['t']} {value['v'][0] if value['v'] else ''}"
        return f"! {value['e']}" + (f": {value['m'][:300]}" if value.get("m") else "")
    return "NULL" if value is None else str(value)


def asked(want: dict, unit: Unit) -> int:
    if "e" in want:
        return 1
    return sum(not (isinstance(v, dict) and v["e"] == "-") for v in want["v"])


def read_known() -> dict[str, str]:
    """Keys of cases that are known to differ, with the reason that stands above them."""
    known, reason = {}, ""
    for line in KNOWN.read_text().splitlines() if KNOWN.exists() else []:
        if line.startswith("= "):
            reason = line[2:]
        elif line and not line.startswith("#"):
            known[line.split()[0]] = reason
    return known


def check(url: str, processes: int, only: str | None, out: Path | None, update: bool) -> tuple[int, int, int]:
    """New differences, cases that are equal, cases."""
    answers = read_answers()
    some = units()
    unanswered = [unit for unit in some if unit.key() not in answers or stale(unit, answers[unit.key()])]
    if unanswered:
        print(f"grid: {len(unanswered)} units have no answer; run.py ask")
        return len(unanswered), 0, len(some)
    if only:
        some = [u for u in some if re.fullmatch(only, u.function)]
    expected = [answers[u.key()] for u in some]
    got = ask_all(url, some, expected, processes)
    total = sum(asked(want, unit) for unit, want in zip(some, expected))
    found: dict[str, tuple] = {}
    for unit, want, have in zip(some, expected, got):
        for difference in differences(unit, want, have):
            found.setdefault(difference[0], (unit.function, *difference))
    known = read_known()
    new = [d for key, d in found.items() if key not in known]
    for function, key, text, aspect, want, have in new[:40]:
        print(f"DIFFERS: {key} {function} [{aspect}] {text}\n    Spark {want}\n    ours  {have}")
    if len(new) > 40:
        print(f"… and {len(new) - 40} more")
    gone = [] if only else [key for key in known if key not in found]
    print(f"grid: {total} cases, {total - len(found)} equal ({(total - len(found)) / max(total, 1):.2%}), "
          f"{len(known)} known to differ, {len(new)} new differences, {len(gone)} known ones are gone")
    if out:
        out.write_text("".join(json.dumps(d, ensure_ascii=False) + "\n" for d in found.values()))
    if update and gone:
        lines = KNOWN.read_text().splitlines()
        KNOWN.write_text("\n".join(line for line in lines if line.split(" ", 1)[0] not in set(gone)) + "\n")
    return len(new), total - len(found), total


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["check", "ask", "list"])
    parser.add_argument("--url")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", help="functions whose names match")
    parser.add_argument("--out", type=Path, help="where all differences are written, as lines of JSON")
    parser.add_argument("--counts", type=Path, help="where the counts are written, as JSON")
    parser.add_argument("--update", action="store_true", help="take differences that are gone out of known.txt")
    parser.add_argument("--guide", help="a server whose answers show what will probably fail, which saves queries")
    parser.add_argument("--all", action="store_true", help="ask again for what has an answer")
    arguments = parser.parse_args()
    if arguments.action == "ask":
        ask(arguments.url, arguments.guide, arguments.processes, arguments.all)
        return 0
    if arguments.action == "list":
        some = units()
        print(f"{len(some)} units, {sum(u.count for u in some)} cases, {len({u.function for u in some})} functions")
        return 0
    new, equal, cases = check(arguments.url, arguments.processes, arguments.only, arguments.out, arguments.update)
    if arguments.counts:
        arguments.counts.write_text(json.dumps({"new": new, "equal": equal, "cases": cases}))
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(main())
