"""What changed: regressions first, bounded work that is told, and links to more."""

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchyard.analysis.regressions import Looked
from benchyard.catalogue.entry import CaseEntry, identified
from benchyard.web import explorer as changes
from benchyard.web.explorer import Looks
from benchyard.web.pages import overview
from tests.benchyard.catalogue.making import FIRST_S, put_run, step
from tests.benchyard.web.site import Site

BASE = (1.0, 1.01, 0.99, 1.005, 0.995, 1.002)
OLD = "20260101T010000Z-0123456789ab"


def put_campaign(results: Path, name: str, lengths: Sequence[float], **more: Any) -> None:
    """Write runs of which the only step takes so long (s)."""
    began = more.pop("began", time.time() - 7200)
    for run, length in enumerate(lengths, 1):
        told: dict[str, Any] = {
            "started_s": began + run,
            "steps": (step(1, length),),
            "name": name,
            **more,
        }
        put_run(results, run, **told)


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """Make a case that got slower, one that did not, one without a past, one of long ago."""
    slower = tmp_path / "slower" / "results"
    put_campaign(slower / "earlier" / OLD, "slower", BASE, began=FIRST_S)
    put_campaign(slower, "slower", [2 * length for length in BASE])
    same = tmp_path / "same" / "results"
    put_campaign(same / "earlier" / OLD, "same", BASE, began=FIRST_S)
    put_campaign(same, "same", BASE)
    put_campaign(tmp_path / "new" / "results", "new", BASE)
    put_campaign(tmp_path / "ancient" / "results", "ancient", BASE, began=FIRST_S)
    return tmp_path


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overview, "_PATIENCE", 60.0)


def test_what_got_worse_comes_first_with_a_way_to_the_comparison(lab: Path) -> None:
    site = Site(lab)
    found = site.json("/changes.json")

    assert [one["case"] for one in found["regressions"]] == ["slower"]
    assert found["regressions"][0]["ratio"] == pytest.approx(2, rel=0.05)
    assert (found["pending"], found["left_out"], found["runs"]) == (0, 0, 18)
    summaries = {one["case"]: one["summary"] for one in found["compared"]}
    assert summaries.keys() == {"slower", "same", "new"}
    assert "first campaign on this host" in summaries["new"]

    page = site.page("/")
    before = identified(lab / "slower" / "results" / "earlier" / OLD)
    slower = site.catalogue.case(identified(lab / "slower" / "results")).id
    href = f"/compare?side={before}&amp;side={slower}"
    assert page.index("Got worse") < page.index(href) < page.index("<h2>Cases with new runs")
    assert "Step 1" in page
    assert "http-equiv" not in page


def test_the_time_is_chosen(lab: Path) -> None:
    site = Site(lab)
    assert site.json("/changes.json?since=2000-01-01")["runs"] == 36
    quiet = site.page("/?since=1h")
    assert "no new runs to compare" in quiet
    assert "is no date" in site.page("/?since=never", 422)


def test_what_is_not_compared_or_cannot_be_told_is_not_called_right(tmp_path: Path) -> None:
    put_campaign(tmp_path / "new" / "results", "new", BASE)
    assert "No case was compared with a campaign before" in Site(tmp_path).page("/")

    few = tmp_path / "few" / "results"
    put_campaign(few / "earlier" / OLD, "few", [1.0], began=FIRST_S)
    put_campaign(few, "few", [2.0])
    other = tmp_path / "other" / "results"
    put_campaign(other / "earlier" / OLD, "other", BASE, began=FIRST_S)
    changed = replace(step(1, 2.0), parameters={"scale": 2})
    for run in range(1, 7):
        put_run(other, run, name="other", started_s=time.time(), steps=(changed,))
    page = Site(tmp_path).page("/")
    assert "worse in 1 of 3 cases with new runs that were compared, but of 1 step in them" in page
    assert "1 of 3 cases compared" in page
    assert "not comparable" in page
    assert f"/compare?side={identified(other / 'earlier' / OLD)}" in page


def test_failed_runs_are_told(lab: Path) -> None:
    put_run(
        lab / "new" / "results", 7, name="new", outcome="failed", started_s=time.time(), done=False
    )
    page = Site(lab).page("/")
    assert page.index("Failed runs") < page.index("<h2>Cases with new runs")
    assert "outcome=failed" in page
    assert 'href="/failures?since=7d"' in page


def test_a_page_does_not_wait_for_long_looks_and_is_made_anew(
    lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    look = changes.look

    def slow(case: CaseEntry, others: tuple[Path, ...]) -> Looked:
        assert go_on.wait(60)
        return look(case, others)

    monkeypatch.setattr(changes, "look", slow)
    monkeypatch.setattr(overview, "_PATIENCE", 0.2)
    site = Site(lab)
    page = site.page("/")
    assert "still being compared" in page
    assert 'http-equiv="refresh"' in page

    go_on.set()
    monkeypatch.setattr(overview, "_PATIENCE", 60.0)
    assert "still being compared" not in site.page("/")


def test_a_case_is_looked_at_again_when_it_has_more_runs(
    lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    look = changes.look

    def counted(case: CaseEntry, others: tuple[Path, ...]) -> Looked:
        looked.append(case.title)
        return look(case, others)

    monkeypatch.setattr(changes, "look", counted)
    [case] = [one for one in Site(lab).catalogue.cases() if one.title == "new"]
    looks = Looks()

    for asked in (case, case, replace(case, runs=case.runs + 1)):
        assert looks.of([asked], 60).keys() == {case.id}

    assert looked == ["new", "new"]


def test_a_case_that_cannot_be_compared_says_why(lab: Path) -> None:
    (lab / "slower" / "results" / "run_3" / "run.json").write_text("{")
    [case] = [one for one in Site(lab).catalogue.cases() if one.path.endswith("slower/results")]
    looked = Looks().of([case], 60)[case.id]
    assert "not compared" in looked.summary
    many = replace(case, runs=changes.MOST_RUNS + 1)
    assert "more than 500 runs" in Looks().of([many], 60)[case.id].summary
