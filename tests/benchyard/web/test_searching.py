"""What an address asks, and what cannot be meant."""

import base64
import csv
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from benchyard.catalogue.catalogue import Catalogue
from benchyard.catalogue.query import Condition, Operator
from benchyard.core.errors import InputError
from benchyard.web.app import make_app
from benchyard.web.explorer import Explorer
from benchyard.web.searching import condition
from tests.benchyard.catalogue.making import put_many, put_run, step
from tests.benchyard.web.site import Site


@pytest.mark.parametrize(
    ("text", "parameter", "operator", "value"),
    [
        ("threads>=4", "threads", Operator.AT_LEAST, 4),
        ("threads = 4", "threads", Operator.IS, 4),
        ("scale<0.1", "scale", Operator.LESS, 0.1),
        ("scale<=1e3", "scale", Operator.AT_MOST, 1000.0),
        ("load.file!=a=b", "load.file", Operator.IS_NOT, "a=b"),
        ("system~SQL", "system", Operator.CONTAINS, "SQL"),
        ("cold=true", "cold", Operator.IS, True),
        ("name=", "name", Operator.IS, ""),
        ("big=99999999999999999999", "big", Operator.IS, "99999999999999999999"),
    ],
)
def test_conditions(text: str, parameter: str, operator: Operator, value: Any) -> None:
    found = condition(text)
    assert found == Condition(parameter, operator, value)
    assert type(found.value) is type(value)


@given(st.text())
def test_any_text_is_a_condition_or_a_sentence(text: str) -> None:
    with suppress(InputError):
        found = condition(text)
        assert found.parameter.strip() == found.parameter != ""
        assert found.operator.value in text


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    root = tmp_path_factory.mktemp("searched")
    for threads in (1, 2, 4):
        results = root / "spin" / "results" / f"threads={threads}"
        for run in range(1, 6):
            host = f"bench-{run % 2}"
            put_run(results, run, name="spin", point={"threads": threads}, host=host, tags=["a&b"])
    put_run(root / "load" / "results", name="load", tags=["c"], outcome="failed", done=False)
    return Site(root)


def test_conditions_hold_together(site: Site) -> None:
    found = site.json("/runs.json?param=threads%3E%3D2&host=bench-1&case=spin")
    assert found["total"] == 6
    assert {entry["point"]["threads"] for entry in found["entries"]} == {2, 4}


@pytest.mark.parametrize("address", ["/runs.json", "/runs.csv", "/runs", "/cases.json", "/compare"])
def test_a_field_that_nobody_knows_is_refused_with_those_that_are(site: Site, address: str) -> None:
    told = site.text(f"{address}?hosts=bench-1", 400)
    assert "hosts" in told
    if "runs" in address:
        assert "did you mean" in told
        assert "host, host_quality" in told


def test_columns_keys_and_orders_have_one_name_each(site: Site) -> None:
    [head, first, *_] = csv.reader(site.text("/runs.csv?sort=started_s").splitlines())
    entry = site.json("/runs.json?sort=started_s")["entries"][0]
    assert set(head) <= entry.keys()
    row = dict(zip(head, first, strict=True))
    for name in ("title", "case", "outcome", "host", "path", "id"):
        assert row[name] == entry[name]
    old = site.text("/runs.csv?sort=-duration")
    assert site.text("/runs.csv?sort=-duration_s") == old
    assert site.text("/cases.csv?sort=newest") == site.text("/cases.csv?sort=newest_s")


def test_a_first_look_under_way_is_told_and_not_kept(tmp_path: Path) -> None:
    put_run(tmp_path / "lab" / "spin" / "results")
    catalogue = Catalogue([tmp_path / "lab"], tmp_path / "index.sqlite", look=False)
    client: Any = TestClient(make_app(Explorer(catalogue)), base_url="http://localhost")
    seen: list[Any] = []

    def stopped() -> bool:
        seen.extend(client.get(address).json() for address in ("/runs.json", "/cases.json"))
        return True

    catalogue.refresh(stopped)
    assert [one["looking"] for one in seen[:2]] == [True, True]
    catalogue.refresh()
    after = client.get("/runs.json").json()
    assert (after["looking"], after["total"]) == (False, 1)


def test_pages_lead_through_all_rows_and_back(site: Site) -> None:
    seen: list[str] = []
    after = ""
    while after is not None:
        page = site.json(f"/runs.json?limit=5&after={after}")
        seen += [entry["id"] for entry in page["entries"]]
        after = page["next"]
    assert len(seen) == len(set(seen)) == 16
    first = site.json("/runs.json?limit=5")
    second = site.json(f"/runs.json?limit=5&after={first['next']}")
    back = site.json(f"/runs.json?limit=5&after={second['previous']}")
    assert back["entries"] == first["entries"]


def test_the_page_narrows_sorts_and_goes_on_by_links(site: Site) -> None:
    assert "tag=a%26b" in site.page("/runs")
    page = site.page("/runs?host=bench-1&limit=5")
    assert 'href="?host=bench-1&amp;limit=5&amp;sort=title"' in page
    assert 'aria-sort="descending"' in page
    assert ">Next</a>" in page
    assert 'href="?limit=5&amp;host=bench-1&amp;host=bench-0"' not in page
    assert 'href="?limit=5"' in page  # takes the host out again


def test_a_row_leads_to_its_case_and_its_run(site: Site) -> None:
    [run] = site.json("/runs.json?case=load")["entries"]
    page = site.page("/runs?case=load")
    assert f'<a href="/case/{run["results"]}">load</a>' in page
    assert f'<a href="/run/{run["id"]}">1</a>' in page
    assert "/runs.csv?case=load" in page
    assert len(site.text("/runs.csv?case=load").splitlines()) == 2


def test_the_form_keeps_what_else_is_asked(site: Site) -> None:
    page = site.page("/runs?param=threads%3E1&host=bench-1&state=broken&sort=title")
    for name, value in (("param", "threads&gt;1"), ("host", "bench-1"), ("sort", "title")):
        assert f'<input type="hidden" name="{name}" value="{value}">' in page
    assert '<option value="broken" selected>' in page
    assert 'type="hidden" name="state"' not in page
    assert site.json("/runs.json?q=&param=&since=&until=&host=&state=&case=")["total"] == 16


def test_the_csv_has_all_runs_unless_a_page_is_asked(tmp_path: Path) -> None:
    put_many(tmp_path / "many" / "results", range(1, 61))
    site = Site(tmp_path)
    for query, lines in (("", 61), ("?limit=5", 6), ("?offset=50", 11)):
        assert len(site.text(f"/runs.csv{query}").splitlines()) == lines


def test_cases_are_listed_in_every_order(site: Site) -> None:
    found = site.json("/cases.json?sort=title")
    titles = [case["title"] for case in found["cases"]]
    assert titles == sorted(titles)
    assert found["total"] == 4
    assert site.json("/cases.json?limit=3&offset=3")["cases"][0]["title"] == "load"
    assert site.json("/cases.json?q=load")["total"] == 1
    assert "spin[threads=4]" in site.page("/cases?sort=-runs")


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        *((wrong, f"{wrong}: ") for wrong in ("limit=abc", "limit=0", "offset=-1", "state=x")),
        ("sort=x", "no order by"),
        ("sort=tittle", "title"),
        ("param=threads", "write NAME=VALUE"),
        ("since=soon&sort=x", "is no date"),
        ("after=nonsense", ""),
    ],
)
def test_what_cannot_be_meant_is_one_sentence(site: Site, query: str, sentence: str) -> None:
    assert sentence in site.json(f"/runs.json?{query}", 422)["error"]
    assert "Traceback" not in site.page(f"/runs?{query}", 422)


@pytest.mark.parametrize(
    ("sort", "keys"),
    [
        ("-started", [2**64 - 1, "id"]),
        ("-started", [None, "id"]),
        ("parameter:threads", ["text", 1, "id"]),
        ("parameter:threads", [1.0, 2.0, "id"]),
        ("parameter:threads", [b"1", "text", "id"]),
    ],
)
def test_a_cursor_that_nobody_gave_is_refused(site: Site, sort: str, keys: list[Any]) -> None:
    after = base64.urlsafe_b64encode(msgspec.msgpack.encode([sort, False, keys])).decode()
    assert "begin at the first page" in site.text(f"/runs.csv?sort={sort}&after={after}", 422)


def test_the_quality_of_a_host_is_a_column_a_filter_and_a_word_of_a_runs_page(
    tmp_path: Path,
) -> None:
    results = tmp_path / "spin" / "results"
    put_run(results, 1)
    put_run(results, 2, preflight=({"check": "load average", "status": "warn"},))
    put_run(results, 3, steps=(step(1, suspect=("steal",)),))
    site = Site(tmp_path)
    rows = list(csv.DictReader(site.text("/runs.csv?sort=run").splitlines()))
    assert [row["host_quality"] for row in rows] == ["quiet", "noisy", "suspect"]
    found = site.json("/runs.json?host_quality=noisy&host_quality=suspect&sort=-host_quality")
    assert [one["host_quality"] for one in found["entries"]] == ["suspect", "noisy"]
    page = site.page("/runs")
    assert "Host quality" in page
    assert "?host_quality=noisy" in page
    assert "suspect" in site.page(found["entries"][0]["href"])
    rows = site.text(f"/case/{site.case('spin')}/runs.csv").splitlines()
    assert "host_quality" in rows[0]
