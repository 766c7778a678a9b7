import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchyard.core.errors import RecordError
from benchyard.core.model import Json, Outcome
from benchyard.results.excerpt import read_excerpt
from benchyard.results.record import ErrorRecord, RunRecord, read_record, write_record
from benchyard.results.subject import subject_of
from benchyard.results.summary import summarize
from tests.benchyard.analysis.comparison.conftest import failed, run, step

USED = {"resource_cpu_s": 0.5, "resource_memory_peak_bytes": None}


def place(folder: Path, record: RunRecord, **members: Any) -> Path:
    folder = folder / f"run_{record.run}"
    folder.mkdir()
    document = json.loads(write_record(folder, record).read_text())
    (folder / "run.json").write_text(json.dumps({**document, **members}))
    return folder


def made() -> RunRecord:
    ask = step(
        2.0,
        2.1,
        name="ask",
        index=2,
        values={"rows": 4, "resource_cpu_s": 7, "p99.9": 1},
        warmups=1,
    )
    samples: dict[str, Json] = {"levels": {"memory_ram": {"min": 1, "max": 2}}}
    load = step(1.0, used=USED, suspect=["it swapped"], sampled=samples)
    broken = failed("drop", index=3, reason="no table")
    error = ErrorRecord("ResourceError", "no table")
    return run(3, load, ask, broken, error=error, subject={"host": "bench1", "digest": "d"})


def test_statistics_of_excerpts_are_those_of_records(tmp_path: Path) -> None:
    folder = place(tmp_path, made())
    whole, excerpt = read_record(folder), read_excerpt(folder, ("*",))
    assert summarize("x", [excerpt])["steps"] == summarize("x", [whole])["steps"]
    assert subject_of(excerpt) == subject_of(whole)
    assert (excerpt.began, excerpt.outcome, excerpt.error) == (
        *(whole.began, whole.outcome, whole.error),
    )
    assert excerpt.case == whole.case


def test_only_what_is_wanted_is_in_it(tmp_path: Path) -> None:
    folder = place(tmp_path, made())
    bare = read_excerpt(folder)
    assert [list(one.used) for one in bare.steps[0].measured] == [[]]
    assert bare.steps[1].durations_s == [2.0, 2.1]
    assert bare.steps[0].suspect == ("it swapped",)
    some = read_excerpt(folder, ("reported_resource_cpu_s", "p99.9"))
    assert some.steps[0].measured[0].used == {"resource_cpu_s": 0.5}
    assert some.steps[1].measured[0].values == {"resource_cpu_s": 7, "p99.9": 1}


@pytest.mark.parametrize(("member", "value"), [("version", 99), ("steps", ["odd"])])
def test_what_is_no_record_is_no_excerpt(tmp_path: Path, member: str, value: Any) -> None:
    folder = place(tmp_path, made(), **{member: value})
    with pytest.raises(RecordError):
        read_excerpt(folder)


def test_older_records_are_read(tmp_path: Path) -> None:
    record = replace(made(), subject={}, outcome=Outcome.COMPLETED)
    folder = place(tmp_path, record, version=2)
    assert read_excerpt(folder).steps[1].durations_s == [2.0, 2.1]


def test_a_record_that_is_a_pipe_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run_1").mkdir()
    os.mkfifo(tmp_path / "run_1" / "run.json")
    with pytest.raises(RecordError, match="not a readable record"):
        read_excerpt(tmp_path / "run_1")
