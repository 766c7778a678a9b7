import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchyard.core.files import remove_tree
from benchyard.core.model import Json, Outcome
from benchyard.results.record import ErrorRecord, RunRecord
from tests.benchyard.analysis.comparison.conftest import BASE, failed, place, run, runs, step
from tests.benchyard.cli.test_checking import moved
from tests.benchyard.web.site import Site

HOSTILE = "<script>$x^2$</script>&“q”"
PARTS = ("", "/steps.json", "/history.csv")
EARLIER = "earlier/20251201T000000Z-0123456789ab"


def subject(version: str = "3.46", host: str = "bench1") -> dict[str, Any]:
    versions = {"SQLite": {"version": version}}
    return {"versions": versions, "host": host, "digest": f"sha256:{version}{host}"}


def dated(records: Sequence[RunRecord], month: int, **facts: Any) -> list[RunRecord]:
    return [
        replace(one, started_at=f"2026-{month:02d}-01T00:{one.run:02d}:00+00:00", **facts)
        for one in records
    ]


class Shown(Site):
    """An explorer of some results."""

    def path(self, ending: str = "results") -> str:
        [found] = [one for one in self.catalogue.cases() if one.path.endswith(ending)]
        return f"/case/{found.id}"


@pytest.fixture
def shown(tmp_path: Path) -> Shown:
    """Show two campaigns of a case, the older one with another version."""
    used = {"resource_cpu_s": 0.25, "resource_memory_peak_bytes": 2.0**20}
    new = [run(n, step(d, used=used)) for n, d in enumerate(BASE, 1)]
    old = runs(*(1.5 * value for value in BASE))
    place(tmp_path / "results", dated(new, 2, subject=subject()))
    place(tmp_path / "results" / EARLIER, dated(old, 1, subject=subject("3.45")))
    return Shown(tmp_path)


def test_page_shows_all_that_there_is(shown: Shown) -> None:
    page = shown.text(shown.path())
    for part in ("steps", "history", "runs", "failures"):
        assert f'id="{part}"' in page
        assert f"{shown.path()}/{part}.csv" in page
    repeat = f"benchyard run --new --runs {len(BASE)} -- tpch"
    for text in ("<h1>tpch</h1>", "SQLite 3.46", repeat, f"/compare?side={shown.path()[6:]}"):
        assert text in page
    assert "Draw all" not in page
    assert 'media="(prefers-color-scheme: dark)"' in page
    assert f'href="{shown.path()}/history.png' in page
    for source in re.findall(r'(?:src|srcset)="(/case/[^"]*)"', page):
        picture = shown.get(source.replace("&amp;", "&"))
        assert picture.headers["content-type"] == "image/svg+xml"


def test_steps_have_medians_with_intervals(shown: Shown) -> None:
    [row] = shown.json(f"{shown.path()}/steps.json")
    assert row["step"] == "load"
    assert row["runs"] == len(BASE)
    assert row["median"] == pytest.approx(1.0, abs=0.01)
    assert row["low"] <= row["median"] <= row["high"]
    assert row["median_cpu_s"] == 0.25
    assert row["median_memory_bytes"] == 2**20


def test_a_short_history_says_how_much_is_missing(shown: Shown) -> None:
    page = shown.text(shown.path())
    sentence = page.index("2 campaigns: 8 more campaigns can show")
    assert sentence < page.index('id="history-picture"') < page.index('id="steps"')
    assert shown.json(f"{shown.path()}.json")["changes"] == []


def test_a_change_of_level_is_told_on_top_and_drawn(tmp_path: Path) -> None:
    moved(tmp_path / "results")
    shown = Shown(tmp_path)
    page = shown.text(shown.path())
    assert re.search(r"(Load|load).*\+(9\.|10).* % since 2026-11-2", page)
    [change] = shown.json(f"{shown.path()}.json")["changes"]
    assert change["ratio"] == pytest.approx(1.1, abs=0.01)
    assert change["campaigns"] in {10, 11}
    assert 'stroke="#c2410c"' in shown.text(f"{shown.path()}/history.svg")


def test_other_metrics_are_shown_by_name_and_glob(shown: Shown) -> None:
    rows = shown.json(f"{shown.path()}/steps.json?metric=resource_*")
    assert {row["metric"] for row in rows} == {"resource_cpu_s", "resource_memory_peak_bytes"}
    assert "resource_cpu_s" in shown.text(f"{shown.path()}?metric=resource_cpu_s")


def test_history_tells_what_changed(shown: Shown) -> None:
    new, old = shown.json(f"{shown.path()}/history.json?step=load")
    assert new["changed"] == "SQLite 3.45 and 3.46"
    assert new["change"] == pytest.approx(1 / 1.5)
    assert old["campaign"] == EARLIER.partition("/")[2]
    assert old["changed"] is None
    drawn = shown.text(f"{shown.path()}/history.svg?step=load")
    assert "SQLite 3.45 and 3.46" in drawn
    assert "is no step" not in drawn


@pytest.mark.parametrize(
    ("address", "status", "sentence"),
    [
        ("HERE?step=none", 422, "o step of the case is"),
        (f"/case/{'0' * 16}", 404, ""),
        (f"/case/{'0' * 16}/history.svg", 404, ""),
        ("HERE/runs.csv?offset=-1", 422, ""),
        ("HERE/values.csv?metric=nothing", 422, ""),
        *((f"HERE{part}?metric=resource_cp_s", 422, "resource_cpu_s") for part in PARTS),
    ],
)
def test_what_there_is_not_is_refused(
    shown: Shown, address: str, status: int, sentence: str
) -> None:
    assert sentence in shown.text(address.replace("HERE", shown.path()), status)


def test_runs_come_in_pages(tmp_path: Path) -> None:
    place(tmp_path / "results", runs(*[1.0] * 60, subject=subject()))
    shown = Shown(tmp_path)
    first = shown.json(f"{shown.path()}/runs.json")
    assert all(len(row["id"]) == 16 for row in first)
    assert ">Id</th>" not in shown.text(f"{shown.path()}/runs")
    rest = shown.json(f"{shown.path()}/runs.json?offset={len(first)}")
    assert len(first) + len(rest) == 60
    assert not {row["run"] for row in first} & {row["run"] for row in rest}
    assert f"{shown.path()}/runs?offset={len(first)}" in shown.text(f"{shown.path()}/runs")


def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    made = runs(*BASE, subject=subject())
    made[0] = run(1, step(99.0, suspect=["it swapped"]), subject=subject())
    made.append(run(9, failed(), subject=subject(), error=ErrorRecord("Error", HOSTILE)))
    results = place(tmp_path / "results", made)
    (results / "run_2" / "run.json").write_text("{}")
    shown = Shown(tmp_path)
    [row] = shown.json(f"{shown.path()}/steps.json")
    assert (row["runs"], row["left_out"]) == (6, "1 suspect, 1 failed")
    page = shown.text(shown.path())
    assert "run 2 is left out" in page
    assert "1 run failed" in page
    [trouble] = shown.json(f"{shown.path()}/failures.json")
    assert (trouble["troubled"], trouble["executions"]) == (1, 8)
    by_run = {row["run"]: row for row in shown.json(f"{shown.path()}/runs.json")}
    assert by_run[1]["suspect_steps"] == 1
    assert by_run[9]["outcome"] == Outcome.FAILED


def points(folder: Path, *threads: int, suspect: Sequence[str] = ()) -> Shown:
    """Explore results of a case with these points."""
    for point in threads:
        title = f"tpch[threads={point}]"
        case: dict[str, Json] = {"name": "tpch", "title": title, "point": {"threads": point}}
        made = [
            run(n, step(v / point, suspect=[*suspect]), case=case, subject=subject())
            for n, v in enumerate(BASE, 1)
        ]
        place(folder / "results" / f"threads={point}", made)
    return Shown(folder)


def test_what_is_suspect_can_be_drawn_and_compared(tmp_path: Path) -> None:
    shown = points(tmp_path, 1, 2, suspect=["swapped"])
    [href] = re.findall('href="([^"]*)">Draw all', shown.text(shown.path("threads=1")))
    assert href.count("side=") == 2
    address = href.replace("&amp;", "&").replace("/plot?", "/plot.svg?")
    assert "<svg" in shown.text(address)


def test_each_run_has_a_row_of_values(shown: Shown) -> None:
    rows = shown.json(f"{shown.path()}/values.json?metric=*_s")
    times = [row for row in rows if row["metric"] == "duration_s"]
    newest = [row for row in times if row["campaign"] == "results"]
    assert [(row["run"], row["value"]) for row in newest] == list(enumerate(BASE, 1))
    assert len(times) == 2 * len(BASE)
    assert {row["metric"] for row in rows} == {"duration_s", "resource_cpu_s"}
    assert (newest[0]["unit"], newest[0]["suspect"], newest[0]["host"]) == ("s", False, "bench1")
    assert f'{shown.path()}/values"' in shown.text(shown.path())
    assert shown.json(f"{shown.path()}/values.json?offset=3") == times[3:]


def test_what_changes_is_read_again(tmp_path: Path) -> None:
    results = place(tmp_path / "results", runs(1.0, 1.0, 1.0, subject=subject()))
    shown = Shown(tmp_path)
    assert shown.json(f"{shown.path()}/steps.json")[0]["median"] == 1.0
    for one in runs(2.0, 2.0, 2.0, first=4, subject=subject()):
        place(results, [one])
    shown.catalogue.refresh()
    [row] = shown.json(f"{shown.path()}/steps.json")
    assert (row["runs"], row["median"]) == (6, 1.5)


def test_an_earlier_campaign_is_read_again_once_a_file_of_it_changes(tmp_path: Path) -> None:
    place(tmp_path / "results", dated(runs(*BASE, subject=subject()), 2))
    ran = [*runs(1.0, 1.0, subject=subject()), run(9, failed(), subject=subject())]
    earlier = place(tmp_path / "results" / EARLIER, dated(ran, 1))
    shown = Shown(tmp_path)

    def read() -> tuple[list[float], int]:
        shown.catalogue.refresh()
        values = shown.json(f"{shown.path()}/values.json")
        [step] = shown.json(f"{shown.path()}/failures.json")
        return [one["value"] for one in values if one["campaign"] != "results"], step["executions"]

    assert read() == ([1.0, 1.0], len(BASE) + 3)
    record = earlier / "run_2" / "run.json"
    record.write_text(record.read_text().replace('"duration_s": 1.0', '"duration_s": 3.0'))
    assert read() == ([1.0, 3.0], len(BASE) + 3)
    remove_tree(earlier / "run_1")
    assert read() == ([3.0], len(BASE) + 2)
    place(earlier, dated([run(10, failed(), subject=subject())], 1))
    assert read() == ([3.0], len(BASE) + 3)


def test_krowns_runs_are_read_from_their_samples(tmp_path: Path) -> None:
    folder = tmp_path / "results" / "run_1"
    folder.mkdir(parents=True)
    (folder / "metrics.csv").write_text(
        "version,step,timestamp,cpu_user\n"
        + "".join(f"3,{1 + (n > 4)},{n}.0,{n}.0\n" for n in range(10))
    )
    (folder / ".done").write_text("2024-06-06T18:44:01\n")
    shown = Shown(tmp_path)
    rows = shown.json(f"{shown.path()}/steps.json")
    assert [row["median"] for row in rows] == [4.0, 4.0]
    page = shown.text(shown.path())
    assert "measured by KROWN" in page
    assert "report.html" not in page
    shown.get(f"/plot.svg?side={shown.path()[6:]}")
    [run_shown] = shown.json(f"{shown.path()}/runs.json")
    href = f"/run/{run_shown['id']}"
    assert [row["step"] for row in shown.json(f"{href}/steps.json")] == ["step 1", "step 2"]
    assert "measured by KROWN" in shown.text(href)
    assert shown.json(f"{href}/curves.json")["samples"] == 10
