"""The page of alarms: what was said of changes, and what is spent of the month's budget."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchyard.results.account import keep_account
from benchyard.results.annotations import Annotation, AnnotationKind, annotate
from benchyard.statistics.confirmation import AlarmAccount
from tests.benchyard.analysis.comparison.conftest import place, runs, titled
from tests.benchyard.web.site import Site

WHEN = datetime(2026, 11, 20, tzinfo=UTC).isoformat()


def test_what_was_said_of_changes_is_listed_with_the_account(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHYARD_HOME", str(tmp_path / "home"))
    cases = tmp_path / "cases"
    place(cases / "sort", runs(1.0, **titled("sort")))
    place(cases / "sort" / "earlier" / "20261101T000000Z-0123456789ab", runs(1.0, **titled("sort")))
    site = Site(cases)
    assert "Nothing was said of a change" in site.page("/alarms")
    made = Annotation(AnnotationKind.CONFIRMED, WHEN, WHEN, "benchyard", "5 % slower <b>", "load")
    annotate(cases / "sort", made)
    keep_account(AlarmAccount(month="2026-11", spent=3, resting={"query": "2026-11-27"}))
    page = site.page("/alarms")
    assert "3 of 60 confirmations spent in 2026-11; an e-value of 60 raises an alarm" in page
    assert "at rest: query until 2026-11-27" in page
    assert page.count("confirmed by benchyard: 5 % slower &lt;b&gt;") == 1
    [row] = site.json("/alarms.json")
    assert (row["case"], row["step"], row["metric"]) == ("sort", "load", "*")
