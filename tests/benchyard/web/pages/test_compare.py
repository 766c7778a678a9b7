import csv
import io
import json
import re
import shlex
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlencode

import pytest

from benchyard.catalogue.entry import identified
from benchyard.catalogue.query import EntryQuery
from benchyard.results.campaigns import set_aside
from benchyard.web.pages import report
from benchyard.web.sides import MOST_RUNS, MOST_SIDES
from tests.benchyard.analysis.comparison.conftest import (
    BASE,
    ENVIRONMENT,
    place,
    run,
    runs,
    step,
)
from tests.benchyard.cli.conftest import Cli, cli
from tests.benchyard.web.site import Site

__all__ = ["cli"]


#: A name that a shell and a page must not take for what it says.
HOSTILE = "a'b $(id) <i> new"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """Results, and the same twice as slow, with what differs beside."""
    place(tmp_path / "old", runs(*BASE))
    slow: dict[str, Any] = {"environment": {**ENVIRONMENT, "host": "bench2"}}
    place(tmp_path / HOSTILE, runs(*[2 * value for value in BASE], **slow))
    return Site(tmp_path)


def sides(*texts: str, **options: Any) -> str:
    return "?" + urlencode({"side": texts, **options}, doseq=True)


def told(page: str) -> str:
    """Return the texts of a page."""
    return " ".join(re.sub("<[^>]*>", " ", page.partition("<main")[2]).split())


def command_of(page: str) -> list[str]:
    found = re.search("<pre[^>]*>(.*?)</pre>", page, re.DOTALL)
    assert found
    words = shlex.split(unescape(found[1]))
    assert words[:2] == ["benchyard", "compare"]
    return words[2:]


def test_the_verdict_comes_first_then_figures_sides_and_what_differs(site: Site) -> None:
    page = site.page(f"/compare{sides(site.case('old'), site.case('new'))}")
    parts = (
        "1 regression; 1 comparison at the 1 % level together",
        "Load 8/8 1.00 s 2.00 s +1.00 s",
        "▲▲▲ 2 times slower",
        "baseline tpch",
        "warning: host: baseline bench1, candidate bench2; two machines are never alike: "
        "measure both on one of them",
    )
    assert re.search(".*".join(map(re.escape, parts)), told(page))
    assert '<p class="notice bad">' in page


def test_documents_are_those_of_the_command_that_the_page_gives(site: Site, cli: Cli) -> None:
    old, new = site.case("old"), site.case("new")
    query = sides(f"{old}@1-5", f"{new}@3-8", metric="all", sort="name", threshold="2.5%")
    command = command_of(site.page(f"/compare{query}"))
    printed = {"json": ("--json",), "csv": ("--csv",), "md": ("--markdown", "-")}
    for suffix, options in printed.items():
        out = cli("compare", *options, *command, code=3).out
        answer = site.text(f"/compare.{suffix}{query}")
        assert json.loads(answer) == json.loads(out) if suffix == "json" else answer == out


def test_a_reference_and_an_order_are_in_the_command(site: Site, cli: Cli) -> None:
    old, new = site.case("old"), site.case("new")
    rule = {"level": "5%", "suspect": "leave-out", "session_sd": "2%", "in_turns": "yes"}
    query = sides(old, new, reference=new, against="all", **rule)

    command = command_of(site.page(f"/compare{query}"))

    assert command[0].endswith("new")
    wanted = "--against all --level 5% --suspect leave-out --session-sd 2% --in-turns"
    assert command[2:] == wanted.split()
    found = site.json(f"/compare.json{query}")
    assert found == json.loads(cli("compare", "--json", *command).out)
    assert found["comparisons"][0]["verdict"] == "improvement"


def test_runs_are_sides_alone_and_together(site: Site) -> None:
    entries = site.catalogue.page(EntryQuery(limit=None)).entries
    ids = [one.id for one in sorted(entries, key=lambda one: one.path)]
    new, old = ids[:8], ids[8:]
    [case] = site.json(f"/compare.json{sides(','.join(old), ','.join(new))}")["cases"]
    assert case["baseline"]["runs"] == case["candidate"]["runs"] == [*range(1, 9)]
    page = told(site.page(f"/compare{sides(*old[:3])}"))
    assert "2 sides against tpch, run 1" in page
    assert "all: 1 and 1 runs cannot tell at the 1 % level over 2 comparisons" in page
    mixed = site.page(f"/compare{sides(f'{old[0]},{new[0]}', old[1])}", 422)
    assert "joins runs of several cases" in mixed


def test_steps_of_one_case_are_sides(tmp_path: Path) -> None:
    records = [
        run(n, step(v, name="sort"), step(3 * v, name="build", index=2))
        for n, v in enumerate(BASE, 1)
    ]
    place(tmp_path / "words", records)
    site = Site(tmp_path)
    case = site.case("words")
    expected = "1 difference; 1 comparison at the 1 % level together"
    for query in (sides(f"{case}:sort", f"{case}:build"), sides(f"{case}:*")):
        page = told(site.page(f"/compare{query}"))
        assert expected in page
        assert "tpch, build against tpch, sort" in page
    assert site.text(f"/compare/ratio.svg{sides(f'{case}:*')}").startswith("<svg")
    misspelt = site.page(f"/compare{sides(f'{case}:sorted', f'{case}:build')}", 422)
    assert "did you mean &#39;sort&#39;?" in misspelt


def test_one_case_is_compared_with_its_campaign_before_on_the_same_host(
    tmp_path: Path, cli: Cli
) -> None:
    new = place(tmp_path / "results", runs(*[2 * v for v in BASE]))
    elsewhere: dict[str, Any] = {"environment": {**ENVIRONMENT, "host": "bench2"}}
    place(new / "earlier" / "20260101T020000Z-0123456789ab", runs(*BASE, **elsewhere))
    site = Site(tmp_path)
    query = sides(newest(site))
    page = site.page(f"/compare{query}")
    assert command_of(page) == [str(new)]
    assert "tpch against tpch, the campaign before" in told(page)
    printed = cli("compare", "--json", new, code=3).out
    assert site.json(f"/compare.json{query}") == json.loads(printed)

    same = place(new / "earlier" / "20260101T010000Z-0123456789ab", runs(*BASE))
    page = Site(tmp_path).page(f"/compare{query}")
    assert command_of(page) == [str(same), str(new)]
    assert "host: baseline" not in page


def test_other_work_than_before_is_compared_when_both_are_named(tmp_path: Path) -> None:
    other = [run(n, replace(step(v), parameters={"n": 2})) for n, v in enumerate(BASE, 1)]
    place(tmp_path / "results" / "earlier" / "20251201T000000Z-0123456789ab", runs(*BASE))
    place(tmp_path / "results", other)
    site = Site(tmp_path)
    page = site.page(f"/compare{sides(newest(site))}")
    assert "it is other work" in page
    [href] = re.findall('href="([^"]*)">tpch .earlier campaign', page)
    assert unescape(href) == f"/compare{sides(site.case('earlier'), newest(site))}"
    assert "1 without a difference shown" in told(site.page(unescape(href)))


def test_cases_and_runs_can_be_chosen_without_script(site: Site) -> None:
    known = [case.id for case in site.catalogue.cases()]
    for address in ("/compare", "/cases"):
        assert ticks(site.page(address), "side") == known
    assert "There is no such case." in site.page("/compare?q=nowhere")
    page = site.page(f"/case/{site.case('old')}")
    assert ticks(page, "a") == ticks(page, "b")
    baseline, candidate = ticks(page, "a")[:3], ticks(page, "b")[3:]
    query = urlencode({"a": baseline, "b": candidate}, doseq=True)
    assert "tpch, runs 1-5 against tpch, runs 6-8" in told(site.page(f"/compare?{query}"))
    assert set(ticks(site.page("/runs"), "a")) > set(baseline)


@pytest.fixture
def campaigns(tmp_path: Path) -> Site:
    """Results of a campaign and of a later one, which is twice as slow."""
    began = "2025-11-01T08:00:00+00:00"
    earlier = [replace(one, started_at=began) for one in runs(*BASE)]
    place(tmp_path / "results" / "earlier" / "20251201T000000Z-0123456789ab", earlier)
    place(tmp_path / "results", runs(*[2 * value for value in BASE]))
    return Site(tmp_path)


def newest(site: Site) -> str:
    """Return the id of the case's newest campaign."""
    return next(one.id for one in site.catalogue.cases() if one.path == "results")


def test_the_older_of_two_campaigns_that_are_ticked_is_the_baseline(campaigns: Site) -> None:
    site, old, new = campaigns, campaigns.case("earlier"), newest(campaigns)
    page = site.page("/cases")
    ticked = ticks(page, "side")
    assert ticked == [new, old]
    [sent] = re.findall('<input type="hidden" name="([a-z]*)" value="yes">', page)
    answer = site.client.get(f"/compare{sides(*ticked, **{sent: 'yes'})}")
    assert answer.url.query.decode() == sides(old, new).removeprefix("?")
    assert "1 regression" in told(answer.text)
    assert "warning: " not in answer.text
    [swapped] = re.findall('href="([^"]*)">Swap the sides', answer.text)
    other = told(site.page(unescape(swapped)))
    assert "1 improvement" in other
    assert "is the baseline, but was measured after tpch" in other


def test_a_link_to_exactly_this_shows_the_same_after_another_campaign(
    tmp_path: Path, campaigns: Site
) -> None:
    site, new = campaigns, newest(campaigns)
    page = site.page(f"/compare{sides(new)}")
    assert "1 regression" in page
    [exact] = map(unescape, re.findall('href="([^"]*)">A link to exactly this', page))
    assert "@1-8" in unquote(exact)
    kept = [exact.replace("/compare?", f"/compare{part}?") for part in (".csv", "/points.svg")]
    kept += [f"/case/{new}/history.csv", f"/case/{new}/history.svg"]
    before = figures(site, kept)
    set_aside(tmp_path / "results")
    later = "2026-11-01T08:00:00+00:00"
    slower = runs(*[5 * value for value in BASE])
    place(tmp_path / "results", [replace(one, started_at=later) for one in slower])
    site.catalogue.refresh()
    assert figures(site, kept) == before
    moved = tmp_path.rename(tmp_path.with_name("moved"))
    assert figures(Site(moved), kept) == before


def figures(site: Site, addresses: list[str]) -> list[str]:
    """Return what addresses answer, without what names folders."""
    answers = [site.text(one) for one in addresses]
    tables = [list(csv.DictReader(io.StringIO(one))) for one in answers if "<svg" not in one]
    for row in (row for table in tables for row in table):
        row.pop("baseline_side", None)
        row.pop("candidate_side", None)
    pictures = [re.findall(r"<text[^>]*>([^<(]*)|<use [^>]*(y=[^ ]*)", one) for one in answers]
    return [str(tables), *map(str, pictures)]


def test_addresses_of_places_lead_to_those_that_last(site: Site, tmp_path: Path) -> None:
    old, new = (identified(tmp_path / part) for part in ("old", HOSTILE))
    answer = site.client.get(f"/case/{old}/history.csv?metric=duration_s")
    assert answer.url.path == f"/case/{site.case('old')}/history.csv"
    assert answer.url.query == b"metric=duration_s"
    answer = site.client.get(f"/compare{sides(old, new, reference=new)}")
    lasting = sides(site.case("old"), site.case("new"), reference=site.case("new"))
    assert answer.url.query.decode() == lasting.removeprefix("?")
    assert "1 improvement" in answer.text


def ticks(page: str, name: str) -> list[str]:
    """Return the values of the boxes of a page."""
    return re.findall(f'<input type="checkbox" name="{name}" value="([0-9a-f]{{16}})"', page)


def test_a_form_sends_lines_and_empty_options(site: Site) -> None:
    old, new = site.case("old"), site.case("new")
    empty = "&metric=&step=&threshold=&level=&against=reference&sort=case&reference="
    empty += "&session_sd=&in_turns="
    lines = quote("".join(f"{one}\r\n" for one in (old, new)))
    page = site.page(f"/compare?side={lines}{empty}")
    assert "1 regression" in page
    assert f">{old}\n{new}</textarea>" in page


def test_what_is_suspect_counts_and_is_marked_unless_left_out(tmp_path: Path) -> None:
    records = [run(n, step(v, suspect=["swapped"])) for n, v in enumerate(BASE, 1)]
    place(tmp_path / "old", records)
    place(tmp_path / "new", runs(*BASE))
    site = Site(tmp_path)
    both = site.case("old"), site.case("new")
    page = site.page(f"/compare{sides(*both, suspect='leave-out')}")
    assert "<h2>Pictures" in page
    [href] = re.findall('href="([^"]*)">Count what is suspect', page)
    counted = site.page(href.replace("&amp;", "&"))
    assert "1 without a difference shown" in counted
    assert "no difference shown, on a busy host" in counted
    assert counted.count("on a busy host: 8 of 16 executions suspect (swapped)") == 1
    nothing = site.page(f"/compare{sides(f'{both[0]}@1-4', f'{both[0]}@5-8', suspect='leave-out')}")
    assert "<h2>Pictures" not in nothing
    assert "Count what is suspect" in nothing


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("side=zz&side=yy", "'zz' is no side"),
        (f"side={'0' * 16}", "there is no entry '0000000000000000' in the catalogue"),
        ("side=OLD@0&side=NEW", "runs are numbered from 1"),
        ("side=OLD:*", ":*' means step load alone; choose another side"),
        ("side=OLD&metric=x", "no earlier campaign to compare with"),
        ("side=OLD&side=NEW&metric=nothing", "no step has a metric 'nothing'"),
        ("side=OLD&side=NEW&level=100%25", "the level lies between 0% and 100%"),
        ("side=OLD&side=NEW&against=x", "input should be 'reference', 'previous' or 'all'"),
        (f"side=OLD@1-{MOST_RUNS + 1}&side=NEW", "runs are too many"),
        ("side=" + "%0A".join(map(str, range(MOST_SIDES + 1))), "sides are too many"),
    ],
)
def test_what_cannot_be_compared_is_told_in_a_sentence(
    site: Site, query: str, sentence: str
) -> None:
    query = query.replace("OLD", site.case("old")).replace("NEW", site.case("new"))
    assert sentence in site.page(f"/compare?{query}", 422).replace("&#39;", "'")
    answer = site.client.get(f"/compare.json?{query}")
    assert answer.status_code in {404, 422}
    assert sentence in answer.json()["error"]


def test_too_many_pairs_are_refused_before_they_are_compared(tmp_path: Path) -> None:
    place(tmp_path / "old", runs(*[1.0] * 30))
    site = Site(tmp_path)
    case = site.case("old")
    several = [f"{case}@{n}" for n in range(1, 31)]
    assert "30 sides make 435 pairs" in site.page(f"/compare{sides(*several, against='all')}", 422)
    page = site.page(f"/compare{sides(*several)}")
    assert "29 sides against tpch, run 1" in told(page)
    assert "A picture has room for 24 sides" in page


# -- reports


def test_a_case_has_a_report(site: Site) -> None:
    answer = site.get(f"/case/{site.case('old')}/report.html")
    policy = answer.headers["Content-Security-Policy"]
    assert "style-src 'unsafe-inline'" in policy
    assert "script-src" not in policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Disposition"] == 'inline; filename="tpch-report.html"'
    assert "8 finished runs of 1 step" in answer.text


def test_a_comparison_has_a_report(site: Site) -> None:
    old, new = site.case("old"), site.case("new")
    page = site.text(f"/compare/report.html{sides(old, new, threshold='2%')}")
    assert "1 regression; 1 comparison" in page
    assert re.search("<code>benchyard compare .*--threshold 2%</code>", page)
    assert re.search(r"<h1>tpch \(.* new\) against tpch \(old\)</h1>", page)
    some = site.text(f"/compare/report.html{sides(f'{old}@1-4', f'{old}@5-8')}")
    assert "tpch, runs 5-8 against tpch, runs 1-4" in some


def test_what_cannot_be_a_report_is_told(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = site.case("old"), site.case("new")
    for query in ("", sides(old, new, metric="nonsense")):
        assert "Traceback" not in site.text(f"/compare/report.html{query}", 422)
    site.get("/case/0123456789abcdef/report.html", 404)
    monkeypatch.setattr(report, "_MOST_RUNS", 15)
    site.get(f"/case/{old}/report.html")
    many = site.text(f"/compare/report.html{sides(old, new)}", 422)
    assert "16 runs is made by benchyard report alone" in many
