"""Differences of traces, and the profiles that steps of a run left."""

import json
from pathlib import Path

import pytest

from benchyard.web.pages import profiles
from tests.benchyard.catalogue.formats.samples import write
from tests.benchyard.web.pages.test_entries import HOSTILE, Site
from tests.benchyard.web.runs_on_disk import make_run, make_step

FAST = "main;load {}\nmain;<b>sort</b> {}\n"


def stacks(folder: Path, side: str, sort: int) -> None:
    for at in range(8):
        content = FAST.format(100 + at, sort + at).encode()
        write(folder, f"traces/{side}{at}.folded", content)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    stacks(tmp_path, "a", 200)
    stacks(tmp_path, "b", 300)
    return Site(tmp_path)


def query(site: Site, count: int) -> str:
    sides = [
        (side, site.id_of(f"traces/{side}{at}.folded")) for side in "ab" for at in range(count)
    ]
    return "&".join(f"{side}={entry}" for side, entry in sides)


def test_repetitions_show_what_became_slower(site: Site) -> None:
    asked = query(site, 8)
    rows = site.json(f"/profiles/difference.json?{asked}")
    slower = [row for row in rows if row["verdict"] == "regression"]
    assert {row["name"] for row in slower} == {"<b>sort</b>", "main"}
    (sort,) = (row for row in slower if row["measure"] == "self")
    assert sort["difference"] == pytest.approx(100)
    assert sort["interval"][0] > 1
    page = site.page(f"/profiles/difference?{asked}")
    assert "3 names: 1 more, 0 less by self time" in page
    assert "<b>sort" not in page
    assert '<td class="bad">more</td>' in page


def test_paths_are_compared_and_drawn(site: Site) -> None:
    asked = f"{query(site, 8)}&by=path"
    names = {row["name"] for row in site.json(f"/profiles/difference.json?{asked}")}
    assert "main > load" in names
    drawn = site.text(f"/profiles/difference/flame.svg?{asked}")
    assert "self time +100 (" in drawn
    assert "a0.folded and 7 more" in drawn
    assert site.get(f"/profiles/difference/flame.png?{asked}").content.startswith(b"\x89PNG")
    (first, *_) = site.csv(f"/profiles/difference.csv?{asked}&limit=1")
    assert json.loads(first["interval"])[0] > 1


def test_single_traces_cannot_tell(site: Site) -> None:
    assert "Cannot tell: so few traces" in site.page(f"/profiles/difference?{query(site, 1)}")


def test_the_other_side_is_chosen_from_a_list(site: Site) -> None:
    one = site.id_of("traces/a0.folded")
    page = site.page(f"/profiles/difference?a={one}")
    assert f'<input type="hidden" name="a" value="{one}">' in page
    assert f'<option value="{site.id_of("traces/b7.folded")}">b7.folded' in page
    assert 'name="a" multiple' not in page
    assert 'name="b" multiple' in page
    assert "needs both sides" in site.text(f"/profiles/difference.json?a={one}", 422)


def test_what_is_no_trace_or_too_much_is_refused(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.get("/profiles/difference?a=nothing&b=nothing", 404)
    site.get(f"/profiles/difference.json?{'&a=x' * 60}", 422)
    monkeypatch.setattr(profiles, "_MOST_COMPARED", 2)
    answer = site.json(f"/profiles/difference.json?{query(site, 1)}", 422)
    assert "3 names, more than the 2" in answer["error"]
    write(tmp_path, "b.json", b'{"x": {"latency": {"value": 1}}}')
    other = Site(tmp_path)
    bencher = other.id_of("bencher")
    other.get(f"/profiles/difference.json?a={bencher}&b={bencher}", 404)


# -- what steps left


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = make_run(tmp_path / "results", 1, [make_step(1, "load"), make_step(2, HOSTILE)])
    write(folder, "process/01-load.profile.folded", b"main;load 2\nmain;sort 3\n")
    write(folder, "process/02-odd.profile.txt", b"\x00 nothing")
    (folder / "process/02-out.profile.txt").symlink_to("/etc/passwd")
    return folder


@pytest.mark.usefixtures("run")
def test_profiles_of_a_run_have_pages(tmp_path: Path) -> None:
    site = Site(tmp_path)
    address = f"/run/{site.id_of('results/run_1')}/profiles"
    files = [row["file"] for row in site.json(f"{address}.json")]
    # A link that leads out of the run is no profile.
    assert files == ["process/01-load.profile.folded", "process/02-odd.profile.txt"]
    page = site.page(f"{address}/1")
    assert "load: 01-load.profile.folded" in page
    assert f"{address}/1/flame.svg" in page
    names = [row["name"] for row in site.json(f"{address}/1/names.json")]
    assert names == ["sort", "load", "main"]
    assert "sort" in site.page(f"{address}/1/flame")
    assert "<script>alert" not in site.page(address)
    for part, status in (("2", 422), ("3", 404), ("none", 422)):
        site.get(f"{address}/{part}", status)


@pytest.mark.usefixtures("run")
def test_runs_are_compared_by_path(tmp_path: Path) -> None:
    make_run(tmp_path / "results", 2, [make_step(1, "load")])
    site = Site(tmp_path)
    first, second = (site.id_of(f"results/run_{number}") for number in (1, 2))
    rows = site.json(f"/profiles/difference.json?a={first}&b={second}")
    assert any(" > " in row["name"] for row in rows)


def test_a_run_without_a_record_has_none(tmp_path: Path, run: Path) -> None:
    site = Site(tmp_path)
    entry = site.id_of("results/run_1")
    (run / "run.json").write_text("{")
    assert site.json(f"/run/{entry}/profiles.json") == []
