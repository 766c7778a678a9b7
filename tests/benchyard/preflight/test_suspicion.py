"""When a measured step is suspect."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.preflight.suspicion import suspicions

QUIET = {
    "host_cpu_user_s": 1.0,
    "host_cpu_system_s": 0.2,
    "host_cpu_steal_s": 0.0,
    "host_swap_in_bytes": 0,
    "host_swap_out_bytes": 0,
    "lab_throttled_count": 0,
    "lab_throttled_s": 0.0,
    "host_thermal_throttle_count": 0,
    "host_oom_kill_count": 0,
}


def test_a_quiet_step_is_not_suspect() -> None:
    assert suspicions(QUIET, 1.0, 2) == ()


@pytest.mark.parametrize(
    ("moved", "words"),
    [
        ({"host_swap_in_bytes": 4096}, "the host swapped: 4.1 kB in"),
        ({"host_swap_out_bytes": 1}, "the host swapped: 1 B out"),
        (
            {"host_swap_in_bytes": 3_000_000, "host_swap_out_bytes": 5e12},
            "the host swapped: 3 MB in, 5,000.0 GB out",
        ),
        (
            {"lab_throttled_count": 3, "lab_throttled_s": 0.25},
            "the CPU quota of the lab's own cgroup throttled it 3 times, for 0.25 s",
        ),
        (
            {"lab_throttled_count": None, "lab_throttled_s": 0.25},
            "the CPU quota of the lab's own cgroup throttled it for 0.25 s",
        ),
        ({"host_thermal_throttle_count": 1}, "a CPU was slowed down for heat once"),
        (
            {"host_oom_kill_count": 2},
            "the kernel killed 2 processes of this host for want of memory",
        ),
        (
            {"host_cpu_steal_s": 0.5},
            "the hypervisor took 0.5 s of CPU time, 29.4% of the CPU time wanted",
        ),
    ],
)
def test_each_of_them_makes_it_suspect(moved: dict[str, float | None], words: str) -> None:
    assert suspicions({**QUIET, **moved}, 1.0, 2) == (words,)


def test_all_of_them_are_told() -> None:
    moved = dict.fromkeys(QUIET, 10.0)
    assert len(suspicions(moved, 1.0, 2)) == 5


@pytest.mark.parametrize("ticks", [0.01, 0.02, 0.09 - 0.07])
def test_two_ticks_of_steal_may_be_rounding(ticks: float) -> None:
    assert suspicions({**QUIET, "host_cpu_steal_s": ticks}, 0.02, 2) == ()


def test_three_ticks_of_steal_in_a_short_step_are_suspect() -> None:
    assert suspicions({**QUIET, "host_cpu_steal_s": 0.03}, 0.02, 2)


def test_steal_is_held_against_what_was_wanted() -> None:
    # A program on one of 64 cores lost 5 % of its time: it is 0.08 % of all cores' time.
    one = {"host_cpu_user_s": 9.5, "host_cpu_system_s": 0.0, "host_cpu_steal_s": 0.5}
    assert suspicions(one, 10.0, 64)
    # The same amount is nothing where all of them work.
    assert suspicions({**one, "host_cpu_user_s": 630.0}, 10.0, 64) == ()
    # Nor is a little of it anything to a step that sleeps.
    asleep = {"host_cpu_user_s": 0.1, "host_cpu_system_s": 0.0, "host_cpu_steal_s": 0.09}
    assert suspicions(asleep, 10.0, 64) == ()


def test_time_of_nice_programs_and_interrupts_is_wanted_too() -> None:
    stolen = {"host_cpu_user_s": 1.0, "host_cpu_system_s": 0.0, "host_cpu_steal_s": 0.5}
    assert suspicions(stolen, 1.0, 64)
    for kind in ("nice", "irq"):
        assert suspicions({**stolen, f"host_cpu_{kind}_s": 60.0}, 1.0, 64) == ()


def test_without_the_rest_steal_is_held_against_all_cores() -> None:
    assert suspicions({"host_cpu_steal_s": 0.5}, 10.0, 2)
    assert suspicions({"host_cpu_steal_s": 0.5}, 10.0, 64) == ()


@pytest.mark.parametrize("value", [None, math.nan, math.inf, -5.0, 0])
def test_what_is_not_told_or_makes_no_sense_is_no_suspicion(value: float | None) -> None:
    assert suspicions(dict.fromkeys(QUIET, value), 1.0, 2) == ()
    assert suspicions({}, 1.0, 2) == ()


@given(
    st.dictionaries(st.sampled_from(sorted(QUIET)), st.none() | st.floats()),
    st.floats(min_value=0, max_value=1e9),
    st.integers(1, 4096),
)
def test_it_never_raises(used: dict[str, float | None], duration: float, cores: int) -> None:
    assert all(suspicions(used, duration, cores))
