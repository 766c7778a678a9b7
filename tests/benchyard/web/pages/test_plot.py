import re
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.benchyard.analysis.comparison.conftest import BASE, place, runs, titled
from tests.benchyard.web.pages.test_case import HOSTILE, Shown


class Plots(Shown):
    def __init__(self, root: Path) -> None:
        for name, factor in (("one", 1.0), ("two", 2.0)):
            made = runs(*(factor * value for value in BASE), **titled(f"{name} {HOSTILE}"))
            place(root / name / "results", made)
        super().__init__(root)
        self.one, self.two = (self.path(f"{name}/results")[6:] for name in ("one", "two"))

    def drawn(self, status: int = 200, **query: Any) -> str:
        return self.words(f"/plot.svg?{urlencode(query, doseq=True)}", status)


@pytest.fixture
def plots(tmp_path: Path) -> Plots:
    return Plots(tmp_path)


@pytest.mark.parametrize("kind", ["points", "bars", "strips", "ecdf"])
def test_kinds_are_drawn(plots: Plots, kind: str) -> None:
    assert "$x^2$" in plots.drawn(side=[plots.one, plots.two], kind=kind)


def test_ratios_are_to_the_reference(plots: Plots) -> None:
    words = plots.drawn(side=f"{plots.one}\n{plots.two}", kind="ratio")
    assert "Points: ratios to one" in words
    assert re.search(r" 2(\.0+)? ", words)


def test_some_runs_are_drawn(plots: Plots) -> None:
    assert "of 6 runs" in plots.drawn(side=f"{plots.one}@1-6")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"metric": "duration"}, "did you mean"),
        ({"steps": "lod"}, "no measured step is 'lod'"),
        ({"kind": "lines"}, "takes a parameter whose values are numbers"),
        ({"x": "threads"}, "no parameter in which these cases differ"),
        ({"reference": "one", "kind": "bars"}, "is of --kind ratio"),
    ],
)
def test_what_cannot_be_drawn_is_said(plots: Plots, query: dict[str, str], said: str) -> None:
    assert said in plots.drawn(422, side=[plots.one, plots.two], **query)


def test_wrong_values_are_refused(plots: Plots) -> None:
    for query in ({"kind": "pie"}, {"scale": "sqrt"}, {"side": "nothing"}):
        answer = plots.client.get("/plot.svg", params={"side": plots.one, **query})
        assert answer.status_code == 422
    assert plots.client.get("/plot.svg", params={"side": "0" * 16}).status_code == 404


def test_page_keeps_what_was_chosen(plots: Plots) -> None:
    query = {"side": plots.one, "kind": "strips", "suspect": "include", "scale": "log"}
    page = plots.client.get("/plot", params=query).text
    assert "<option selected>strips</option>" in page
    assert "suspect=include" in page
    assert "<script>$" not in page


def test_page_without_sides_says_what_to_do(plots: Plots) -> None:
    page = plots.client.get("/plot").text
    assert "Choose cases or runs" in page
    assert "<img" not in page


def test_a_case_without_runs_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "case" / "results" / "run_1"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text("{}")
    shown = Shown(tmp_path)
    for metric in ("duration_s", "resource_cpu_s"):
        address = f"/plot.svg?side={shown.path()[6:]}&metric={metric}"
        assert "there is no finished run to draw" in shown.words(address, 422)
