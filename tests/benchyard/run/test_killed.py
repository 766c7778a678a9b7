"""kill -9 and a full disk: what was finished stays, what was not is done again."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping
from functools import partial
from pathlib import Path

import pytest

from benchyard.core.model import Outcome
from benchyard.process.labels import OWNER, labelled
from benchyard.results.folders import Results
from benchyard.results.record import read_record
from tests.children import ending
from tests.conftest import MakeCase, RunBenchyard, eventually, process, tree
from tests.here import RunHere

pytestmark = pytest.mark.slow

MOMENTS = 15
RUNS = 3
PROGRAM = Path(sys.executable).with_name("benchyard")
SORT = process("sort", "sort words.txt", parameters={"stdout_file": "sorted.txt"})


def arguments(case: Path, runs: int) -> list[str | Path]:
    return ["run", case, "--direct", "--runs", str(runs), "--cooldown", "0"]


def is_empty(lab: "subprocess.Popen[str]") -> bool:
    """Tell whether nothing is left of what a lab started."""
    return not [pid for pid, owner in labelled(OWNER) if owner.startswith(f"{lab.pid}:")]


Finished = Mapping[int, Mapping[str, bytes | str]]


def still_there(results: Path, finished: Finished) -> Finished:
    """Check that finished runs were not touched; return what is finished now."""
    done = [*Results(results).done()]
    assert set(finished) <= set(done), "a finished run was lost"
    for number, content in finished.items():
        assert tree(results / f"run_{number}") == content, "a finished run was touched"
    assert done == list(range(1, len(done) + 1)), "it goes on at the first unfinished"
    return {number: tree(results / f"run_{number}") for number in done}


@pytest.mark.parametrize("lines", [1, 4, 8])
def test_kill_9_after_so_many_lines_is_made_up_for(
    case_folder: MakeCase, tmp_path: Path, lines: int
) -> None:
    folder = case_folder(
        "killed",
        process("daemon", "setsid sleep 300 &"),
        SORT,
        process("last", "true"),
        data={"words.txt": "b\na\n"},
        matrix={"scale": [0.1]},
    )
    results = folder / "results" / "scale=0.1"
    run = [PROGRAM, *arguments(folder, 2), "-v"]
    with ending(subprocess.Popen(run, stderr=subprocess.PIPE, text=True, cwd=tmp_path)) as lab:
        assert lab.stderr is not None
        told = [lab.stderr.readline() for _ in range(lines)]
        lab.send_signal(signal.SIGKILL)
    assert all(told)
    assert eventually(partial(is_empty, lab), 30), "a child outlived the lab"
    finished = still_there(results, {})

    last = subprocess.run(run, capture_output=True, text=True, check=False, cwd=tmp_path)

    assert last.returncode == 0, last.stderr
    assert list(still_there(results, finished)) == [1, 2]
    for number in (1, 2):
        assert (results / f"run_{number}/process/sorted.txt").read_text() == "a\nb\n"
    assert not [*results.parent.rglob(".work")], "where the programs worked"


@pytest.mark.soak
def test_kill_9_at_any_moment_loses_nothing_that_was_finished(
    case_folder: MakeCase, tmp_path: Path
) -> None:
    # Each kind of work: a daemon in a session of its own, an output, short steps side by side.
    daemon = "setsid sleep 300 & sleep 0.05"
    folder = case_folder(
        "killed",
        process("daemon", daemon),
        SORT,
        process("left", "sleep 0.05", needs=["sort"]),
        process("right", "sleep 0.05", needs=["sort"]),
        data={"words.txt": "b\na\n"},
    )
    results = folder / "results"
    run = [PROGRAM, *arguments(folder, RUNS), "-v"]
    chance = random.Random(2025)  # noqa: S311 - moments, not secrets
    finished: Finished = {}
    killed = 0

    for _ in range(MOMENTS):
        if len(finished) == RUNS:
            break
        with ending(subprocess.Popen(run, stderr=subprocess.PIPE, text=True, cwd=tmp_path)) as lab:
            assert lab.stderr is not None
            # A run tells ten lines: moments counted in lines fall into it on any machine.
            for _ in range(chance.randrange(1, 14)):
                assert "Traceback" not in lab.stderr.readline()
            with contextlib.suppress(subprocess.TimeoutExpired):
                lab.wait(chance.uniform(0.0, 0.1))
            killed += lab.poll() is None
            lab.send_signal(signal.SIGKILL)
        assert eventually(partial(is_empty, lab), 30), "a child outlived the lab"

        finished = still_there(results, finished)

    assert killed >= RUNS, "the moments come too late: nothing was killed"
    last = subprocess.run(run, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert last.returncode == 0, last.stderr
    assert "Traceback" not in last.stderr
    assert list(still_there(results, finished)) == [1, 2, 3]
    for number in range(1, RUNS + 1):
        assert read_record(results / f"run_{number}").outcome is Outcome.COMPLETED
        assert (results / f"run_{number}/process/sorted.txt").read_text() == "a\nb\n"
        assert not (results / f"run_{number}/.work").exists()
    summary = json.loads((results / "summary.json").read_text())
    assert summary["steps"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Generator[Path]:
    """Mount a file system of 256 KiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["/bin/mount", "-t", "tmpfs", "-o", "size=256k,nr_inodes=500", "tmpfs", str(folder)]
    subprocess.run(mount, check=True)
    yield folder
    subprocess.run(["/bin/umount", str(folder)], check=True)


@pytest.mark.requires("mount")
def test_a_full_disk_is_one_sentence_and_earlier_runs_stay(
    case_folder: MakeCase, small_disk: Path, run_benchyard: RunBenchyard
) -> None:
    """The first run fits, and leaves no room for the second: its step fails to write."""
    size = 150 * 1024
    step = process("fill", f"head -c {size} /dev/zero", parameters={"stdout_file": "zeros"})
    folder = case_folder("full", step)

    ended = run_benchyard(*arguments(folder, 3), "--results", small_disk)

    where = small_disk / "cases" / "full"
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    assert ended.stderr.splitlines()[-1].startswith("benchyard: ")
    assert [*Results(where).done()] == [1]
    assert read_record(where / "run_1").outcome is Outcome.COMPLETED
    assert (where / "run_1/process/zeros").stat().st_size == size


def verdicts(ended: "subprocess.CompletedProcess[str]", run: int) -> list[str]:
    begins = f"full run {run}: "
    said = [line for line in ended.stderr.splitlines() if line.startswith(begins)]
    return [line.removeprefix(begins).partition(" after ")[0] for line in said]


def verdict(where: Path) -> list[str]:
    if 2 in Results(where).done():
        return ["✓ completed"]
    # Without room for the mark of its folder it did not begin.
    return ["✗ failed"] if (where / "run_2").exists() else []


@pytest.mark.requires("mount")
@pytest.mark.parametrize("free", [0, 4, 8, 16, 24, 32])
def test_a_disk_that_fills_up_anywhere_is_told_and_nothing_is_called_done(
    case_folder: MakeCase, small_disk: Path, run_here: RunHere, free: int
) -> None:
    """With a few KiB left the lab itself fails, sooner or later."""
    folder = case_folder("full", process("work", "true"))
    first = run_here(*arguments(folder, 1), "--results", small_disk)
    assert first.returncode == 0, first.stderr
    where = small_disk / "cases" / "full"
    before = tree(where / "run_1")
    ballast = small_disk / "ballast"
    with ballast.open("wb", buffering=0) as stream, contextlib.suppress(OSError):
        while stream.write(b"x" * 1024):
            pass
    os.truncate(ballast, ballast.stat().st_size - free * 1024)

    ended = run_here(*arguments(folder, 2), "--results", small_disk)

    assert tree(where / "run_1") == before
    assert verdicts(ended, 2) == verdict(where)
    assert "Traceback" not in ended.stderr
    assert "Logging error" not in ended.stderr
    if ended.returncode:
        assert ended.returncode == 1
        last = ended.stderr.splitlines()[-1]
        assert last.startswith("benchyard: ")
        assert "No space left on device" in last
        if 2 not in Results(where).done():
            assert str(small_disk) in last, "it says where"
    else:
        assert free >= 16, "there was no room for a record"
        assert [*Results(where).done()] == [1, 2]
    ballast.unlink()
    again = run_here(*arguments(folder, 2), "--results", small_disk)
    assert again.returncode == 0, again.stderr
    assert [*Results(where).done()] == [1, 2]
