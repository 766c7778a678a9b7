"""Reports that the explorer serves."""

import re
from pathlib import Path
from typing import Any

import pytest

from benchyard.web.pages import report
from tests.benchyard.analysis.comparison.conftest import BASE, place, runs
from tests.benchyard.web.site import Site


@pytest.fixture
def served(tmp_path: Path) -> tuple[Any, str, str]:
    """Return a client, and the ids of two cases: the second takes twice as long."""
    place(tmp_path / "old" / "results", runs(*BASE))
    place(tmp_path / "new" / "results", runs(*[2 * value for value in BASE]))
    site = Site(tmp_path)
    return site.client, site.case("old"), site.case("new")


def test_a_case_has_a_report(served: tuple[Any, str, str]) -> None:
    client, old, _ = served
    answer = client.get(f"/case/{old}/report.html")
    assert answer.status_code == 200
    assert "style-src 'unsafe-inline'" in answer.headers["Content-Security-Policy"]
    assert "script-src" not in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Disposition"] == 'inline; filename="tpch-report.html"'
    assert "8 finished runs of 1 step" in answer.text


def test_a_comparison_has_a_report(served: tuple[Any, str, str]) -> None:
    client, old, new = served
    answer = client.get("/compare/report.html", params={"side": [old, new], "threshold": "2%"})
    assert answer.status_code == 200
    assert "1 regression; 1 comparison" in answer.text
    assert re.search("<code>benchyard compare .*--threshold 2%</code>", answer.text)
    assert "<h1>tpch (new/results) against tpch (old/results)</h1>" in answer.text
    some = client.get("/compare/report.html", params={"side": [f"{old}@1-4", f"{old}@5-8"]})
    assert "tpch, runs 5-8 against tpch, runs 1-4" in some.text


def test_too_many_runs_are_left_to_the_command(
    served: tuple[Any, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, old, new = served
    monkeypatch.setattr(report, "_MOST_RUNS", 15)
    assert client.get(f"/case/{old}/report.html").status_code == 200
    answer = client.get(f"/compare/report.html?side={old}&side={new}")
    assert answer.status_code == 422
    assert "16 runs is made by benchyard report alone" in answer.text


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/case/0123456789abcdef/report.html", 404),
        ("/compare/report.html", 422),
        ("/compare/report.html?side=OLD&side=NEW&metric=nonsense", 422),
    ],
)
def test_what_cannot_be_is_told(served: tuple[Any, str, str], address: str, status: int) -> None:
    client, old, new = served
    answer = client.get(address.replace("OLD", old).replace("NEW", new))
    assert answer.status_code == status
    assert "Traceback" not in answer.text
