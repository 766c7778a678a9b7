"""Changes of level: found where they are, once, and not where there are none."""

import numpy as np
import pytest
from numpy.typing import NDArray

from benchyard.statistics.changes import Detector, LevelChange, changes, critical
from benchyard.statistics.changes import _z_of_splits as z_of_splits  # pyright: ignore[reportPrivateUsage]
from benchyard.statistics.measures import normal_quantile
from benchyard.statistics.ranks import rank_test

Floats = NDArray[np.float64]


def noise(n: int, seed: int = 1) -> Floats:
    return np.random.default_rng(seed).normal(scale=0.01, size=n)


def steps(*levels: float, points: int = 50, seed: int = 1) -> Floats:
    return np.repeat(levels, points) + noise(points * len(levels), seed)


def correlated(n: int) -> Floats:
    values = noise(n)
    for at in range(1, n):
        values[at] += 0.5 * values[at - 1]
    return values


def online(values: Floats, threshold: float = 4.0) -> list[LevelChange]:
    detector = Detector(threshold)
    return [found for value in values if (found := detector.append(float(value)))]


@pytest.mark.parametrize("place", [3, 5, 10, 30, 35, 37])
def test_short_parts_have_the_exact_tails_of_the_rank_test(place: int) -> None:
    values = noise(40)
    test = rank_test(values[:place].tolist(), values[place:].tolist())
    expected = -normal_quantile(min(test.p_less, test.p_greater))
    assert z_of_splits(values)[place] == pytest.approx(expected, abs=1e-4)


def test_long_parts_have_tails_within_two_percent_of_the_exact_ones() -> None:
    values = noise(60)
    test = rank_test(values[:30].tolist(), values[30:].tolist())
    expected = -normal_quantile(min(test.p_less, test.p_greater))
    assert z_of_splits(values)[30] == pytest.approx(expected, rel=0.02)


def test_each_step_is_found_offline_with_its_size() -> None:
    first, second = changes(steps(0, 0.05, 0.02))
    assert (abs(first.place - 50), abs(second.place - 100)) <= (1, 1)
    assert first.size == pytest.approx(0.05, abs=0.005)
    assert second.size == pytest.approx(-0.03, abs=0.005)
    assert first.points_a_false_one > 1e6


#: Medians (ms) of 30 nights of a case that became 5 % slower after 19, on a host that became 10 %
#: slower after 26. Two steps of one direction are no autocorrelation.
NIGHTS = np.array(
    [
        *(209.0, 209.0, 208.8, 207.4, 208.6, 210.1, 207.5, 207.5, 207.7, 209.5),
        *(209.0, 208.2, 208.8, 206.6, 207.7, 208.8, 207.8, 211.8, 210.0, 217.1),
        *(224.1, 219.0, 218.5, 216.8, 218.8, 217.4, 237.8, 238.8, 237.8, 240.6),
    ]
)


#: The same on a host that other work disturbed in some nights.
DISTURBED = np.array(
    [
        *(208.0, 208.2, 208.2, 206.8, 210.1, 221.2, 216.0, 207.7, 215.3, 214.4),
        *(207.1, 210.4, 220.7, 210.2, 207.0, 208.6, 228.7, 211.9, 208.1, 231.7),
        *(229.3, 228.5, 225.6, 227.0, 233.2, 225.8, 246.0, 249.5, 245.5, 244.1),
    ]
)


def test_steps_of_one_direction_are_found_each() -> None:
    assert [one.place for one in changes(np.log(DISTURBED))] == [19]
    assert [one.place for one in changes(np.log(NIGHTS))] == [19, 26]
    found = [one.place for one in changes(steps(0, 0.03, 0.06, 0.1, points=25))]
    assert len(found) == 3
    assert max(abs(place - at) for place, at in zip(found, (25, 50, 75), strict=True)) <= 2


def test_a_level_that_was_left_again_is_found() -> None:
    slower = noise(100)
    slower[40:60] += 0.03
    first, last = changes(slower)
    assert (abs(first.place - 40), abs(last.place - 60)) <= (1, 1)
    assert first.size == pytest.approx(-last.size, abs=0.01)


@pytest.mark.parametrize("newest", [3, 10, 11, 12, 20])
def test_a_large_step_is_placed_exactly_however_short_the_new_level_is(newest: int) -> None:
    values = noise(100)
    values[-newest:] += 0.1
    assert [one.place for one in changes(values)] == [100 - newest]


@pytest.mark.parametrize("n", [9, 10, 100, 500])
def test_nothing_is_found_in_noise(n: int) -> None:
    found = [changes(noise(n, seed)) for seed in range(40)]
    assert sum(map(bool, found)) <= 2


def test_too_short_or_constant_series_have_no_change() -> None:
    assert changes(np.array([])) == changes(np.zeros(200)) == []
    assert changes(steps(0, 1, points=4)) == []
    assert online(np.zeros(100)) == []


def test_a_step_is_called_once_online_and_soon() -> None:
    detector, values = Detector(), steps(0, 0.1)
    called = [at for at, value in enumerate(values) if detector.append(float(value))]
    assert len(called) == 1
    assert called[0] - 50 <= 3
    [change] = online(values)
    assert change.place == 50
    assert change.size == pytest.approx(0.1, abs=0.01)


def test_the_place_is_an_index_of_the_whole_series_beyond_the_window() -> None:
    [change] = online(np.concatenate([noise(350), 0.05 + noise(30, 2)]))
    assert abs(change.place - 350) <= 1


def test_a_spike_of_one_night_and_a_shift_below_the_least_are_not_called() -> None:
    spike = noise(100)
    spike[60] += 0.5
    assert online(spike) == []
    assert online(steps(0, 0.008, points=100) * 0.5) == []


def test_a_correlated_series_has_no_change_by_its_waves() -> None:
    values = correlated(400)
    assert len(online(values)) <= 1
    assert len(changes(values)) <= 1


def test_a_change_is_less_sure_where_neighbours_are_correlated() -> None:
    values = correlated(200)
    values[100:] += 0.02
    [change] = changes(values)
    assert change.place == pytest.approx(100, abs=3)
    assert critical(200) < change.z < 0.8 * z_of_splits(values)[change.place]
