"""Profiles that steps left, in the trace of a real run."""

from pathlib import Path

import pytest

from benchyard.traces.model import Trace
from benchyard.traces.sources import left_profiles, trace_with_profiles
from tests.conftest import MakeCase, process
from tests.here import RunHere, runner


def begun(trace: Trace, name: str) -> tuple[str, int]:
    """Return the process and the beginning of the first slice of a name."""
    place = trace.slices.name.tolist().index([*trace.names].index(name))
    track = trace.tracks[int(trace.slices.track[place])]
    return track.process, int(trace.slices.start[place])


@pytest.fixture
def run_here(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> RunHere:
    return runner(capsys, monkeypatch, tmp_path)


@pytest.fixture
def run(case_folder: MakeCase, run_here: RunHere) -> Path:
    written = "printf 'main;sort 3\\nmain;load 2\\n' > stacks.txt; sleep 0.05"
    keys = {"parameters": {"profile_file": "stacks.txt"}}
    case = case_folder(
        "words",
        process("first", "sleep 0.1"),
        process("sorting", written, **keys),
        process("odd", "echo nothing > stacks.txt", **keys),
    )
    command = ("run", case, "--direct", "--runs", "1", "--cooldown", "0", "--interval", "0.05")
    ended = run_here(*command)
    assert ended.returncode == 0, ended.stderr
    return case / "results" / "run_1"


@pytest.mark.slow
def test_a_profile_stands_where_its_step_began(run: Path) -> None:
    first, second = left_profiles(run)
    assert (first.step, first.file.name) == ("sorting", "02-sorting.profile.txt")
    assert second.step == "odd"
    trace = trace_with_profiles(run)
    process_name, start = begun(trace, "sort")
    assert process_name == "sorting: profile"
    assert 0 <= begun(trace, "load")[1] - round(first.start_s * 1e9) < 1_000
    assert start == begun(trace, "load")[1] + 2_000_000
    assert first.start_s > 0.1
    (loss,) = trace.losses
    assert "the profile of step odd" in loss.reason
    assert "no known format" in loss.reason


@pytest.mark.slow
def test_a_run_without_a_record_has_no_profiles(run: Path) -> None:
    (run / "run.json").write_text("damaged")
    assert [loss for loss in trace_with_profiles(run).losses if "profile" in loss.reason] == []
