"""The grid: from functions.txt and pools.py to units, each one expression over rows of arguments.

Everything here is deterministic: the same files give the same units in the same order.
"""

import hashlib
import random
import re
from dataclasses import dataclass, field
from pathlib import Path

from pools import CAST_SOURCES, KINDS, MACROS, NULL, TARGETS, TYPES

HERE = Path(__file__).resolve().parent

# ANSI mode and time zone of a session, by letter.
PROFILES = {
    "A": ("true", "America/Los_Angeles"),
    "L": ("false", "America/Los_Angeles"),
    "K": ("true", "Asia/Kathmandu"),
    "P": ("false", "Europe/Paris"),
}


def settings(profile: str) -> dict[str, str]:
    """The settings of a session of a profile."""
    ansi, zone = PROFILES[profile]
    return {"spark.sql.ansi.enabled": ansi, "spark.sql.session.timeZone": zone, "spark.sql.timeType.enabled": "true",
            "spark.sql.geospatial.enabled": "true"}


# Operators that are tried with every pair of types.
PAIRS = ["+", "-", "*", "/", "div", "%", "&", "=", "<", "<=>", "||", "coalesce", "nullif", "try_add", "pmod", "array_append",
         "greatest", "in", "sequence"]

# Where an aggregate's rows come from: the expressions, then the table of rows.
SOURCES = {
    "all": "SELECT {} FROM {}",
    "none": "SELECT {} FROM {} WHERE i < 0",
    "groups": "SELECT {} FROM {} GROUP BY g ORDER BY g",
    "frames": "SELECT {} FROM {} ORDER BY i",
}

MOST_ROWS = 12
MOST_LITERALS = 2
MOST_COMBINATIONS = 6
# How many types every argument is tried with, and which share of all pairs an operator.
TYPES_EACH = 8
PAIRS_SHARE = 0.2
COLUMNS = "abcdefgh"


@dataclass
class Unit:
    """One expression in one session: over rows of arguments, or over none.

    mode  literal: the expression alone; column: over `rows` of literals of `types`;
          all, none, groups, frames: over grid_rows; rows: a query with any number of rows and columns
    """

    function: str
    profile: str
    mode: str
    text: str
    types: tuple[str, ...] = ()
    rows: list[tuple[str, ...]] = field(default_factory=list)
    volatile: bool = False

    def key(self) -> str:
        parts = [self.profile, self.mode, self.text, *self.types]
        return hashlib.sha1("\x1f".join(parts).encode()).hexdigest()[:10]

    def case_key(self, row: int) -> str:
        if self.mode != "column":
            return self.key()
        return hashlib.sha1("\x1f".join([self.key(), *self.rows[row]]).encode()).hexdigest()[:10]

    def case_text(self, row: int) -> str:
        if self.mode != "column":
            return f"{self.profile} {self.mode}: {self.text}"
        return f"{self.profile} {self.text} of {', '.join(self.rows[row])}"

    def rows_key(self) -> str:
        return hashlib.sha1(repr(self.rows).encode()).hexdigest()[:6]

    @property
    def count(self) -> int:
        return len(self.rows) if self.mode == "column" else 1


@dataclass
class Argument:
    kinds: list[str]
    constant: bool
    optional: bool


@dataclass
class Spec:
    """A line of functions.txt."""

    names: list[str]
    flags: str
    arguments: list[Argument]
    template: str | None

    def call(self, name: str, arguments: list[str]) -> str:
        if self.template is None:
            return f"{name}({', '.join(arguments)})"
        text = self.template.replace("{*}", ", ".join(arguments))
        for index, argument in enumerate(arguments):
            text = text.replace(f"{{{index}}}", argument)
        return text

    def has_fixed_form(self) -> bool:
        """The template takes no further arguments."""
        return self.template is not None and "{*}" not in self.template


def specs() -> list[Spec]:
    found = []
    for line in (HERE / "functions.txt").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        head, rest = re.match(r"(\S+(?:, \S+)*(?: \[\S+\])?)\s*: ?(.*)$", line).groups()
        flags = re.search(r" \[(\S+)\]$", head)
        rest, _, template = rest.partition("=> ")
        arguments = []
        for word in rest.split():
            optional, word = word.endswith("?"), word.rstrip("?")
            alternatives = []
            constant = word.startswith("=")
            for part in word.split("|"):
                part = part.strip("=?")
                alternatives += MACROS.get(part, part).split("|")
            arguments.append(Argument(alternatives, constant, optional))
        names = re.sub(r" \[\S+\]$", "", head).split(", ")
        found.append(Spec(names, flags.group(1) if flags else "", arguments, template or None))
    return found


def literals(kind: str) -> list[str]:
    return KINDS[kind][1]


def combinations(spec: Spec, chance: random.Random, count: int) -> list[list[str]]:
    """Kinds of the arguments: the alternatives side by side, some crosswise, and shorter calls."""
    most = max((len(a.kinds) for a in spec.arguments), default=1)
    found = [[a.kinds[k % len(a.kinds)] for a in spec.arguments] for k in range(most)]
    if sum(len(a.kinds) > 1 for a in spec.arguments) > 1:
        found += [[chance.choice(a.kinds) for a in spec.arguments] for _ in range(most // 2)]
    least = sum(not a.optional for a in spec.arguments)
    shorter = [found[k % len(found)][:length] for k, length in enumerate(range(least, len(spec.arguments)))]
    unique = []
    for kinds in shorter + found:
        if kinds not in unique:
            unique.append(kinds)
    return unique[:count]


def rows(kinds: list[str], chance: random.Random, most: int) -> list[tuple[str, ...]]:
    """Every value of each argument beside ordinary ones, then values by chance."""
    pools = [literals(kind) for kind in kinds]
    ordinary = [pool[0] for pool in pools]
    single = [tuple(ordinary)]
    for position, pool in enumerate(pools):
        single += [(*ordinary[:position], value, *ordinary[position + 1:]) for value in pool[1:]]
    if len(kinds) == 1:
        return single[:most + 8]
    mixed = [tuple(chance.choice(pool) for pool in pools) for _ in range(most)]
    if len(single) > most:
        single = [single[0], *sorted(chance.sample(single[1:], most - 1), key=single.index)]
    unique = list(dict.fromkeys(single + mixed))
    return unique[:most + (most // 2 if len(kinds) > 1 else 0)]


def profiles(spec: Spec) -> str:
    return "ALKP" if "z" in spec.flags else "AL"


def value_units(spec: Spec, chance: random.Random) -> list[Unit]:
    """Edge values, as columns and as literals."""
    units = []
    volatile = "~" in spec.flags
    for number, name in enumerate(spec.names):
        most = MOST_ROWS if number == 0 else 3
        for turn, kinds in enumerate(combinations(spec, chance, MOST_COMBINATIONS if number == 0 else 1)):
            drawn = rows(kinds, chance, most)
            for profile in profiles(spec) if number == 0 and turn % 3 == 0 else "A":
                units += column_units(spec, name, kinds, drawn, profile, volatile)
            picked = drawn[:1] + chance.sample(drawn[1:], min(len(drawn) - 1, MOST_LITERALS))
            for row in picked:
                units.append(Unit(name, "A", "literal", spec.call(name, list(row)), volatile=volatile))
            for row in picked[:1] if turn % 3 == 0 else []:
                units.append(Unit(name, "L", "literal", spec.call(name, list(row)), volatile=volatile))
    return units


def column_units(spec: Spec, name: str, kinds: list[str], drawn: list, profile: str, volatile: bool) -> list[Unit]:
    """Constant arguments stay literals: one unit for each of their combinations."""
    constants = [k for k, argument in enumerate(spec.arguments[:len(kinds)]) if argument.constant]
    variables = [k for k in range(len(kinds)) if k not in constants]
    if not variables:
        return []
    by_constant: dict[tuple, list] = {}
    for row in drawn:
        by_constant.setdefault(tuple(row[k] for k in constants), []).append(tuple(row[k] for k in variables))
    units = []
    for values, some in by_constant.items():
        arguments = [""] * len(kinds)
        for k, value in zip(constants, values):
            arguments[k] = value
        for letter, k in zip(COLUMNS, variables):
            arguments[k] = letter
        types = tuple(KINDS[kinds[k]][0] for k in variables)
        text = spec.call(name, arguments)
        units.append(Unit(name, profile, "column", text, types, list(dict.fromkeys(some)), volatile))
    return units


def type_units(spec: Spec, chance: random.Random) -> list[Unit]:
    """Every argument with every type, and wrong numbers of arguments."""
    name = spec.names[0]
    kinds = combinations(spec, chance, 99)[0 if not any(a.optional for a in spec.arguments) else -1]
    whole = [a.kinds[0] for a in spec.arguments]
    kinds = whole if len(whole) >= len(kinds) else kinds
    ordinary = [literals(kind)[0] for kind in kinds]
    mode = mode_of(spec)
    units = []
    volatile = "~" in spec.flags
    for position in range(len(ordinary)):
        used = ordinary[:max(position + 1, sum(not a.optional for a in spec.arguments))]
        for index, (_, value) in sorted(chance.sample(list(enumerate(TYPES)), TYPES_EACH)):
            text = spec.call(name, [*used[:position], value, *used[position + 1:]])
            for profile in "AL" if index % 6 == position else "A":
                units.append(Unit(name, profile, mode, query(spec, text), volatile=volatile))
    if not spec.has_fixed_form():
        for arguments in (ordinary + ["1"], ordinary[:-1]):
            # Calls without arguments may tell the time.
            units.append(Unit(name, "A", mode, query(spec, spec.call(name, arguments)), volatile=volatile or not arguments))
    return units


def mode_of(spec: Spec) -> str:
    if "g" in spec.flags:
        return "rows"
    return "all" if "a" in spec.flags else "literal"


def query(spec: Spec, text: str) -> str:
    return f"SELECT {text}" if "g" in spec.flags else text


def generator_units(spec: Spec, chance: random.Random) -> list[Unit]:
    units = []
    for kinds in combinations(spec, chance, 8):
        for row in rows(kinds, chance, 10):
            units.append(Unit(spec.names[0], "A", "rows", query(spec, spec.call(spec.names[0], list(row))),
                              volatile="~" in spec.flags))
    return units


def aggregate_units(spec: Spec, chance: random.Random) -> list[Unit]:
    units = []
    volatile = "~" in spec.flags
    for number, name in enumerate(spec.names):
        for kinds in combinations(spec, chance, 11 if number == 0 else 1):
            constants = [literals(kind) if argument.constant else None for kind, argument in zip(kinds, spec.arguments)]
            seen = []
            for draw in range(4 if any(constants) else 1):
                arguments = [f"c_{kind}" if pool is None else pool[draw % len(pool)] for kind, pool in zip(kinds, constants)]
                text = spec.call(name, arguments)
                if text in seen:
                    continue
                seen.append(text)
                sources = ["all", "none", "groups"] if draw == 0 else ["all"]
                for profile in "AL" if draw == 0 and number == 0 else "A":
                    units += [Unit(name, profile, source, text, volatile=volatile) for source in sources]
                if draw == 0 and spec.template is None and not name.startswith("grouping"):
                    framed = f"{text} OVER (ORDER BY i ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)"
                    units.append(Unit(name, "A", "frames", framed, volatile=volatile))
                    if "?" not in text and number == 0:
                        distinct = f"{name}(DISTINCT {', '.join(arguments)})"
                        filtered = f"{text} FILTER (WHERE i % 2 = 0)"
                        if name not in ("first", "last", "any_value", "collect_list", "collect_set", "listagg"):
                            units.append(Unit(name, "A", "all", distinct, volatile=volatile))
                        units.append(Unit(name, "A", "groups", filtered, volatile=volatile))
    return units


def window_units(spec: Spec, chance: random.Random) -> list[Unit]:
    units = []
    for kinds in combinations(spec, chance, 14):
        for draw in range(3 if any(a.constant for a in spec.arguments) else 1):
            arguments = []
            for kind, argument in zip(kinds, spec.arguments):
                pool = literals(kind)
                arguments.append(pool[draw % len(pool)] if argument.constant else f"c_{kind}")
            call = spec.call(spec.names[0], arguments)
            # Rows with equal keys are equal to these; to others their order would show.
            has_peers = "rank" in spec.names[0] or "dist" in spec.names[0]
            units += [Unit(spec.names[0], "A", "frames", f"{call} OVER ({over})")
                      for over in ("PARTITION BY g ORDER BY i", "ORDER BY c_m32, i DESC", "ORDER BY c_m32")[:3 if has_peers else 2]]
    return units


def pair_units(spec: Spec, chance: random.Random) -> list[Unit]:
    """An operator with every pair of types."""
    name = spec.names[0]
    units = []
    for left, (_, first) in enumerate(TYPES):
        for right, (_, second) in enumerate(TYPES):
            rest = [literals(a.kinds[0])[0] for a in spec.arguments[2:] if not a.optional]
            text = spec.call(name, [first, second, *rest])
            turn = chance.random()
            if turn < PAIRS_SHARE:
                units.append(Unit(name, "L" if turn < PAIRS_SHARE / 5 else "A", "literal", text))
    return units


def cast_units(chance: random.Random) -> list[Unit]:
    units = []
    for source in CAST_SOURCES:
        sql_type, values = KINDS[source]
        for number, target in enumerate(TARGETS):
            zoned = {"TIMESTAMP", "DATE", "STRING", "TIMESTAMP_NTZ"} & {target} and source in ("ts", "ntz", "date", "ts_text", "i64")
            for profile in "ALKP" if zoned else "AL":
                units.append(Unit("cast", profile, "column", f"CAST(a AS {target})", (sql_type,), [(v,) for v in values]))
            if number % 2 == 0:
                units.append(Unit("try_cast", "A", "column", f"TRY_CAST(a AS {target})", (sql_type,), [(v,) for v in values]))
            if number % 3 == CAST_SOURCES.index(source) % 3:
                units.append(Unit("cast", "A", "literal", f"CAST({values[0]} AS {target})"))
                units.append(Unit("cast", "A", "literal", f"CAST({values[-2 if len(values) > 1 else 0]} AS {target})"))
    return units


def grid_rows(text: str) -> str:
    """The rows of aggregates: the columns that a text names, with their kinds' values one after another, in one partition."""
    kinds = [kind for kind in sorted(set(re.findall(r"\bc_(\w+)", text)) | {"m32"}) if kind in KINDS]
    lines = []
    for i in range(12):
        cells = [KINDS[kind][1][i % len(KINDS[kind][1])] for kind in kinds]
        lines.append(f"({i}, {i % 3}, {', '.join(cells)})")
    nulls = ", ".join(NULL.format(KINDS[kind][0]) for kind in kinds)
    columns = ", ".join(f"c_{kind}" for kind in kinds)
    return f"(SELECT /*+ COALESCE(1) */ * FROM VALUES {', '.join(lines)}, (-1, 0, {nulls}) AS t(i, g, {columns}) WHERE i >= 0)"


def units() -> list[Unit]:
    """All units, without repetitions."""
    found = []
    for spec in specs():
        chance = random.Random(spec.names[0])
        if "w" in spec.flags:
            found += window_units(spec, chance)
            continue
        if "a" in spec.flags:
            found += aggregate_units(spec, chance)
        elif "g" in spec.flags:
            found += generator_units(spec, chance)
        else:
            found += value_units(spec, chance)
        if "n" not in spec.flags:
            found += type_units(spec, chance)
        if spec.names[0] in PAIRS:
            found += pair_units(spec, chance)
    found += cast_units(random.Random("cast"))
    unique: dict[str, Unit] = {}
    for unit in found:
        known = unique.setdefault(unit.key(), unit)
        if known is not unit and unit.mode == "column":
            known.rows = list(dict.fromkeys(known.rows + unit.rows))
    return list(unique.values())
