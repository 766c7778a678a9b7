"""The list of other programs' results, and the page of each."""

import csv
import gzip
import io
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchyard.catalogue.query import EntryQuery
from benchyard.web import traces as trace_figures
from tests.benchyard.catalogue.formats.samples import (
    HYPERFINE,
    JSON_FORMATS,
    SAMPLES,
    UNLISTED,
    write,
    write_all,
)
from tests.benchyard.catalogue.mindspore.writing import event, records
from tests.benchyard.web.site import Site as Explored

HOSTILE = '<script>alert("x")</script> $x^$ \x1b[31m'


class Site(Explored):
    """An explorer whose entries are asked by their format or path."""

    def id_of(self, wanted: str) -> str:
        """Return the id of the entry of a format or path."""
        entries = self.catalogue.page(EntryQuery(limit=None)).entries
        (found,) = (one.id for one in entries if wanted in (one.format, one.path))
        return found

    def entry(self, wanted: str) -> str:
        return self.page(f"/entry/{self.id_of(wanted)}")

    def rows(self, wanted: str, table: str) -> list[dict[str, Any]]:
        return self.json(f"/entry/{self.id_of(wanted)}/{table}.json")

    def csv(self, address: str) -> list[dict[str, str]]:
        return [*csv.DictReader(io.StringIO(self.text(address)))]


@pytest.fixture
def site(tmp_path: Path) -> Site:
    write_all(tmp_path)
    write(tmp_path, "broken.json", b'{"results": [{"command": "x", "mean": "fast"}]}')
    return Site(tmp_path)


# -- the list


def test_the_list_has_all_and_filters(site: Site) -> None:
    assert {one["format"] for one in site.json("/entries.json")} == set(SAMPLES) - UNLISTED
    (pprof,) = site.json("/entries.json?format=pprof")
    assert (pprof["path"], pprof["contents"]["tracks"]) == ("traces/p.pb.gz", 1)
    (broken,) = site.json("/entries.json?broken=1")
    assert "Expected `float`" in broken["broken"]
    (asv,) = site.json("/entries.json?q=asv")
    assert asv["path"] == "asv/box/abcdef12-env.json"
    page = site.page("/entries?format=pprof")
    assert '<option value="pprof" selected>pprof (1)</option>' in page
    assert "1 result of other programs" in page


def test_the_list_has_pages(site: Site) -> None:
    total = len(set(SAMPLES) - UNLISTED) + 1
    size = total // 2
    first = site.page(f"/entries?limit={size}&broken=0")
    assert f"Rows 1 to {size} of {total}." in first
    assert f"/entries?offset={size}&amp;limit={size}" in first
    last = site.page(f"/entries?limit={size}&offset={size * 2 - 1}")
    assert f"Rows {size * 2} to {total} of {total}." in last
    assert ">Next<" not in last
    parts = [site.csv(f"/entries.csv?limit={size}&offset={at}") for at in range(0, total, size)]
    assert len({one["id"] for part in parts for one in part}) == total


# -- benchmark files


def test_measurements_have_units_and_all_digits(site: Site) -> None:
    page = site.entry("google-benchmark")
    assert "12.5 µs" in page
    assert "failed: no &lt;file&gt;" in page
    first = site.rows("google-benchmark", "measurements")[0]
    assert (first["min"], first["unit"], first["n"]) == (12.5e-6, "s", 2)
    values = site.rows("google-benchmark", "values")
    assert [one["value"] for one in values[:2]] == [12.5e-6, 13.5e-6]
    told = site.csv(f"/entry/{site.id_of('pytest-benchmark')}/measurements.csv")
    assert (told[0]["parameters"], told[0]["mean"]) == ('{"n":1}', "2.1e-06")


def test_a_rate_is_written_with_its_unit(tmp_path: Path) -> None:
    write(tmp_path, "b.json", b'{"x": {"throughput": {"value": 12500}}}')
    assert "12,500/s" in Site(tmp_path).entry("bencher")


def test_a_page_says_what_else_a_profile_measures(site: Site) -> None:
    assert "Only in benchyard profile --type" in site.entry("callgrind")
    assert "Only in benchyard profile --type" not in site.entry("cprofile")


def test_long_tables_have_parts(tmp_path: Path) -> None:
    one = HYPERFINE["results"][0]
    write(tmp_path, "h.json", json.dumps({"results": [{**one, "times": [*range(30)]}]}).encode())
    site = Site(tmp_path)
    assert "Rows 1 to 20 of 32." in site.entry("hyperfine")
    for offset, limit, values in ((25, 4, [25, 26, 27, 28]), (29, 2, [29, 4096]), (99, 9, [])):
        address = f"/entry/{site.id_of('hyperfine')}/values.csv?offset={offset}&limit={limit}"
        part = site.csv(address)
        assert [float(row["value"]) for row in part] == values
        assert offset != 29 or [row["position"] for row in part] == ["30", "1"]


def test_a_testresults_document_hides_its_environment(site: Site) -> None:
    page = site.entry("testresults")
    assert "hunter2" not in page
    assert "it swapped" in page
    first, second = site.rows("testresults", "results")
    extras = {"suspect": "it swapped", "n": 2.0}
    told = {"wall_time_s": 1.5, "iterations": 3, "extras": extras, "metrics": {"gb_per_s": 26.9}}
    assert told.items() <= first.items()
    assert second["wall_time_s"] is None


# -- traces


def test_a_trace_is_counted(site: Site) -> None:
    first, second = site.rows("chrome-trace", "names")
    assert (first["name"], first["total_ns"], first["self_ns"]) == ("<b>load</b>", 1e6, 8e5)
    assert second["self_share"] == pytest.approx(0.2)
    (counter,) = site.rows("chrome-trace", "counters")
    assert counter["max"] == 7
    flame = site.page(f"/entry/{site.id_of('chrome-trace')}/flame")
    # Each frame says what it is without a script.
    assert "<title>&lt;b&gt;load&lt;/b&gt; &gt; parse: 200 µs, 20 %</title>" in flame
    assert "style=" not in flame
    for page in (site.entry("chrome-trace"), flame):
        assert "&lt;b&gt;load&lt;/b&gt;" in page
        assert "<b>load" not in page


@pytest.mark.parametrize("name", ["flame", "timeline"])
def test_a_trace_is_drawn(site: Site, name: str) -> None:
    address = f"/entry/{site.id_of('chrome-trace')}/{name}"
    assert "parse" in site.words(f"{address}.svg")
    assert site.get(f"{address}.png").content.startswith(b"\x89PNG")
    assert site.text(f"{address}.svg?theme=dark") != site.text(f"{address}.svg")


def test_what_a_trace_lost_is_told(tmp_path: Path) -> None:
    write(tmp_path, "a.folded", b"main;load 2\nnothing\n")
    assert "1 times: no stack and count (first at line 2)" in Site(tmp_path).entry("a.folded")


def test_stacks_of_any_depth_are_shown_or_refused(tmp_path: Path) -> None:
    deep = ";".join(f"f{at}" for at in range(5_000))
    write(tmp_path, "deep.folded", f"{deep} 1\n".encode())
    site = Site(tmp_path)
    entry = site.id_of("collapsed-stacks")
    assert "inside of 150 others, are not drawn" in site.get(f"/entry/{entry}/flame.svg").text
    site.get(f"/entry/{entry}/timeline.svg")
    assert len(site.get(f"/entry/{entry}/names.json?limit=10000").json()) == 5_000
    answer = site.get(f"/profiles/difference.json?a={entry}&b={entry}&by=path", 422)
    assert "its paths have 12,502,500 names" in answer.json()["error"]


def test_a_trace_with_too_many_slices_is_refused(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_figures, "_MOST_SLICES", 1)
    entry = site.id_of("chrome-trace")
    assert "it has 2 slices, more than the 1 that are counted here" in site.entry("chrome-trace")
    for name in ("names.json", "flame.svg", "timeline.svg", "flame"):
        site.get(f"/entry/{entry}/{name}", 422)


def test_a_scanner_job_has_its_tables(tmp_path: Path) -> None:
    samples = (folder / "shared/samples/scanner" for folder in Path(__file__).resolve().parents)
    real = next((folder for folder in samples if folder.is_dir()), None)
    if real is None:
        pytest.skip("real samples are not here")
    for file in real.iterdir():
        write(tmp_path, f"jobs/7/{file.name}", file.read_bytes())
    page = Site(tmp_path).entry("scanner-job")
    assert "<h1>job_7</h1>" in page
    assert "Counters by kind of worker" in page
    assert "max_memory_used" in page


# -- trainings


def scalars(number: int, time_s: float | str, **told: float | str) -> bytes:
    values = [{"tag": tag, "scalar_value": value} for tag, value in told.items()]
    return event(step=number, wall_time=time_s, summary={"value": values})


def training(folder: Path, *events: bytes) -> Site:
    """Write a training, and explore it."""
    write(folder, "job/a.summary.1700000000", records(events))
    return Site(folder)


def test_scalars_are_tables(tmp_path: Path) -> None:
    events = [scalars(n, 1.7e9 + n, loss=1 / 2**n, **{"<b>acc</b>": 0.1}) for n in range(4)]
    site = training(tmp_path, *events)
    assert "&lt;b&gt;acc&lt;/b&gt;" in site.entry("mindspore-summary")
    loss, accuracy = site.rows("mindspore-summary", "scalars")
    steps = {"values": 4, "first_step": 0, "last_step": 3}
    assert loss == {"tag": "loss", **steps, "first": 1.0, "last": 0.125, "min": 0.125, "max": 1.0}
    assert accuracy["first"] == 0.1
    address = f"/entry/{site.id_of('mindspore-summary')}/scalar-values.csv?offset=1&limit=2"
    assert site.text(address).splitlines() == [
        "tag,step,time_s,value",
        "loss,1,1700000001.0,0.5",
        "loss,2,1700000002.0,0.25",
    ]


def test_odd_numbers_of_a_training_do_no_harm(tmp_path: Path) -> None:
    odd = [scalars(0, 1e300, loss="NaN"), scalars(1, -1, loss=1)]
    site = training(tmp_path, *odd, scalars(2, "Infinity", loss="Infinity"))
    site.entry("mindspore-summary")
    (loss,) = site.rows("mindspore-summary", "scalars")
    assert (loss["first"], loss["min"], loss["max"]) == ("NaN", 1.0, "Infinity")
    values = site.rows("mindspore-summary", "scalar-values")
    assert [one["time_s"] for one in values] == [None, None, None]


def test_what_cannot_be_read_of_a_training_is_told(tmp_path: Path) -> None:
    site = training(tmp_path, scalars(0, 1, loss=1), scalars(1, 2, loss=2))
    file = tmp_path / "job" / "a.summary.1700000000"
    content = bytearray(file.read_bytes())
    content[20] ^= 1
    file.write_bytes(content + struct.pack("<Q", 5))
    page = site.entry("mindspore-summary")
    assert "byte 0: the checksum of a record is wrong" in page
    assert "being written" in page


# -- broken, hostile, gone


def test_a_broken_one_says_why(site: Site) -> None:
    why = "It cannot be shown: it has another shape than it should: Expected `float`"
    assert why in site.entry("broken.json")
    site.get(f"/entry/{site.id_of('broken.json')}/measurements.json", 422)


def test_what_changed_since_it_was_listed_is_told(site: Site) -> None:
    hyperfine, chrome = site.id_of("bench/hyperfine.json"), site.id_of("chrome-trace")
    root = site.catalogue.roots[0]
    (root / "bench/hyperfine.json").write_bytes(b"{")
    (root / "traces/c.json.gz").unlink()
    for entry in (hyperfine, chrome):
        assert "It cannot be shown" in site.page(f"/entry/{entry}")
    for part in ("names.json", "flame.svg"):
        site.get(f"/entry/{chrome}/{part}", 422)


@pytest.mark.parametrize("table", ["names.json", "results.json", "flame.svg", "timeline.png"])
def test_what_an_entry_does_not_have_is_not_there(site: Site, table: str) -> None:
    for part in (f"{site.id_of('pyperf')}/{table}", f"{site.id_of('pprof')}/measurements.json"):
        site.get(f"/entry/{part}", 404)
    for part in ("nothing", "nothing.json"):
        site.get(f"/entry/{part}", 404)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        told = cast("dict[str, Any]", value)
        yield told
        for inner in told.values():
            yield from _objects(inner)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            yield from _objects(inner)


@pytest.mark.slow
@settings(max_examples=30)
@given(data=st.data())
def test_no_value_makes_a_page_fail(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(JSON_FORMATS))
    path, content = SAMPLES[name]
    told = json.loads(gzip.decompress(content) if path.endswith(".gz") else content)
    place = data.draw(st.sampled_from([*_objects(told)]))
    place[data.draw(st.sampled_from([*place, "new"]))] = data.draw(_JSON)
    folder = tmp_path_factory.mktemp("site")
    write(folder, path.removesuffix(".gz"), json.dumps(told).encode())
    site = Site(folder)
    for entry in site.json("/entries.json"):
        page = site.page(f"/entry/{entry['id']}")
        for table in ("measurements", "values", "results", "names", "tracks", "counters"):
            if f"/{table}.csv" in page:
                site.get(f"/entry/{entry['id']}/{table}.csv")
                site.get(f"/entry/{entry['id']}/{table}.json")
