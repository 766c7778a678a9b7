from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from benchyard.results.campaigns import Campaign
from benchyard.results.record import RunRecord
from benchyard.show.history.plot import history_drawing, thinned
from benchyard.show.history.steps import Value, groups_of, histories, value_of
from tests.benchyard.analysis.comparison.conftest import BASE, run, step

WHEN = datetime(2026, 1, 1, tzinfo=UTC)


def campaign(name: str, records: Sequence[RunRecord]) -> Campaign:
    return Campaign(Path(name), {record.run: record for record in records})


def made(factor: float, day: int, host: str = "one", version: str = "1") -> list[RunRecord]:
    """Make a run for each of some durations, a minute apart."""
    subject: dict[str, Any] = {"host": host, "versions": {"DB": {"version": version}}}
    subject["digest"] = f"{host} {version}"
    return [
        replace(
            run(n, step(factor * value)),
            started_at=(WHEN + timedelta(days=day, minutes=n)).isoformat(),
            subject=subject,
        )
        for n, value in enumerate(BASE, 1)
    ]


def test_groups_are_campaigns_and_subjects_in_order() -> None:
    mixed = [*made(1.0, 3)[:4], *made(2.0, 2, version="2")[4:]]
    newest, earlier = campaign("newest", mixed), campaign("earlier", made(3.0, 1))
    [step_history] = histories([newest, earlier])
    groups = groups_of(step_history)
    assert [group.folder.name for group in groups] == ["earlier", "newest", "newest"]
    assert [round(group.value) for group in groups] == [3, 2, 1]
    assert [one.text for one in step_history.changes] == ["DB 1 and 2", "DB 2 and 1"]
    assert groups[0].low is not None


def test_hosts_do_not_change_each_other() -> None:
    found = [campaign("a", made(1.0, 1)), campaign("b", made(2.0, 2, host="two"))]
    [step_history] = histories(found)
    assert step_history.hosts == ("one", "two")
    assert step_history.changes == ()
    assert [one.hosts for one in step_history.by_host] == [("one",), ("two",)]


def test_suspect_runs_are_there_and_do_not_count() -> None:
    records = made(1.0, 1)
    records[0] = replace(records[0], steps=(step(50.0, suspect=["it swapped"]),))
    [step_history] = histories([campaign("a", records)])
    [group] = groups_of(step_history)
    assert (len(group.values), group.runs) == (len(BASE), len(BASE) - 1)
    assert group.values[0] == Value(records[0].began, 50.0, suspect=True, run=records[0].run)
    assert group.value < 2


def test_steps_without_a_value_have_no_history() -> None:
    records = [run(1, step(1.0, name="set-up", measure=False), step(1.0, name="ask", index=2))]
    assert [one.step for one in histories([campaign("a", records)])] == ["ask"]
    assert histories([campaign("a", records)], "resource_cpu_s") == []
    assert histories([Campaign(Path("a"))]) == []


def test_metrics_of_all_sources_have_values() -> None:
    levels: dict[str, Any] = {"levels": {"memory_ram": {"min": 1, "max": 5}}}
    one = step(1.0, 2.0, 9.0, used={"cpu_s": 3.0}, values={"rows": 4, "cpu_s": 7}, sampled=levels)
    names = ("duration_s", "cpu_s", "reported_cpu_s", "rows", "host_memory_sampled_max_bytes")
    assert [value_of(one, name) for name in names] == [2.0, 3.0, 7, 4, 5]
    assert value_of(one, "none") is None


@pytest.mark.parametrize("count", [1, 240, 241, 5_000])
def test_thinned_values_keep_the_ends(count: int) -> None:
    values = [Value(WHEN + timedelta(seconds=n), (n * 7919) % 1009) for n in range(count)]
    some = thinned(values)
    assert len(some) <= 240
    ends = [f(one.value for one in values) for f in (min, max)]
    assert [f(one.value for one in some) for f in (min, max)] == ends
    assert [one.began for one in some] == sorted(one.began for one in some)


@pytest.mark.parametrize(
    "campaigns",
    [
        [campaign("a", made(1.0, 1)[:1])],
        [campaign("a", made(0.0, 1))],
        [campaign("a", made(1.0, 9, version="$2^3$")), campaign("b", made(1.2, 1))],
        [campaign(f"{n}", made(1.0 + n, 9 - n, host="h" * n)) for n in range(8)],
        [campaign("a", [replace(one, started_at=WHEN.isoformat()) for one in made(1.0, 1)])],
    ],
)
def test_every_history_is_drawn(campaigns: Sequence[Campaign]) -> None:
    found = [of for one in histories(campaigns) for of in one.by_host]
    for width in (400, 820):
        first, second = (history_drawing(found, width) for _ in range(2))
        assert first.svg() == second.svg()
        assert "nan" not in first.svg()


def test_runs_whose_beginning_is_not_known_have_no_place_in_time() -> None:
    records = made(1.0, 1)
    records[0] = replace(records[0], started_at="")
    [step_history] = histories([campaign("a", records)])
    assert len(groups_of(step_history)[0].values) == len(BASE) - 1
    assert histories([campaign("a", [replace(one, started_at="") for one in records])]) == []
