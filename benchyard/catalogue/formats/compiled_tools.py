"""Files of benchmarks in Go, C++ and Rust: go test, Catch2, criterion."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from msgspec import Struct

from benchyard.catalogue.formats.contract import elements
from benchyard.catalogue.formats.measurements import (
    IN_A_SECOND,
    BenchmarkFile,
    Measurement,
    Measurements,
    beside,
    by_keys,
    decoded,
    facts,
    known,
    statistics,
)
from benchyard.catalogue.formats.units import quantity
from benchyard.core.errors import InputError
from benchyard.core.wording import quote
from benchyard.traces.recognising import Head

_NS = IN_A_SECOND["ns"]

# -- go test -bench: a line a repetition, behind lines of what holds for those below.
# Source: golang.org/x/perf, benchfmt/reader.go; Go's testing/benchmark.go; its MB is 10^6 B.

#: Metric, unit, and how many of theirs one of ours is: factor and divisor.
_GO_UNITS = {
    "ns/op": ("wall", "s", 1, _NS),
    "B/op": ("memory", "B", 1, 1),
    "allocs/op": ("allocations", "1", 1, 1),
    "MB/s": ("throughput", "B/s", 1_000_000, 1),
}
_GO_RESULT = re.compile(r"Benchmark(\S*)[ \t]+\d+[ \t]+([-+.\deE]+[ \t]+\S.*)")
_GO_RESULTS = re.compile(b"^" + _GO_RESULT.pattern.encode(), re.MULTILINE)
_GO_ABOUT = re.compile(r"(goos|goarch|pkg|cpu):[ \t]+(.*)")
_GO_END = re.compile(r"\s*--- (FAIL|SKIP): Benchmark(\S*)")
#: By package and name, then by unit.
_GoValues = dict[tuple[str, str], dict[str, list[float]]]
_GO_WORDS = {"FAIL": "failed", "SKIP": "skipped"}


def _read_go(content: bytes, _place: Path) -> Measurements:
    lines = [line.rstrip() for line in content.decode(errors="replace").split("\n")]
    about: dict[str, str] = {}
    found: _GoValues = {}
    ended: list[Measurement] = []
    if lines[-1].startswith("Benchmark") and not _is_whole(lines[-1], lines[:-1]):
        raise InputError(f"it breaks off in line {len(lines)}")
    for at, line in enumerate(lines, 1):
        if result := _GO_RESULT.fullmatch(line):
            values = found.setdefault((about.get("pkg", ""), result[1]), {})
            for unit, value in _go_pairs(result[2], at):
                values.setdefault(unit, []).append(value)
        elif told := _GO_ABOUT.fullmatch(line):
            about[told[1]] = told[2]
        elif end := _GO_END.match(line):
            why = f"{_GO_WORDS[end[1]]}: {''.join(lines[at : at + 1]).strip()}"
            ended.append(Measurement(end[2], "wall", "s", note=why.removesuffix(": ")))
    return Measurements([*_go_rows(found), *ended], about=about, one_process=True)


def _is_whole(last: str, before: Sequence[str]) -> bool:
    """Tell whether a line that does not end is a result, and its units no beginnings of units."""
    result = _GO_RESULT.fullmatch(last)
    units = {*(result[2].split()[1::2] if result else [""])} - _GO_UNITS.keys()
    return units <= {word for line in before for word in line.split()}


def _go_pairs(text: str, at: int) -> Iterator[tuple[str, float]]:
    fields = text.split()
    try:
        yield from zip(fields[1::2], map(float, fields[::2]), strict=True)
    except ValueError as error:
        raise InputError(f"line {at} does not have a value before each unit") from error


def _go_rows(found: _GoValues) -> Iterator[Measurement]:
    several = len({package for package, _ in found}) > 1
    for (package, name), units in found.items():
        full = f"{package}.{name}" if several else name
        for unit, values in units.items():
            metric, ours, factor, divisor = _GO_UNITS.get(unit, (unit, unit, 1, 1))
            yield Measurement(full, metric, ours, known(one * factor / divisor for one in values))


# -- Catch2 -r xml: statistics of a benchmark in nanoseconds, without its samples.
# Source: catchorg/Catch2, reporters/catch_reporter_xml.cpp; up to version 2 the root is Catch.


def _is_catch2(head: Head) -> bool:
    return re.search(rb"<Catch(2TestRun)?\b", head.text) is not None and (
        b"<BenchmarkResults" in head.text or head.longer is not None
    )


def _read_catch2(content: bytes, _place: Path) -> Measurements:
    root = elements(content)
    rows = [
        _catch2_row(name, case, one)
        for case in root.iter("TestCase")
        for name, one in _within(case, case.get("name", ""))
    ]
    told = facts(program=root.get("name"), Catch2=root.get("catch2-version"))
    return Measurements(rows, about=told, one_process=True)


def _within(part: Element, above: str) -> Iterator[tuple[str, Element]]:
    """Yield the benchmarks of a test case, whose names are ones only within their section."""
    for one in part.iterfind("*"):
        name = f"{above} > {one.get('name', '')}"
        if one.tag == "BenchmarkResults":
            yield name, one
        elif one.tag == "Section":
            yield from _within(one, name)


def _catch2_row(name: str, case: Element, one: Element) -> Measurement:
    texts = {**{part.tag: part.get("value", "") for part in one}, "samples": one.get("samples", "")}
    inner = {key: quantity(text, f"the {key} of '{quote(name)}'") for key, text in texts.items()}
    told = statistics(inner, "samples - mean standardDeviation - -", _NS)
    failed, result = one.find("failed"), case.find("OverallResult")
    note = ""
    if failed is not None or "mean" not in told:
        told, note = {}, f"failed: {'' if failed is None else failed.get('message', '')}"
    elif result is not None and result.get("success") == "false":
        note = "failed: its test case"
    return Measurement(name, "wall", "s", (), told, note=note.removesuffix(": "))


# -- Rust's criterion: target/criterion/GROUP/FUNCTION/VALUE/new/sample.json and estimates.json.
# Source: bheisler/criterion.rs, src/analysis/mod.rs and src/report.rs; nanoseconds.


class _CriterionFile(Struct):
    iters: list[float] = []
    times: list[float] = []
    mean: dict[str, Any] = {}
    median: dict[str, Any] = {}
    std_dev: dict[str, Any] = {}


def _read_criterion(content: bytes, place: Path) -> Measurements:
    file = decoded(content, _CriterionFile)
    if len(file.iters) != len(file.times):
        raise InputError(f"it has {len(file.iters):,} iters, but {len(file.times):,} times")
    values = known(
        time / (count * _NS) for time, count in zip(file.times, file.iters, strict=True) if count
    )
    means = {"mean": file.mean, "median": file.median, "std_dev": file.std_dev}
    estimates = {name: one.get("point_estimate") for name, one in means.items()}
    told = statistics(estimates, "- median mean std_dev - -", _NS)
    row = Measurement(_criterion_name(place), "wall", "s", values, told)
    return Measurements([row], one_process=True)


def _criterion_name(place: Path) -> str:
    """Return what stands beside it, or else its folders below ``criterion``, but for the last."""
    full = beside(place.parent / "benchmark.json").get("full_id")
    above = place.absolute().parent.parent.parts
    at = above.index("criterion") + 1 if "criterion" in above else len(above) - 1
    return full if isinstance(full, str) else "/".join(above[at:])


#: For the registry.
COMPILED_TOOLS = (
    BenchmarkFile(
        "go-benchmark",
        "go test -bench",
        lambda head: _GO_RESULTS.search(head.text) is not None,
        _read_go,
        "`.txt`, `.out`, `.bench` with lines as `BenchmarkX-8 100 12 ns/op`",
        endings=(".txt", ".out", ".bench", ".txt.gz", ".out.gz", ".bench.gz"),
        listed=False,
    ),
    BenchmarkFile(
        *("catch2", "Catch2", _is_catch2, _read_catch2),
        "`.xml` with `Catch2TestRun` and `BenchmarkResults`",
        endings=(".xml", ".xml.gz"),
    ),
    by_keys(
        *("criterion", "criterion", _read_criterion, ("sampling_mode", "iters", "times")),
        # Estimates of a change are ratios, and have no deviation.
        ("mean.point_estimate", "median.point_estimate", "std_dev.point_estimate"),
    ),
)
