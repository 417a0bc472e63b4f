"""Runs units against a server: many expressions in a query, split where one of them fails."""

import grpc

from cases import COLUMNS, NULL, SOURCES, Unit, grid_rows, settings
from wire import OPTIONS, Failure, Session, Unreadable

# How many expressions stand in one query.
BATCH = {"literal": 64, "column": 48, "all": 16, "none": 16, "groups": 16, "frames": 12}

# What makes Spark answer small queries sooner, with the same answers.
SMALL = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN",
         "spark.sql.shuffle.partitions": "1", "spark.sql.adaptive.enabled": "false"}

# An answer: {"t": type, "n": nullable, "v": values} or {"e": condition, "m": message}; a value is a text, None or such an error.
Answer = dict


class Asker:
    """A connection with a session for each profile."""

    def __init__(self, url: str, further: dict[str, str] | None = None):
        self.channel = grpc.insecure_channel(url.removeprefix("sc://").split("/")[0], OPTIONS)
        self.sessions: dict[str, Session] = {}
        self.further = further or {}

    def session(self, unit: Unit) -> Session:
        if unit.profile not in self.sessions:
            self.sessions[unit.profile] = Session(self.channel, settings(unit.profile) | self.further)
        return self.sessions[unit.profile]

    def close(self) -> None:
        for session in self.sessions.values():
            session.close()
        self.channel.close()

    def answer(self, units: list[Unit], expected: list[Answer] | None = None) -> list[Answer]:
        """The answers to some units. What is expected to fail is asked alone, which saves splitting;
        without expectations each is analysed first."""
        answers: dict[int, Answer] = {}
        if not expected:
            expected = [self.analysis(unit) for unit in units]
            answers = {k: answer for k, answer in enumerate(expected) if "e" in answer}
        batches: dict[tuple, list[int]] = {}
        for index, (unit, hint) in enumerate(zip(units, expected)):
            if index in answers:
                continue
            if unit.mode == "rows":
                answers[index] = self.table(unit)
            elif "e" in hint or holds_months(hint["t"]) or any(isinstance(v, dict) for v in hint.get("v", [])):
                answers[index] = self.rows(unit, hint) if unit.mode == "column" else self.alone(unit)
            else:
                batches.setdefault((unit.profile, unit.mode, unit.types, tuple(unit.rows)), []).append(index)
        for members in batches.values():
            size = BATCH[units[members[0]].mode]
            for start in range(0, len(members), size):
                part = members[start:start + size]
                answers.update(zip(part, self.together([units[k] for k in part])))
        return [answers[index] for index in range(len(units))]

    def analysis(self, unit: Unit) -> Answer:
        """Type and nullability of a unit."""
        try:
            data_type, nullable = self.session(unit).analyze(form(unit, [])[0](f"{unit.text} AS c"))[-1]
            return {"t": data_type, "n": nullable}
        except Failure as error:
            return failed(error)

    def together(self, units: list[Unit]) -> list[Answer]:
        """Units of one mode, over the same rows."""
        if len(units) == 1:
            return [self.rows(units[0], {}) if units[0].mode == "column" else self.alone(units[0])]
        sql, skipped = form(units[0], list(range(len(units[0].rows))))
        try:
            columns, values = self.session(units[0]).query(sql(", ".join(f"{u.text} AS c{k}" for k, u in enumerate(units))))
        except (Failure, Unreadable):
            half = len(units) // 2
            return self.together(units[:half]) + self.together(units[half:])
        answers = zip(units, columns[skipped:], values[skipped:])
        if not skipped:
            return [{"t": t, "n": n, "v": [joined(unit, v)]} for unit, (t, n), v in answers]
        return [{"t": t, "n": n, "v": by_row(values[0], v, range(len(unit.rows)))} for unit, (t, n), v in answers]

    def alone(self, unit: Unit) -> Answer:
        try:
            (data_type, nullable), _, values = self.run(unit, [])
        except Failure as error:
            return failed(error)
        return {"t": data_type, "n": nullable, "v": [joined(unit, values)]}

    def table(self, unit: Unit) -> Answer:
        """A query with rows and columns of its own."""
        try:
            columns, values = self.session(unit).query(unit.text)
        except Failure as error:
            return failed(error)
        except Unreadable as unreadable:
            columns, values = unreadable.columns, []
        types = ", ".join(f"{t}{'?' * n}" for t, n in columns)
        return {"t": types, "n": False, "v": ["; ".join(", ".join(map(shown, row)) for row in zip(*values))]}

    def rows(self, unit: Unit, hint: Answer) -> Answer:
        """A unit over rows: those that are expected to fail alone, others together, split where one fails."""
        values: dict[int, object] = {}
        kind: dict[str, object] = {}
        failing = {k: v["e"] for k, v in enumerate(hint.get("v", [])) if isinstance(v, dict)}
        if "e" not in hint and len(failing) < len(unit.rows):
            self.some(unit, [k for k in range(len(unit.rows)) if k not in failing], values, kind)
        if not kind and not failing and values:
            # All of them fail: perhaps because of the expression.
            analysed = self.analysis(unit)
            if "e" in analysed:
                return analysed
            kind = analysed
        for k, condition in failing.items():
            if condition == "-":
                values[k] = {"e": "-"}
            else:
                self.some(unit, [k], values, kind)
        if not kind:
            kind = self.analysis(unit)
            if "e" in kind:
                return kind
        return {"t": kind["t"], "n": kind["n"], "v": [values.get(k) for k in range(len(unit.rows))]}

    def some(self, unit: Unit, members: list[int], values: dict, kind: dict) -> None:
        try:
            (kind["t"], kind["n"]), numbers, found = self.run(unit, members)
            values.update(zip(members, by_row(numbers, found, members)))
        except Failure as error:
            if len(members) == 1:
                values[members[0]] = failed(error)
                return
            if not kind:
                analysed = self.analysis(unit)
                if "e" in analysed:
                    values.update((k, analysed) for k in members)
                    return
                kind.update(t=analysed["t"], n=analysed["n"])
            half = len(members) // 2
            self.some(unit, members[:half], values, kind)
            self.some(unit, members[half:], values, kind)

    def run(self, unit: Unit, members: list[int]) -> tuple[tuple[str, bool], list, list]:
        """Type and nullability, numbers of rows, values."""
        sql, _ = form(unit, members)
        session = self.session(unit)
        try:
            columns, values = session.query(sql(f"{unit.text} AS c"))
        except Unreadable as unreadable:
            columns = unreadable.columns
            _, values = session.query(sql(f"CAST({unit.text} AS STRING) AS c"))
        return columns[-1], values[0], values[-1]


def form(unit: Unit, members: list[int]):
    """The query around expressions, as a function of them, and how many columns stand before them.

    Over rows, a row of nulls, which is filtered out, makes every column nullable and fixes its type.
    """
    if unit.mode == "rows":
        return (lambda text: unit.text), 0
    if unit.mode == "literal":
        return (lambda text: f"SELECT {text}"), 0
    if unit.mode != "column":
        return (lambda text: SOURCES[unit.mode].format(text, grid_rows(text))), 0
    nulls = ", ".join(NULL.format(t) for t in unit.types)
    lines = [f"({k}, {', '.join(unit.rows[k])})" for k in members] + [f"(-1, {nulls})"]
    names = ", ".join(COLUMNS[:len(unit.types)])
    return (lambda text: f"SELECT i, {text} FROM VALUES {', '.join(lines)} AS t(i, {names}) WHERE i >= 0"), 1


def by_row(numbers: list, values: list, members) -> list:
    found = dict(zip(numbers, values))
    return [found.get(str(k), {"e": "no row"}) for k in members]


def failed(error: Failure) -> Answer:
    return {"e": error.condition, "m": error.message}


def holds_months(data_type: str) -> bool:
    """Holds intervals that are read as text."""
    return "interval year" in data_type or "interval month" in data_type


def joined(unit: Unit, values: list) -> str | None:
    """The value of an expression over no rows; else the values of all rows."""
    if unit.mode == "literal":
        return values[0] if values else None
    return "; ".join(map(shown, values))


def shown(value: str | None) -> str:
    return "NULL" if value is None else value
