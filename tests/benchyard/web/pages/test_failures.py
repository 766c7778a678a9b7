import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from benchyard.core.model import Outcome
from benchyard.results.attempts import note_ended
from benchyard.results.record import Attempt, ErrorRecord, RunRecord, StepRecord
from benchyard.web.pages import failures
from tests.benchyard.analysis.comparison.conftest import ENVIRONMENT, place, run, step, titled
from tests.benchyard.web.site import Site

NOW = datetime.now(UTC)


def began(record: RunRecord, days_ago: float) -> RunRecord:
    moment = (NOW - timedelta(days=days_ago)).isoformat()
    return replace(record, started_at=moment, ended_at=moment)


def tried(name: str, *errors: str, works: bool = True) -> StepRecord:
    """Make a step that failed of each of these, and then works or not."""
    moment = NOW.isoformat()
    made = [
        Attempt(n, moment, 0.0, 1.0, Outcome.FAILED, (), ErrorRecord("E", text))
        for n, text in enumerate(errors, 1)
    ]
    if works:
        made.append(Attempt(len(made) + 1, moment, 1.0, 2.0, Outcome.COMPLETED))
    outcome = Outcome.COMPLETED if works else Outcome.FAILED
    return step(name=name, outcome=outcome, attempts=tuple(made))


def lab(results: Path, records: Iterable[RunRecord], *, noted: bool = True) -> Path:
    several = list(records)
    place(results, several)
    for record in several if noted else ():
        note_ended(results, record)
    return results


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """Two cases: one recovers, one failed yesterday of the disk, and long ago of something else."""
    words = [began(run(n, tried("load", "busy"), tried("sort")), n) for n in (1, 2)]
    lab(tmp_path / "words", words)
    old = began(run(1, tried("load", "the old one", works=False), **titled("graph")), 90)
    new = began(run(2, tried("load", "no space in run_2/x", works=False), **titled("graph")), 1)
    other = {"environment": {**ENVIRONMENT, "host": "bench2"}}
    third = began(run(3, tried("load", "no space in run_3/x", works=False), **titled("graph")), 2)
    lab(tmp_path / "graph", [old, new, replace(third, **other)])
    return Site(tmp_path)


def test_steps_reasons_executions_and_days_are_told(site: Site) -> None:
    page = site.page("/failures")
    assert "trouble in 4 of 6 executions of steps, 2 recovered; 4 of 8 attempts failed" in page
    assert [row["case"] for row in site.json("/failures/steps.json")] == ["graph", "tpch"]
    reasons = site.json("/failures/reasons.json")
    assert {one["reason"]: (one["executions"], one["hosts"]) for one in reasons} == {
        "no space in run_#/x": (2, "bench2, bench1"),
        "E: busy": (2, "bench1"),
    }
    newest = site.json("/failures/executions.json")
    assert [one["started_at"] for one in newest] == sorted(
        (one["started_at"] for one in newest), reverse=True
    )
    days = site.json("/failures/rates.json")
    assert [(one["executions"], one["troubled"]) for one in days] == [(3, 2), (3, 2)]


def test_what_is_older_is_left_out_and_damage_is_told(site: Site, tmp_path: Path) -> None:
    assert "the old one" not in site.page("/failures")
    assert "the old one" in site.page("/failures?since=100d")
    log = tmp_path / "graph" / "tries.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"attempts":1', b'"attempts":"broken"', 1))

    assert "line 1: not readable" in site.page("/failures?since=99d")


def test_a_case_and_a_host_can_be_chosen(site: Site) -> None:
    graph = site.case("graph")
    assert [one["host"] for one in site.json("/failures/executions.json?host=bench2")] == ["bench2"]
    by_id = site.json(f"/failures/executions.json?case={graph}")
    assert {one["case"] for one in by_id} == {"graph"}
    assert len(by_id) == 2


def test_links_lead_to_the_run_and_the_case(site: Site) -> None:
    page = site.page("/failures")
    linked = re.findall('href="/run/([0-9a-f]{16})', page)
    assert "graph/run_2" in {site.catalogue.entry(one).path for one in linked}
    assert f'href="/case/{site.case("graph")}"' in page


def test_what_is_not_looked_at_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "MOST_RUNS", 3)
    monkeypatch.setattr(failures, "MOST_RECORDS", 1)
    for name, days in (("a", 1.0), ("b", 2.0)):
        runs = [began(run(n, tried("load"), **titled(name)), days + n / 9) for n in (1, 2)]
        lab(tmp_path / name, runs, noted=False)
    page = Site(tmp_path).page("/failures")
    assert "1 case with 2 runs not looked at" in page
    assert "1 run of which no log tells not looked at: only the records of 1 are read" in page
