"""When a measured step is suspect."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.core.errors import MeasurementError
from benchyard.host.checks.suspicion import WAIT_SHARE, WAIT_VARIABLE, suspicions, wait_share
from benchyard.process.usage import LifeSpan

QUIET: dict[str, float | None] = {
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


#: One process on two CPUs beside four busy loops, as measured (3.273 s).
BESIDE = {
    "host_cpu_user_s": 6.2,
    "host_cpu_system_s": 0.13,
    "host_cpu_nice_s": 0.0,
    "host_psi_cpu_some_s": 3.15,
    "resource_cpu_s": 0.725,
}


@pytest.mark.parametrize(
    ("moved", "words"),
    [
        ({}, ()),
        *((dict.fromkeys(QUIET, odd), ()) for odd in (None, math.nan, math.inf, -5.0, 0)),
        ({"host_swap_in_bytes": 4096}, ("the host swapped: 4.096 kB in",)),
        ({"host_swap_out_bytes": 1}, ("the host swapped: 1 B out",)),
        *(
            (
                {"lab_throttled_count": count, "lab_throttled_s": 0.25},
                (f"the CPU quota of the lab's own cgroup throttled it{often} for 0.25 s",),
            )
            for count, often in ((3, " 3 times,"), (None, ""))
        ),
        (
            {"host_swap_in_bytes": 3_000_000, "host_swap_out_bytes": 5e12}
            | {"host_thermal_throttle_count": 1, "host_oom_kill_count": 2, "host_cpu_steal_s": 0.5},
            (
                "the host swapped: 3 MB in, 5 TB out",
                "a CPU was slowed down for heat once",
                "the kernel killed 2 processes of this host for want of memory",
                "the hypervisor took 0.5 s of CPU time, 29.4 % of the CPU time wanted",
            ),
        ),
    ],
)
def test_each_of_them_makes_it_suspect(
    moved: dict[str, float | None], words: tuple[str, ...]
) -> None:
    assert sorted(suspicions({**QUIET, **moved}, 1.0, 2)) == sorted(words)


STOLEN = {"host_cpu_user_s": 1.0, "host_cpu_system_s": 0.0, "host_cpu_steal_s": 0.5}


@pytest.mark.parametrize(
    ("used", "seconds", "cores", "suspect"),
    [
        # Two ticks may be rounding, three are not.
        *((QUIET | {"host_cpu_steal_s": s}, 0.02, 2, False) for s in (0.01, 0.02, 0.09 - 0.07)),
        (QUIET | {"host_cpu_steal_s": 0.03}, 0.02, 2, True),
        # A program on one of 64 cores lost 5 % of its time: it is 0.08 % of all cores' time.
        (STOLEN | {"host_cpu_user_s": 9.5}, 10.0, 64, True),
        # The same amount is nothing where all of them work, nor a little to a step that sleeps.
        (STOLEN | {"host_cpu_user_s": 630.0}, 10.0, 64, False),
        (STOLEN | {"host_cpu_user_s": 0.1, "host_cpu_steal_s": 0.09}, 10.0, 64, False),
        # Time of nice programs and of interrupts is wanted, too.
        (STOLEN, 1.0, 64, True),
        *((STOLEN | {f"host_cpu_{kind}_s": 60.0}, 1.0, 64, False) for kind in ("nice", "irq")),
        # Without the rest it is held against all cores.
        ({"host_cpu_steal_s": 0.5}, 10.0, 2, True),
        ({"host_cpu_steal_s": 0.5}, 10.0, 64, False),
    ],
)
def test_steal_is_held_against_what_was_wanted(
    used: dict[str, float | None], seconds: float, cores: int, suspect: bool
) -> None:
    assert bool(suspicions(used, seconds, cores)) is suspect


@given(
    st.dictionaries(st.sampled_from(sorted({*QUIET, *BESIDE})), st.none() | st.floats()),
    st.floats(min_value=0, max_value=1e9),
    st.integers(1, 4096),
    st.none() | st.floats(),
)
def test_it_never_raises(
    used: dict[str, float | None], duration: float, cores: int, lab: float | None
) -> None:
    assert all(suspicions(used, duration, cores, lab_s=lab))


# -- neighbours


def waits(moved: dict[str, float | None], seconds: float, lab_s: float | None = 0.015) -> bool:
    found = suspicions({**BESIDE, **moved}, seconds, 2, lab_s=lab_s)
    assert all(" waited for a CPU for " in words for words in found)
    return bool(found)


IDLE = {"host_cpu_user_s": 1.4, "host_cpu_system_s": 0.04, "resource_cpu_s": 0.0016}
SHORT = {"host_cpu_user_s": 0.03, "host_cpu_system_s": 0.01, "resource_cpu_s": 0.012}


@pytest.mark.parametrize(
    ("moved", "seconds", "lab_s", "suspect"),
    [
        # What the step itself waited is better than what anybody did.
        ({"resource_cpu_wait_s": 1.5}, 3.273, 0.015, True),
        ({"resource_cpu_wait_s": 0.1}, 3.273, 0.015, False),
        # Eight processes on two CPUs, which are theirs alone.
        ({"resource_cpu_s": 6.3}, 3.273, 0.015, False),
        # As measured beside one busy process on two CPUs.
        (IDLE | {"host_psi_cpu_some_s": 0.018}, 3.004, 0.015, False),
        # A control group waits for itself alone, or its own quota stopped it.
        ({"resource_psi_cpu_some_s": 0.01}, 3.273, 0.015, False),
        ({"resource_psi_cpu_some_s": 0.5}, 3.273, 0.015, True),
        ({"resource_psi_cpu_some_s": 0.5, "resource_throttled_s": 0.45}, 3.273, 0.015, False),
        # Whole ticks of the host are no neighbour.
        (SHORT | {"host_psi_cpu_some_s": 0.02}, 0.02, 0.0, False),
        # Without what it takes, or beside other steps, nobody judges.
        ({"host_cpu_user_s": None}, 3.273, 0.015, False),
        ({"host_cpu_nice_s": None}, 3.273, 0.015, False),
        ({"host_psi_cpu_some_s": None}, 3.273, 0.015, False),
        ({}, 3.273, None, False),
    ],
)
def test_a_step_is_suspect_if_it_waits_for_others(
    moved: dict[str, float | None], seconds: float, lab_s: float | None, *, suspect: bool
) -> None:
    assert waits(moved, seconds, lab_s) is suspect


@pytest.mark.parametrize(("waited", "suspect"), [(0.99, False), (1.01, True)])
def test_it_is_held_against_a_share_of_the_time(waited: float, suspect: bool) -> None:
    assert waits({"host_psi_cpu_some_s": waited * WAIT_SHARE * 3.273}, 3.273) is suspect
    used = {**BESIDE, "host_psi_cpu_some_s": waited}
    assert bool(suspicions(used, 2.0, 2, lab_s=0.0, waiting=0.5)) is suspect
    assert suspicions(used, 1.0, 2, lab_s=0.0, waiting=1) == ()
    assert suspicions(BESIDE, 3.273, 2, lab_s=0.015) == (
        "somebody on this host waited for a CPU for 3.15 s, 96 % of its time, while others used "
        "5.59 s of CPU time",
    )


MISSED = {**BESIDE, "resource_cpu_s": None}


def test_what_owns_nothing_is_in_the_labs_own_time() -> None:
    used = {name: value for name, value in BESIDE.items() if name != "resource_cpu_s"}
    assert [bool(suspicions(used, 3.273, 2, lab_s=lab_s)) for lab_s in (6.3, 0.7)] == [False, True]


@pytest.mark.parametrize("lab_s", [0.015, None])
def test_a_step_whose_account_was_missed_is_not_trusted_on_a_busy_host(lab_s: float | None) -> None:
    assert suspicions(MISSED, 3.273, 2, lab_s=lab_s) == (
        "cannot be judged: its CPU time is unknown, and somebody on this host waited for a CPU for "
        "3.15 s, 96 % of its time",
    )
    assert suspicions({**MISSED, "host_cpu_user_s": None}, 3.273, 2, lab_s=lab_s)
    quiet = {**MISSED, "host_psi_cpu_some_s": 0.1}
    assert suspicions(quiet, 3.273, 2, lab_s=lab_s) == ()
    assert suspicions(MISSED, 3.273, 2, lab_s=lab_s, waiting=1) == ()


@pytest.mark.parametrize(("busy_s", "suspect"), [(6.2, True), (3.2, False), (None, False)])
def test_without_pressure_it_is_judged_by_the_cpus_of_the_host(
    busy_s: float | None, *, suspect: bool
) -> None:
    used = {**MISSED, "host_psi_cpu_some_s": None, "host_cpu_user_s": busy_s}
    found = suspicions(used, 3.273, 2, lab_s=0.015)
    assert [words.startswith("cannot be judged: ") for words in found] == [True] * suspect


@pytest.mark.parametrize(
    ("program", "suspect"),
    [
        # 0.4 s of a program of 1 s were waited, in a step of 10 s: 4 % of it.
        (None, False),
        (LifeSpan(0, 10**9, 0, 0.4), True),
        # What the engine waited before the program is not the program's.
        (LifeSpan(0, 10**9, 0, 0.01), False),
        # Where nobody saw how much of it was, all of it may have been.
        (LifeSpan(0, 10**9), True),
        # Its time is not shown if it is not known.
        (LifeSpan(0, 10**9, 10**8), False),
    ],
)
def test_it_is_held_against_the_smallest_time_that_is_shown(
    program: LifeSpan | None, *, suspect: bool
) -> None:
    used = {**BESIDE, "host_psi_cpu_some_s": 0.41}
    found = suspicions(used, 10.0, 2, lab_s=0.015, program=program)
    assert [" of its program's time, while others" in words for words in found] == [True] * suspect


def test_the_share_is_that_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(WAIT_VARIABLE)
    assert wait_share() == 0.05
    for set_to, share in (("", 0.05), ("0.2", 0.2), (" 1 ", 1)):
        monkeypatch.setenv(WAIT_VARIABLE, set_to)
        assert wait_share() == share
    for wrong in ("5%", "1.1", "-0.1", "nan", "much"):
        monkeypatch.setenv(WAIT_VARIABLE, wrong)
        with pytest.raises(MeasurementError, match=f"BENCHYARD_CPU_WAIT is '{wrong}'"):
            wait_share()
