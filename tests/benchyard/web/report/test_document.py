"""A report: what it says, that it is safe and the same each time, and what it leaves out."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from benchyard.analysis.comparison.request import ComparisonRequest, answer
from benchyard.analysis.comparison.rows import Rule
from benchyard.analysis.comparison.sides import Places, read_sides
from benchyard.core.errors import InputError
from benchyard.core.model import Outcome
from benchyard.results.record import Attempt, ErrorRecord, RunRecord, StepRecord
from benchyard.results.trust import Suspect
from benchyard.web.report import document
from benchyard.web.report.comparisons import ReportRequest
from benchyard.web.report.document import LIMIT, Report, report_of
from tests.benchyard.analysis.comparison.conftest import (
    BASE,
    ENVIRONMENT,
    WHEN,
    place,
    run,
    run_set,
    runs,
    step,
    titled,
)


def alone(records: Sequence[RunRecord], **wish: Any) -> Report:
    return report_of([("here", run_set(records))], ReportRequest(**wish))


def many(count: int, **more: Any) -> list[RunRecord]:
    return [replace(record, run=n) for n, record in enumerate(count * runs(1.0, **more), 1)]


def of_queries(names: Sequence[str], count: int) -> list[RunRecord]:
    """Make runs of several steps."""
    return [
        run(n, *(step(1.0 + n / 9, name=name, index=k) for k, name in enumerate(names, 1)))
        for n in range(1, count + 1)
    ]


def compared(*folders: Path, **rule: Any) -> Report:
    found = read_sides([*map(str, folders)], Places(Path()))
    made = answer(found, ComparisonRequest(Rule(other_work=True, **rule)))
    return report_of(request=ReportRequest(answer=made))


def text_of(report: Report) -> str:
    texts = re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", " ", report.html, flags=re.DOTALL)
    return " ".join(unescape(texts).split())


def failing() -> StepRecord:
    bad = Attempt(1, WHEN, 0.0, 1.0, Outcome.FAILED, (), ErrorRecord("Oops", "the disk is full"))
    good = step(1.0, name="shaky")
    return replace(good, attempts=(bad, replace(good.attempts[0], number=2)))


# -- what it says


def test_it_has_values_medians_intervals_and_what_repeats_it() -> None:
    values = (1.0, 1.25, 1.5, 1.75, 2.0, 2.125)
    said = text_of(alone(runs(*values, **titled("a b[c=1]"), collector={"interval_s": 0.5})))
    for part in (
        *("6 finished runs of 1 step; nothing left out; nothing suspect", "1.62 s"),
        *("1 1 2 1.25 3 1.5 4 1.75 5 2 6 2.125", "95 % interval of the median"),
        *("benchyard run --new --runs 6 --interval 0.5 -- 'a b[c=1]'", "Nothing failed"),
        *("Zen", "17.18 GB", "SQLite 3.46"),
    ):
        assert part in said


def test_it_has_the_digest_of_each_record_and_of_all(tmp_path: Path) -> None:
    results = place(tmp_path / "results", runs(*BASE[:3]))
    [side] = read_sides([str(results)], Places(Path()))
    report = report_of([(side.name, one) for one in side.cases.values()])
    lines = ""
    for run_name in ("run_1", "run_2", "run_3"):
        digest = hashlib.sha256((results / run_name / "run.json").read_bytes()).hexdigest()
        lines += f"{digest}  tpch/{run_name}/run.json\n"
    assert lines.rstrip() in report.html
    whole = hashlib.sha256(lines.encode()).hexdigest()
    assert report.records_digest == f"sha256:{whole}"
    assert report.html.count(whole) == 2


def test_suspect_and_left_out_executions_are_told() -> None:
    records = [*runs(*BASE), run(9, step(7.0, suspect=["the host swapped"]))]
    said = text_of(alone(records))
    assert "1 execution left out; 1 suspect" in said
    assert "Load, run 9: the host swapped" in said
    assert "where fewer than six others are left" in said
    for suspect, sentence in (
        (Suspect.LEAVE_OUT, "left out of all figures"),
        (Suspect.INCLUDE, "counted all the same"),
    ):
        assert sentence in text_of(alone(records, rule=Rule(suspect=suspect)))


def test_failures_and_retries_are_told() -> None:
    doubt = {"check": "turbo", "status": "warn", "finding": "it is on", "advice": "turn it off"}
    broken = run(3, step(name="load", outcome=Outcome.FAILED), preflight=(doubt,))
    said = text_of(alone([run(1, failing()), run(2, failing()), broken]))
    for part in ("the disk is full", "1 run failed", "turbo 1 run it is on turn it off"):
        assert part in said
    assert "0 finished runs" in text_of(alone([broken]))


def test_what_differs_between_runs_is_marked() -> None:
    other = {**ENVIRONMENT, "kernel": "Linux-6.13"}
    report = alone([*runs(1.0, 2.0), *runs(3.0, first=3, environment=other)])
    assert "Linux-6.12 (tpch runs 1-2); Linux-6.13 (tpch run 3)" in text_of(report)
    [row] = [line for line in report.html.splitlines() if "Linux-6.13" in line]
    assert row.startswith('<tr><td class="doubtful">')


def test_a_comparison_begins_with_its_verdict(tmp_path: Path) -> None:
    slow = runs(*[2 * value for value in BASE], environment={**ENVIRONMENT, "kernel": "x"})
    old, new = place(tmp_path / "old", runs(*BASE)), place(tmp_path / "new", slow)
    report = compared(old, new)
    assert report.verdict.startswith("1 regression; 1 comparison at the 1 % level")
    assert report.regressions == 1
    said = text_of(report)
    assert said.index("1 regression") < said.index("Each step on both sides")
    kernels = "kernel: baseline Linux-6.12, candidate x"
    for part in ("2 times slower", kernels, f"{new} against {old}"):
        assert part in said
    assert report.pictures == 7  # the ratio, and points, timeline and strips of each side


def test_steps_and_metrics_may_be_chosen() -> None:
    html = alone(of_queries(["q1", "q2"], 6), rule=Rule(steps=("q2",))).html
    assert "<td>Q2</td>" in html
    assert "<td>Q1</td>" not in html
    used = [run(n, step(1.0, used={"resource_cpu_s": float(n)})) for n in range(1, 7)]
    said = text_of(alone(used, rule=Rule(("resource_*",))))
    assert "Values of every run: resource_cpu_s (s)" in said
    with pytest.raises(InputError, match="no metric is 'nonsense'"):
        alone(used, rule=Rule(("nonsense",)))


def test_runs_of_something_else_are_named() -> None:
    others = tuple(runs(1.0, first=20, **titled("tpch", hash="c")))
    said = text_of(report_of([("here", replace(run_set(runs(*BASE)), others=others))]))
    assert "run 20 measured something else (files of the case" in said


# -- safe, and the same


def test_it_loads_and_sends_nothing() -> None:
    data = re.compile("(<script[^>]*>).*?</script>", re.DOTALL)
    html = data.sub(r"\1", alone(runs(*BASE)).html)
    [script] = re.findall("<script[^>]*>", html)
    assert script == '<script type="application/json" id="benchyard-report">'
    assert "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:" in html
    assert not re.search(r"<[^>]*\s(src|style|onclick)=", html)
    assert set(re.findall(r'\shref="(.)', html)) <= {"#"}


def test_the_same_results_give_the_same_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    assert alone(runs(*BASE)).html == alone(runs(*BASE)).html
    assert "Made " not in text_of(alone(runs(*BASE))).replace("Made by", "")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert "Made 1970-01-02 00:00:00 UTC" in text_of(alone(runs(*BASE)))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "tomorrow")
    with pytest.raises(InputError, match="SOURCE_DATE_EPOCH='tomorrow' is no number"):
        alone(runs(*BASE))


# -- within its limit


def test_many_values_are_folded_and_too_many_stand_in_the_data() -> None:
    some = alone(many(160))
    assert "<details><summary>Values of every run: duration_s (s), 160 values" in some.html
    more = alone(of_queries([f"q{n}" for n in range(100)], 21))
    assert "are in the data of this file: duration_s (2,100)." in text_of(more)
    assert len(more.html.encode()) <= LIMIT


def test_pictures_that_do_not_fit_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = [(name, run_set(runs(*BASE, **titled(name)))) for name in ("a", "b", "c")]
    whole = report_of(shown)
    ids = re.findall(r' id="([^"]+)"', whole.html)
    assert len(ids) == len(set(ids)) > 3
    assert (whole.pictures, whole.left_out) == (9, 0)
    bare = len(re.sub(r"<figure.*?</figure>", "", whole.html, flags=re.DOTALL).encode())
    monkeypatch.setattr(document, "LIMIT", bare + 8000)
    fewer = report_of(shown)
    assert fewer.pictures == 9 - fewer.left_out == fewer.html.count("<figure") < 9
    assert f"{fewer.left_out} pictures are left out" in text_of(fewer)
    assert len(fewer.html.encode()) <= bare + 8000


def test_what_cannot_fit_is_a_sentence_with_a_smaller_choice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    records = [
        run(n, step(1.0, used={f"m{k}": n * k / 7 for k in range(200)})) for n in range(1, 40)
    ]
    lean = len(alone(records, kept=("duration_s",)).html.encode())
    monkeypatch.setattr(document, "LIMIT", lean)
    with pytest.raises(InputError, match="--data duration_s keeps the times alone"):
        alone(records)
    monkeypatch.setattr(document, "LIMIT", 5000)
    with pytest.raises(InputError, match="name fewer cases, or some of the runs"):
        alone(records)
