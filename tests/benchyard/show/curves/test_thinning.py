"""Thinned curves: what was counted is all there, and so is each peak."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.results.samples import SampledSource, make_source
from benchyard.show.curves.thinning import thinned

LENGTHS = st.lists(st.floats(0.01, 3.0), min_size=3, max_size=60)


def made(lengths: list[float], seed: int, name: str = "host") -> SampledSource:
    random = np.random.default_rng(seed)
    at_s = np.cumsum([0.0, *lengths])
    counted = np.cumsum(random.integers(0, 9, len(at_s))).astype(float)
    memory = random.integers(0, 1000, len(at_s)).astype(float)
    memory[random.random(len(at_s)) < 0.1] = np.nan
    return make_source(name, at_s, {"cpu_s": counted, "disk_read_bytes": counted}, memory, 0.01)


@given(LENGTHS, st.integers(0, 99), st.integers(2, 20))
def test_what_was_counted_is_all_there(lengths: list[float], seed: int, points: int) -> None:
    source = made(lengths, seed)
    end = float(source.at_s[-1])
    thin = thinned([source], 0.0, end, points)
    if thin.exact:
        return
    [line] = next(panel for panel in thin.panels if panel.name == "CPU").lines
    assert np.nansum(line.mean) * end / points == pytest.approx(source.total("cpu_s")[-1])


@given(LENGTHS, st.integers(0, 99), st.integers(2, 20), st.floats(0, 0.9), st.floats(0.01, 1))
def test_no_peak_is_lost(
    lengths: list[float], seed: int, points: int, start: float, share: float
) -> None:
    source = made(lengths, seed)
    end = float(source.at_s[-1])
    first = start * end
    last = first + share * (end - first)
    thin = thinned([source], first, last, points)
    within = (source.at_s >= first) & (source.at_s < last)
    for panel, values in (("memory", source.memory), ("CPU", source.rate("cpu_s"))):
        told = [line for one in thin.panels if one.name == panel for line in one.lines]
        seen = values[within & np.isfinite(values)]
        if len(seen):
            assert np.nanmax(told[0].most) >= seen.max()
            assert np.nanmin(told[0].least) <= seen.min()
    assert len(thin.at_s) <= points + 2
    assert (np.diff(thin.at_s) > 0).all()


@given(LENGTHS, st.integers(0, 99))
def test_few_samples_are_told_as_they_are(lengths: list[float], seed: int) -> None:
    source = made(lengths, seed)
    thin = thinned([source], 0.0, float(source.at_s[-1]), 1000)
    assert thin.exact
    assert np.array_equal(thin.at_s, np.unique(source.at_s))
    [line] = next(panel for panel in thin.panels if panel.name == "memory").lines
    assert np.array_equal(line.mean, source.memory, equal_nan=True)


def test_sources_that_are_sampled_at_other_times_share_the_time() -> None:
    host, other = made([1.0] * 10, 1), made([0.7] * 5, 2, "DB")
    thin = thinned([host, other], 0.0, 10.0, 100)
    assert [line.name for line in thin.panels[0].lines] == ["host", "DB"]
    assert all(len(line.mean) == len(thin.at_s) for panel in thin.panels for line in panel.lines)
    assert thin.samples == 11
