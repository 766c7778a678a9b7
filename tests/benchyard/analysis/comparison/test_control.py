"""The health of a host, from the campaigns of its control case."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from benchyard.analysis.comparison.control import (
    AS_USUAL,
    control_campaigns,
    control_results,
    health,
)
from benchyard.analysis.comparison.rows import Pairs, Rule
from benchyard.analysis.comparison.verdicts import compare
from benchyard.analysis.comparison.wording import session_notes
from benchyard.results.record import StepRecord
from tests.benchyard.analysis.comparison.conftest import place, run_set, step
from tests.benchyard.analysis.comparison.test_sessions import (
    TURNS,
    campaign,
    history,
    newest_against_before,
    night,
)

HOST = "bench1"
STEPS = ("cpu", "memory", "disk")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BENCHYARD_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def controlled(factors: Sequence[float], slow: str = "disk") -> Path:
    """Make a campaign of the control case each night; a step is as much slower as said."""
    results, random = control_results(HOST), Random(1)  # noqa: S311
    for number, factor in enumerate(factors):
        levels = {one: random.gauss(1, 0.005) * (factor if one == slow else 1) for one in STEPS}
        values = {one: night(level, number, 6) for one, level in levels.items()}
        runs = [
            replace(record, steps=steps_of({one: values[one][at] for one in STEPS}))
            for at, record in enumerate(campaign(*values["cpu"], at_h=24 * number))
        ]
        last = number == len(factors) - 1
        name = f"202611{number + 1:02d}T000000Z-0123456789ab"
        place(results if last else results / "earlier" / name, runs)
    return results


def steps_of(durations: Mapping[str, float]) -> tuple[StepRecord, ...]:
    named = enumerate(durations.items(), 1)
    return tuple(step(duration, name=name, index=at) for at, (name, duration) in named)


def told() -> list[str]:
    return health(control_campaigns(HOST))


def test_a_step_that_is_slower_than_before_is_named_with_its_figures() -> None:
    controlled([1.0] * 14 + [1.12])
    [said] = told()
    assert said.startswith("Disk is 1")
    assert " % slower than in 14 campaigns since 2026-11-01 (± " in said


def test_a_level_that_stays_is_told_with_its_beginning() -> None:
    controlled([1.0] * 12 + [1.12] * 8, slow="cpu")
    [said] = told()
    assert said.startswith("Cpu is 1")
    assert said.endswith(" % slower since 2026-11-13 (8 campaigns)")


def test_a_steady_host_is_as_usual() -> None:
    controlled([1.0] * 20)
    assert told() == [AS_USUAL]


@pytest.mark.parametrize(("campaigns", "before"), [(1, 0), (3, 2), (5, 4)])
def test_few_campaigns_make_no_level(campaigns: int, before: int) -> None:
    controlled([1.0] * (campaigns - 1) + [1.5])
    assert told() == [f"5 campaigns make a level: {before} so far before the newest"]


def test_without_a_campaign_nothing_is_told() -> None:
    assert told() == []


def test_damaged_campaigns_other_hosts_and_other_work_are_left_out() -> None:
    results = controlled([1.0] * 9)
    earlier = sorted((results / "earlier").iterdir())
    (earlier[0] / "run_1" / "run.json").write_text("{")
    (earlier[1] / "run_1" / "run.json").unlink()  # its other runs count
    other = campaign(*[1.0] * 6, case={"name": "control", "title": "control", "hash": "c" * 64})
    place(results / "earlier" / "20261020T000000Z-0123456789ab", other)
    elsewhere = campaign(*[1.0] * 6, environment={"host": "bench2"})
    place(results / "earlier" / "20261021T000000Z-0123456789ab", elsewhere)
    assert len(control_campaigns(HOST)) == 8


@pytest.mark.parametrize(
    ("disturbed", "said"),
    [
        ([11], ["Cpu, Memory, Disk: not judged, the host was busy in the newest campaign"]),
        (range(7), ["5 campaigns make a level: 4 so far before the newest"]),
        ([0, 1], [AS_USUAL]),
    ],
    ids=["the newest", "most before", "a few before"],
)
def test_campaigns_on_a_busy_host_do_not_count(disturbed: Sequence[int], said: list[str]) -> None:
    results = controlled([1.0] * 12)
    folders = [*sorted((results / "earlier").iterdir()), results]
    for number in disturbed:
        for file in folders[number].glob("run_*/run.json"):
            file.write_text(file.read_text().replace('"suspect": []', '"suspect": ["steal"]'))
    assert told() == said


# -- between two sessions


def notes(
    first_h: float, second_h: float, baseline: str = HOST, session: object = None
) -> list[str]:
    """Compare a case that is 30 % slower in the second of two sessions."""
    told = (night(1, 1), first_h, baseline), (night(1.3, 2), second_h, HOST)
    sides = [
        campaign(*values, at_h=at_h, session=session or {}, environment={"host": host})
        for values, at_h, host in told
    ]
    one, other = (run_set(records, name) for records, name in zip(sides, "ab", strict=True))
    return session_notes(compare(Pairs(((one, other),)), Rule()))


def test_a_host_that_changed_between_the_sessions_is_a_reason() -> None:
    controlled([1.0] * 14 + [1.3], slow="cpu")
    [said] = [one for one in notes(24 * 13 + 1, 24 * 14 + 1) if "control case" in one]
    assert said.startswith("between the two sessions the control case of this host changed by +")
    assert said.endswith(" % (Cpu): the host, not the code, may have changed")


def test_against_a_level_the_control_case_is_told_against_its_level(tmp_path: Path) -> None:
    controlled([1.0] * 12 + [1.3])
    slower = history(tmp_path / "case", 12, 0.005, 1.3)
    said = session_notes(newest_against_before(slower, 12, campaigns=20))
    assert said[0] == "compared with the mean of 12 campaigns"
    assert said[1].startswith("control case of this host: Disk is ")
    assert " % slower than in 12 campaigns since 2026-11-01 (± " in said[1]
    assert said[1].endswith("): the host, not the code, may have changed")


def test_a_host_that_did_not_change_is_no_reason() -> None:
    controlled([1.0] * 14 + [1.3], slow="cpu")
    assert not [one for one in notes(24 * 12 + 1, 24 * 13 + 1) if "control case" in one]


@pytest.mark.parametrize(
    ("first_h", "second_h", "baseline", "session"),
    [
        (24 * 14 - 0.5, 24 * 14 - 0.49, HOST, TURNS),
        (24 * 13 + 1, 24 * 14 + 1, "bench2", None),
        (24 * 13 + 1, 24 * 40, HOST, None),
        (24 * -3, 24 * 14 + 1, HOST, None),
    ],
    ids=["in turns", "on two hosts", "long after the last campaign", "before the first"],
)
def test_where_the_control_case_knows_nothing_of_it_nothing_is_said(
    first_h: float, second_h: float, baseline: str, session: object
) -> None:
    controlled([1.0] * 14 + [1.3], slow="cpu")
    said = notes(first_h, second_h, baseline, session)
    assert not [one for one in said if "control case" in one]
