"""Metrics that a program prints, in JSON or in words.

They are looked for when nothing is measured any more. A regular expression may take for ever and
would block every thread of the measuring process: a process of its own looks for it.
"""

import json
import math
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal, TypedDict, cast

from benchyard.case.resource import CommandResult
from benchyard.core.amounts import unit_size
from benchyard.core.errors import CommandFailedError, InputError
from benchyard.core.model import Json
from benchyard.core.wording import hint, quote
from benchyard.process.children import pipe, spawn

#: Output beyond (bytes) is not looked through: all of it is in memory then.
MOST_BYTES = 64 << 20
#: CPU seconds in which a pattern must be found.
SEARCH_SECONDS = 10
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_UNIT = re.compile(r"[^\s\x00-\x1f\x7f](?:[^\x00-\x1f\x7f]{0,30}[^\s\x00-\x1f\x7f])?")
#: What a command reports by itself.
_TAKEN = frozenset({"exit_code", "run_s", "cpu_user_s", "cpu_system_s", "peak_rss_bytes"})
_SEARCH = """
import json, re, resource, sys
resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[1]), int(sys.argv[1])))
text = open(sys.argv[2], encoding="utf-8", errors="replace").read()

def named(place):
    if not 0 <= place < len(text) or text[place].isalnum():
        return False
    other = text[:place] + "\\0" + text[place + 1:]
    again = pattern.match(other, last.start()), pattern.search(other, start)
    return not any(match and match.span(group) == (start, end) for match in again)

found = []
for pattern in json.loads(sys.stdin.read()):
    pattern, last = re.compile(pattern, re.MULTILINE), None
    for last in pattern.finditer(text):
        pass
    if last is None:
        found.append(None)
        continue
    groups = pattern.groupindex
    group = groups.get("value") or (2 if groups.get("unit") == 1 else 1)
    start, end = last.span(group)
    before = "" if named(start - 1) else text[max(0, start - 40) : start]
    after = "" if named(end) else text[end : end + 40]
    unit = last["unit"] if "unit" in groups else ""
    found.append((before, last[group], after, unit) if start >= 0 else None)
print(json.dumps(found))
"""


class Metric(TypedDict, total=False):
    """Where a metric stands in what a program prints; ``json`` or ``pattern``.

    ``json``: names and positions joined by dots, such as ``results.0.rps``, or a JSON pointer
    (``/results/0/rps``), in all that is printed or else in its last line. ``pattern``: a regular
    expression with one group, or one named ``value``; its last match counts, and must be a whole
    number. A group named ``unit`` takes the unit, ``thousands`` is what separates thousands.
    ``factor`` makes SI units of what is printed: 0.001 for ms. Where an ``optional`` one is
    missing, it is null.
    """

    json: str
    pattern: str
    thousands: str
    unit: str
    direction: Literal["smaller is better", "larger is better"]
    factor: float
    optional: bool


#: Name of a metric to where it stands; a text alone is ``json``.
Metrics = dict[str, str | Metric]


def _full(given: str | Metric) -> Metric:
    return {"json": given} if isinstance(given, str) else given


# -- before anything is executed


def refused_metrics(given: Json) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield what is wrong with the ``metrics`` of a step: where, and a sentence.

    Args:
        given: As the step has them; what is of another type is passed over.
    """
    for name, metric in given.items() if isinstance(given, dict) else ():
        where = ("parameters", "metrics", name)
        if not _NAME.fullmatch(name):
            yield where, f"'{quote(name)}' has not the form {_NAME.pattern}"
        if name in _TAKEN or name.removeprefix("client_") in _TAKEN:
            yield where, f"'{name}' is reported by the command itself; take another name"
        if isinstance(metric, str | dict):
            yield from ((where, said) for said in _wrong(cast("str | Metric", metric)))


def _wrong(given: str | Metric) -> Iterator[str]:
    metric: Mapping[str, Any] = _full(given)
    if ("json" in metric) == ("pattern" in metric):
        yield "must have one of 'json' and 'pattern'"
    if metric.get("json") == "":
        yield "json is empty; write names joined by dots, like results.rps"
    if isinstance(pattern := metric.get("pattern"), str) and (said := _wrong_pattern(pattern)):
        yield said
    unit, factor, thousands = metric.get("unit"), metric.get("factor"), metric.get("thousands")
    if thousands is not None and ("json" in metric or thousands not in (*BETWEEN, " ")):
        yield "thousands is what separates digits in a pattern's group: one of , . ' _ or a space"
    if isinstance(unit, str) and not _UNIT.fullmatch(unit):
        yield f"unit is '{quote(unit)}'; it has 1 to 32 printable characters"
    if isinstance(factor, int | float) and not (math.isfinite(factor) and factor != 0):
        yield f"factor is {factor}; it must be a number other than 0"


def _wrong_pattern(pattern: str) -> str | None:
    try:
        groups = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f"pattern is '{quote(pattern)}', which is no regular expression: {error}"
    if groups.groups - ("unit" in groups.groupindex) == 1 or "value" in groups.groupindex:
        return None
    return (
        f"pattern '{quote(pattern)}' must have one group, or one named 'value': (?P<value>…); "
        "the unit's is named 'unit'"
    )


# -- afterwards


def with_metrics(result: CommandResult, metrics: Metrics | None) -> CommandResult:
    """Let metrics be read from a command's output once nothing is measured any more."""
    if not metrics:
        return result
    wanted = {name: _full(given) for name, given in metrics.items()}
    return replace(result, verify=lambda: printed_metrics(result.output, wanted))


def printed_metrics(output: Path | None, wanted: Mapping[str, Metric]) -> dict[str, Json]:
    """Return the metrics that stand in an output; null for an optional one that is not there.

    Args:
        output: The file; None if nothing was printed.

    Raises:
        CommandFailedError: If one is missing, or is no number; all are told.
    """
    if output is not None and output.stat().st_size > MOST_BYTES:
        raise CommandFailedError(
            f"the program printed {output.stat().st_size:,} bytes; metrics are looked for in "
            f"{MOST_BYTES >> 20} MiB at most"
        )
    document = cache(partial(_document, output))
    matches = _searched(output, {n: m["pattern"] for n, m in wanted.items() if "pattern" in m})
    found, problems = dict[str, Json](), list[str]()
    for name, metric in wanted.items():
        try:
            if "json" in metric:
                raw = value_at(document(), metric["json"])
            else:
                raw = whole_number(matches[name], metric)
            found[name] = number_of(raw) * metric.get("factor", 1)
        except MissingError as error:
            if error.odd or not metric.get("optional"):
                problems.append(f"'{name}': {error}")
            found[name] = None
    if problems:
        raise CommandFailedError(f"what the program printed lacks metrics: {'; '.join(problems)}")
    return found


def number_of(raw: object) -> float:
    number: float | None = None
    with suppress(ValueError, OverflowError):
        if isinstance(raw, str):
            number = float(raw)
        elif isinstance(raw, int | float) and not isinstance(raw, bool):
            float(raw)  # not beyond what floats hold
            number = raw
    if number is None or not math.isfinite(number):
        raise MissingError(f"{quote(raw)} is no number", odd=True)
    return number


def _document(output: Path | None) -> object:
    text = "" if output is None else output.read_text(encoding="utf-8", errors="replace")
    # Many programs talk before they tell.
    for candidate in (text, text.rstrip().rpartition("\n")[2]):
        with suppress(ValueError, RecursionError):
            return json.loads(candidate)
    what = "it is no JSON, nor is its last line" if text.strip() else "nothing was printed"
    raise MissingError(what)


def value_at(document: object, path: str) -> object:
    value = document
    for name in _names(path):
        inner = cast("dict[str, object]", value) if isinstance(value, dict) else {}
        items = cast("list[object]", value) if isinstance(value, list) else []
        if name.isdecimal() and int(name[:9]) < len(items):
            value = items[int(name[:9])]
        elif name in inner:
            value = inner[name]
        else:
            what = f"there is no '{quote(name)}' of '{quote(path)}' in its JSON"
            raise MissingError(what + hint(name, list(inner)))
    return value


def _names(path: str) -> list[str]:
    """Return the names of a path. Source of pointers: RFC 6901, section 4."""
    if not path.startswith("/"):
        return path.split(".")
    return [name.replace("~1", "/").replace("~0", "~") for name in path[1:].split("/")]


#: The last match of a pattern: what stands before its group, the group, what stands behind it, and
#: the unit. Where the pattern itself names a neighbour, nothing stands there.
Match = tuple[str, str, str, str | None]


def _searched(output: Path | None, patterns: Mapping[str, str]) -> dict[str, Match | None]:
    """Return the last match of each pattern, None for one that has none.

    Raises:
        CommandFailedError: If it takes too long.
    """
    if output is None or not patterns:
        return dict.fromkeys(patterns)
    code = [sys.executable, "-I", "-S", "-c", _SEARCH, str(SEARCH_SECONDS), str(output)]
    child = spawn(code, folder=Path("/"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        # It reads all of them before it answers.
        with suppress(OSError), pipe(child.stdin) as questions:
            questions.write(json.dumps([*patterns.values()]).encode())
        with pipe(child.stdout) as answers:
            told = answers.read()
        ended = child.wait()
    finally:
        child.kill()
    if ended.exit_status:
        why = f"took more than {SEARCH_SECONDS} s, or broke off ({ended.describe()})"
        raise CommandFailedError(
            f"looking for metrics {why}; let repetitions in a pattern not overlap: "
            f"{', '.join(map(quote, patterns.values()))}"
        )
    return dict(zip(patterns, json.loads(told), strict=True))


#: What stands between digits of one number, spaces of several widths among it.
BETWEEN = ".,'_\N{RIGHT SINGLE QUOTATION MARK}\xa0\u202f\u2009"
_SIGN = "[-+\N{MINUS SIGN}]"
#: A number with its thousands separated; Indian ones have groups of two as well.
_GROUPED = r"[-+]?\d{{1,3}}({0}\d{{2,3}})*{0}\d{{3}}([.,]\d*)?([eE][-+]?\d+)?"


class MissingError(Exception):
    """Why a metric is not there.

    Args:
        odd: Whether something is there that is no number.
    """

    def __init__(self, text: str, *, odd: bool = False) -> None:
        super().__init__(text)
        self.odd = odd


def whole_number(match: Match | None, metric: Metric) -> str:
    """Return a printed number, in its base unit, as a text that ``float`` reads.

    Args:
        metric: Its ``thousands`` separates thousands; where that is a point, a comma is the
            decimal point.

    Raises:
        MissingError: If there is no match, or only a part of a number; the text says why.
    """
    if match is None:
        raise MissingError(f"nothing matches '{quote(metric.get('pattern'))}'")
    (before, raw, after, unit), thousands = match, metric.get("thousands", "")
    value = raw.strip()
    lead, trail = raw[: len(raw) - len(raw.lstrip())], raw[len(raw.rstrip()) :]
    more = _more(before + lead, trail + after, thousands)
    if any(more):
        side = "to both sides" if all(more) else "to the left" if more[0] else "to the right"
        whole = quote(f"{more[0]}{value}{more[1]}")
        raise MissingError(f"the number goes on {side}: {whole}; let the group match all of it")
    if thousands and thousands in value:
        if not re.fullmatch(_GROUPED.format(re.escape(thousands)), value):
            raise MissingError(f"{quote(value)} has no groups of three digits", odd=True)
        value = value.replace(thousands, "")
    value = value.replace(",", ".") if thousands == "." else value
    if not unit:
        return value
    try:
        size = unit_size(unit)
    except InputError as error:
        raise MissingError(str(error), odd=True) from error
    with suppress(ArithmeticError):
        return str(Decimal(value) * size)
    return value


def _more(before: str, after: str, thousands: str) -> tuple[str, str]:
    """Return what of the same number stands before and behind its match."""
    between = f"[{re.escape(BETWEEN + thousands)}]"
    left = re.search(
        rf"\d{between}?\Z|(?<![\w.])\.\Z|\d\.?[eE]{_SIGN}?\Z|(?<![^\W_]){_SIGN}\Z", before
    ) and re.search(rf"{_SIGN}?(\d|{between})*([eE]{_SIGN}?)?\Z", before)
    right = re.match(rf"{between}?\d|\.?[eE]{_SIGN}?\d", after) and re.match(
        rf"(\d|{between})*([eE]{_SIGN}?\d+)?", after
    )
    return left[0] if left else "", right[0] if right else ""
