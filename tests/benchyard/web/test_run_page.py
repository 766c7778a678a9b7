"""The page of a run tells what its record tells; without a record it tells why."""

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchyard.core.model import Outcome
from benchyard.core.wording import printable
from benchyard.host.sampler.process import MAGIC
from benchyard.results.attempts import note_began
from benchyard.results.folders import (
    LOG_FILE,
    MARK,
    RAW_FILE,
    RUN_FILE,
    run_folder,
)
from benchyard.results.record import Attempt, ErrorRecord
from benchyard.web.pages.run import MOST_ROWS
from tests.benchyard.host.sampler.frames import opened, tick
from tests.benchyard.web.runs_on_disk import (
    BEGAN,
    client_of,
    make_run,
    make_step,
    write_metrics,
)

RETRY = "97aa7af2-52ce-4686-82e0-615de07efa2d"
HOSTILE = '<script>alert(1)</script> & "q" \'\x1b[31m'


def page_of(folder: Path, **settings: Any) -> str:
    client, ident = client_of(folder, **settings)
    answer = client.get(f"/run/{ident}")
    assert answer.status_code == 200
    return answer.text


def test_head_tells_what_was_run_where_and_how_it_ended(tmp_path: Path) -> None:
    resources = {"Process": {"version": "5.2", "settings": {"image": "x@sha256:1"}}}
    flow_run = {"id": "f-1", "name": "brave-owl", "retry": RETRY}
    more: dict[str, Any] = {"resources": resources, "flow_run": flow_run}
    folder = make_run(tmp_path / "results", 4, warnings=("the host swapped",), **more)

    text = page_of(folder, prefect_ui="http://prefect.invalid/")

    for part in (
        *("<h1>words, run 4</h1>", "2026-11-20 08:00:00", "the host swapped", "Process 5.2"),
        *("settings.image: x@sha256:1", "brave-owl", 'href="/testbed/bench1"'),
        'href="http://prefect.invalid/runs/flow-run/f-1"',
    ):
        assert part in text
    assert "flow-run retry" not in text


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, str, Path]:
    """Return a client, the id of a run that nobody changes, and its folder."""
    folder = make_run(tmp_path_factory.mktemp("plain") / "results", 1)
    return *client_of(folder), folder


def test_the_record_is_served_whole_and_in_figures(plain: tuple[Any, str, Path]) -> None:
    client, ident, folder = plain
    [step] = client.get(f"/run/{ident}/steps.json").json()
    told = {"step": "load", "median_s": 1.0, "repetitions": 2, "resource_cpu_s": 0.5}
    assert {**told, "host_network_sent_bytes": None}.items() <= step.items()
    record = json.loads((folder / RUN_FILE).read_text())
    for part in (".json", "/file/run.json"):
        assert json.loads(client.get(f"/run/{ident}{part}").text) == record
    assert "words, run 1" in client.get(f"/run/{ident}/curves.svg?theme=dark&width=narrow").text


def test_attempts_failures_doubts_and_how_to_go_on_are_told(tmp_path: Path) -> None:
    step = make_step(1, "load", suspect=["the host swapped out 5 MB"])
    error = ErrorRecord("ProgramFailedError", "connection refused")
    first = Attempt(1, BEGAN, 0.2, 0.4, Outcome.FAILED, (), error)
    both = replace(step, attempts=(first, *step.attempts))
    broken = make_step(2, "sort", Outcome.FAILED)
    told: dict[str, Any] = {"outcome": Outcome.FAILED, "flow_run": {"id": "f-1", "retry": RETRY}}
    folder = make_run(tmp_path / "results", 1, [both, broken], **told)
    client, ident = client_of(folder)
    attempts = client.get(f"/run/{ident}/attempts.json").json()
    found = [(one["outcome"], one["error"]) for one in attempts[:2]]
    assert found == [("failed", "connection refused"), ("completed", None)]
    text = client.get(f"/run/{ident}").text
    for part in ("<details open>", "step sort: exit 3", "1 load: the host swapped out 5 MB"):
        assert part in text
    assert f"prefect flow-run retry {RETRY}" in text


def test_thousands_of_steps_stay_a_page(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "results", 1, [make_step(n, f"s{n}") for n in range(1, 3001)])
    client, ident = client_of(folder)
    text = client.get(f"/run/{ident}").text
    assert len(text) < 500_000
    assert text.count("<title>attempt 1") <= MOST_ROWS
    assert "2,900 more rows" in text
    assert len(client.get(f"/run/{ident}/steps.json").json()) == 3000


def test_the_timeline_has_a_row_for_each_step_and_resource(tmp_path: Path) -> None:
    steps = [make_step(1, "load"), make_step(2, "query", Outcome.TIMED_OUT)]
    text = page_of(make_run(tmp_path / "results", 1, steps, seconds=5))
    _, _, drawn = text.partition('id="timeline"')
    for part in (
        "1 load: completed, 1.00 s, 2 times",
        "<title>start Process: completed, 200.0 ms</title>",
        "<title>measured 1: timed_out, 1.00 s</title>",
    ):
        assert part in drawn
    assert " style=" not in text


# -- without a record


def test_a_damaged_record_is_told_and_the_rest_is_shown(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "results", 1)
    (folder / RUN_FILE).write_text('{"format": "benchyard-run", "version": 5')
    (folder / LOG_FILE).write_text("what was logged\n")
    client, ident = client_of(folder)
    text = client.get(f"/run/{ident}").text
    assert "There is no record that can be read" in text
    assert "what was logged" in text
    told = client.get(f"/run/{ident}.json").json()
    assert told["record"] is None
    assert told["reason"]
    assert client.get(f"/run/{ident}/curves.json").json()["samples"] == 30
    assert client.get(f"/run/{ident}/steps.json").json() == []


def test_an_unknown_run_is_not_found(plain: tuple[Any, str, Path]) -> None:
    client = plain[0]
    for address in ("", ".json", "/steps", "/curves.json", "/file/run.json", "/log", "/live"):
        assert client.get(f"/run/0123456789abcdef{address}").status_code == 404, address


def test_tries_of_a_run_are_told(tmp_path: Path) -> None:
    results = tmp_path / "results"
    folder = make_run(results, 1)
    note_began(results, "words", 1, "2026-11-20T07:00:00+00:00", {})
    note_began(results, "words", 1, BEGAN, {})
    assert "2026-11-20T07:00:00+00:00 on" in page_of(folder)


# -- curves


def test_curves_are_thinned_to_the_points_asked_for(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "results", 1, seconds=30)
    client, ident = client_of(folder)
    for points in (2, 10, 1000):
        told = client.get(f"/run/{ident}/curves.json?points={points}").json()
        assert told["samples"] == 300
        assert len(told["at_s"]) <= points + 2
        cpu = next(panel for panel in told["panels"] if panel["name"] == "CPU")["lines"][0]
        known = [value for value in cpu["mean"] if value is not None]
        assert known == pytest.approx([0.5] * len(known), rel=0.05)
    told = client.get(f"/run/{ident}/curves.json?from=10&to=11").json()
    assert told["exact"]
    assert (told["at_s"][0], told["at_s"][-1]) == (9.9, 11.1)


def test_a_wrong_window_is_refused(plain: tuple[Any, str, Path], tmp_path: Path) -> None:
    client, ident, _ = plain
    for query in ("from=2&to=1", "points=0", "points=x", "from=-1", "to=nan"):
        answer = client.get(f"/run/{ident}/curves.json?{query}")
        assert answer.status_code == 422
        assert answer.json()["error"]
    folder = make_run(tmp_path / "results", 1)
    write_metrics(folder, 0)
    client, ident = client_of(folder)
    assert "no samples" in client.get(f"/run/{ident}/curves.json").json()["error"]


def test_a_run_that_goes_on_shows_what_is_known(tmp_path: Path) -> None:
    results = tmp_path / "case" / "results"
    folder = run_folder(results, 1)
    (folder / "process").mkdir(parents=True)
    (folder / "process" / "out.txt").write_text("a secret that nobody took out yet")
    note_began(results, HOSTILE, 1, BEGAN, {})
    line = f"2026-11-25 08:00:01,500 INFO {printable(HOSTILE)} run 1 step 1 lo<i>ad: started\n"
    (folder / LOG_FILE).write_text(line)
    raw = MAGIC + opened(1, b"host columns stat")
    raw += b"".join(tick(n * 10**8, (1, b"cpu  %d 0 0 0 0 0 0 0 0 0\n" % n)) for n in range(30))
    (folder / RAW_FILE).write_bytes(raw)
    (folder / MARK).write_text("{}")
    client, ident = client_of(folder)
    text = client.get(f"/run/{ident}").text
    for part in ("The run goes on", "lo&lt;i&gt;ad", '<noscript><meta http-equiv="refresh"'):
        assert part in text
    assert not re.search(">Record</a>|<script>alert", text)
    assert client.get(f"/run/{ident}.json").json()["under_way"]
    assert client.get(f"/run/{ident}/curves.json").json()["samples"] == 30
    assert client.get(f"/run/{ident}/curves.svg").status_code == 200
    assert client.get(f"/run/{ident}/file/process/out.txt").status_code == 404
    assert client.get(f"/run/{ident}").text == text
    (folder / LOG_FILE).write_text(line.replace("started", "✓ completed 1.0 s"))
    assert client.get(f"/run/{ident}").text != text


def test_texts_that_are_no_unicode_are_told_with_escapes(tmp_path: Path) -> None:
    case = {"title": "\ud800", "name": "\ud800"}
    folder = make_run(tmp_path / "results", 1, case=case, environment={"host": "\udfff"})
    client, ident = client_of(folder)
    page = client.get(f"/run/{ident}")
    assert page.status_code == 200
    assert client.get(re.findall(r'href="(/testbed/[^"]*)', page.text)[0]).status_code == 200
    assert client.get(f"/run/{ident}.json").json()["environment"]["host"] == "\udfff"
    [case_page] = re.findall(r'href="(/case/[0-9a-f]{16})"', page.text)[:1]
    assert client.get(f"{case_page}/report.html").status_code == 200


def test_a_file_of_a_far_year_has_a_page(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "results", 1)
    (folder / RUN_FILE).write_text("{}")
    os.utime(folder / RUN_FILE, (2**62, 2**62))
    client, ident = client_of(folder)
    for address in (f"/run/{ident}", "/runs", "/"):
        assert client.get(address).status_code == 200


@pytest.mark.parametrize("depth", [300, 990])
def test_a_record_that_is_nested_deeply_is_shown_or_refused(tmp_path: Path, depth: int) -> None:
    folder = make_run(tmp_path / "results", 1, environment={"deep": 1})
    text = (folder / RUN_FILE).read_text()
    deep = '{"a": ' * depth + "1" + "}" * depth
    (folder / RUN_FILE).write_text(text.replace('"deep": 1', f'"deep": {deep}'))
    client, ident = client_of(folder)
    for address in (f"/run/{ident}", f"/run/{ident}.json", f"/run/{ident}/environment.csv"):
        assert client.get(address).status_code in (200, 422)


@pytest.mark.parametrize("edge", ["9999-12-31T23:59:59-23:00", "0001-01-01T00:00:00+23:00"])
def test_a_record_of_no_year_keeps_no_page_from_others(tmp_path: Path, edge: str) -> None:
    folder = make_run(tmp_path / "results", 1)
    other = make_run(tmp_path / "results", 2)
    text = (other / RUN_FILE).read_text()
    changed = text.replace(f'"started_at": "{BEGAN}"', f'"started_at": "{edge}"')
    (other / RUN_FILE).write_text(changed)
    client, _ = client_of(folder)
    assert "of no year" in client.get("/runs.json").text
    for address in ("/failures", "/failures.json", "/cases", "/"):
        assert client.get(address).status_code == 200
