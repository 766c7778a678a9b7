import json
import math
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from benchyard.catalogue.catalogue import Catalogue
from benchyard.catalogue.entry import Entry, identified
from benchyard.catalogue.formats.contract import Candidate, FolderListing
from benchyard.catalogue.formats.run import KrownRunFormat, RunFormat
from benchyard.catalogue.query import EntryQuery
from benchyard.core.model import Json, Outcome
from benchyard.results.record import read_record
from tests.benchyard.catalogue.making import COMMIT, put_run, step
from tests.benchyard.results.conftest import metrics_text


def described(run: Path) -> Entry:
    found = Candidate(identified(run), run.parent, run.name)
    entry = RunFormat().describe(found)
    assert entry is not None
    return entry


def changed(run: Path, members: dict[str, Any]) -> Path:
    document = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(document | members))
    return run


def test_the_quick_reading_tells_what_the_strict_one_does(tmp_path: Path) -> None:
    steps = (step(1, 3.0, 1.0, suspect=("it swapped",)), step(2, outcome=Outcome.FAILED))
    told: dict[str, Any] = {"point": {"x": 1}, "tags": ("a",), "commit": COMMIT, "steps": steps}
    run = put_run(tmp_path, versions={"SQLite": "3.40.1"}, outcome=Outcome.FAILED, **told)
    entry, record = described(run), read_record(run)
    assert entry.title == record.case["title"]
    assert entry.point == record.case["point"]
    assert (entry.run, entry.outcome) == (record.run, record.outcome)
    assert entry.started_s == record.began.timestamp()
    assert record.commit == (entry.commit, None)
    for quick, strict in zip(entry.steps, record.steps, strict=True):
        assert quick.median_s == (median(strict.durations_s) if strict.durations_s else None)
        assert quick.suspect == bool(strict.suspect)
        assert (quick.step, quick.outcome) == (strict.id, strict.outcome)
        assert quick.attempts == len(strict.attempts)


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5])
def test_older_records_are_read(tmp_path: Path, version: int) -> None:
    run = put_run(tmp_path)
    document = json.loads((run / "run.json").read_text())
    for later in ("session", "subject", "variables", "tries", "preflight", "adaptive"):
        del document[later]
    (run / "run.json").write_text(json.dumps(document | {"version": version}))
    assert (described(run).broken, described(run).run) == ("", 1)


@pytest.mark.parametrize(
    "members",
    [
        {"version": 7},
        {"format": "else"},
        {"run": 2},
        {"run": "1"},
        {"steps": None},
        {"case": []},
        {"started_at": "yesterday"},
        {"started_at": "2026-11-25T08:00:00"},
        {"duration_s": math.nan},
        {"duration_s": "long"},
        {"outcome": "excellent"},
    ],
)
def test_what_the_strict_reading_refuses_is_broken_with_its_words(
    tmp_path: Path, members: dict[str, Any]
) -> None:
    run = changed(put_run(tmp_path), members)
    assert described(run).broken
    with pytest.raises(Exception, match=r"run\.json") as refused:
        read_record(run)
    assert described(run).broken == str(refused.value)


def test_texts_that_are_no_unicode_and_long_integers_are_taken(tmp_path: Path) -> None:
    parameters: dict[str, Json] = {"name": "\udcff", "seed": 2**70, "list": [1, {"a": None}]}
    run = put_run(tmp_path / "lab", steps=(step(1, parameters=parameters),))
    document = json.loads((run / "run.json").read_bytes().decode(errors="backslashreplace"))
    (run / "run.json").write_text(json.dumps(document))
    assert described(run).broken == ""
    catalogue = Catalogue([tmp_path / "lab"], tmp_path / "index.sqlite")
    [entry] = catalogue.page(EntryQuery()).entries
    assert entry.parameters["step1.list"] == [1, {"a": None}]


def krown_run(folder: Path, *, done: bool = True) -> Path:
    run = folder / "case" / "results" / "run_1"
    run.mkdir(parents=True)
    rows = [(1, 0.5, 10), (1, 1.5, 10), (2, 2.0, 10), (2, 4.5, 10)]
    (run / "metrics.csv").write_text(metrics_text(rows), newline="")
    info = "Name: case\nTimestamp: 2024-06-06T13:54:16+00:00\n\tHostname: laptop\n"
    (run / "case-info.txt").write_text(info)
    if done:
        (run / ".done").write_text("2024-06-06T15:54:37\n")
    return run


def test_a_run_of_krowns_is_listed_among_the_runs_of_its_case(tmp_path: Path) -> None:
    krown_run(tmp_path / "lab")
    catalogue = Catalogue([tmp_path / "lab"], tmp_path / "index.sqlite")
    [case] = catalogue.cases()
    assert (case.title, case.runs, case.failed, case.hosts) == ("case", 1, 0, ("laptop",))
    steps = [(one.step.index, one.step.median_s) for one in catalogue.steps_of(case.id)]
    assert steps == [(1, 1.5), (2, 2.5)]


def test_a_run_that_krown_did_not_finish_is_broken(tmp_path: Path) -> None:
    run = krown_run(tmp_path, done=False)
    entry = KrownRunFormat().describe(Candidate("0" * 16, tmp_path, str(run.relative_to(tmp_path))))
    assert entry is not None
    assert "no .done" in entry.broken
    assert KrownRunFormat().load(entry).run == 1


def test_a_folder_is_a_run_by_its_name_and_a_sign(tmp_path: Path) -> None:
    def is_one(name: str, *files: str) -> bool:
        return "." in RunFormat().detect(
            FolderListing(tmp_path / name, frozenset(files), frozenset())
        )

    assert is_one("run_1", "run.json")
    assert is_one("run_12", ".benchyard")
    assert not is_one("run_1", "notes.txt")
    assert not is_one("run_01", "run.json")
    assert not is_one("runs", "run.json")
