"""In what traces differ: the name that does is named, and no other."""

from collections.abc import Mapping

import numpy as np
import pytest

from benchyard.statistics.comparison import Verdict
from benchyard.traces.building import TraceBuilder
from benchyard.traces.difference import (
    Measure,
    NamedDifference,
    Profiled,
    differences,
    profiled,
)
from benchyard.traces.model import Trace

_NAMES = 40
_TRACES = 30


def tree(times: Mapping[str, int]) -> Trace:
    """Return a trace of a main slice with one slice of each name in it, and 5 ns of its own."""
    builder = TraceBuilder()
    track = builder.track("p", "t")
    builder.slice(track, "main", 0, sum(times.values()) + 5)
    now = 0
    for name, time in times.items():
        builder.slice(track, name, now, time)
        now += time
    return builder.trace()


def noisy(rng: np.random.Generator, slower: str = "") -> Profiled:
    times = {
        f"n{one}": round(
            1e6 * (one + 1) * rng.lognormal(0, 0.01) * (1.02 if slower == f"n{one}" else 1)
        )
        for one in range(_NAMES)
    }
    return profiled(tree(times))


def called(found: list[NamedDifference], measure: Measure) -> list[tuple[str, ...]]:
    return [one.names for one in found if one.is_shown and one.measure is measure]


def test_one_name_of_many_that_is_2_percent_slower_is_named_first_and_alone() -> None:
    rng = np.random.default_rng(1)
    for slower in ("n3", "n17", "n39"):
        baseline = [noisy(rng) for _ in range(_TRACES)]
        found = differences(baseline, [noisy(rng, slower) for _ in range(_TRACES)])
        assert found[0].names == (slower,)
        assert found[0].judgement.verdict is Verdict.REGRESSION
        assert called(found, Measure.SELF) == [(slower,)]
        assert called(found, Measure.COUNT) == []


def test_nothing_is_called_where_nothing_differs() -> None:
    rng = np.random.default_rng(2)
    sides = [[noisy(rng) for _ in range(_TRACES)] for _ in range(2)]
    assert [one for one in differences(*sides) if one.is_shown] == []


def test_a_slower_child_makes_its_parent_slower_in_total_only() -> None:
    one = [profiled(tree({"a": 100 + place, "b": 50})) for place in range(20)]
    two = [profiled(tree({"a": 200 + place, "b": 50})) for place in range(20)]
    found = differences(one, two)
    assert called(found, Measure.SELF) == [("a",)]
    assert set(called(found, Measure.TOTAL)) == {("a",), ("main",)}


def test_what_is_on_one_side_only_counts_as_nothing_on_the_other() -> None:
    one = [profiled(tree({"a": 100 + place})) for place in range(20)]
    two = [profiled(tree({"a": 100 + place, "new": 40 + place})) for place in range(20)]
    found = differences(one, two)
    assert called(found, Measure.SELF) == [("new",)]
    assert called(found, Measure.COUNT) == [("new",)]
    (new,) = [x for x in found if x.names == ("new",) and x.measure is Measure.COUNT]
    assert (new.difference.baseline_median, new.difference.candidate_median) == (0, 1)
    assert new.judgement.verdict is Verdict.CHANGE


def test_paths_tell_equal_names_apart() -> None:
    trace = tree({"a": 10})
    assert set(profiled(trace, by_path=True).total_s) == {("main",), ("main", "a")}
    assert profiled(trace, by_path=True).values[Measure.SELF]["main", "a"] == pytest.approx(1e-8)
    assert profiled(trace).total_s["main",] == pytest.approx(1.5e-8)
