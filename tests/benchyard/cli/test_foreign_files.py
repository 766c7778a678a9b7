"""What somebody else put into results, and two labs on one folder: on real files."""

import os
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchyard.results.folders import Results
from benchyard.results.record import read_record
from tests.benchyard.cli.conftest import Cli
from tests.conftest import MakeCase, eventually, process

pytestmark = pytest.mark.slow

PROGRAM = Path(sys.executable).with_name("benchyard")


def shell(script: str) -> Mapping[str, Any]:
    return process("work", script, parameters={"output_file": "made.txt"})


def taking_turns(turns: Path, wait: str) -> Mapping[str, Any]:
    """Return a step that writes when it begins and when it ends: one lab at a time may do that."""
    return shell(f"echo begin $$ >> {turns}; {wait}; echo end $$ >> {turns}; echo yes > made.txt")


@pytest.fixture
def case(case_folder: MakeCase) -> Path:
    return case_folder("mine", shell("echo yes > made.txt"))


def foreign(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"precious: {path.name}")
    os.utime(path, (1_000_000_000, 1_000_000_000))
    return path


def traits(path: Path) -> tuple[int, int, bytes]:
    status = path.stat()
    return status.st_ino, status.st_mtime_ns, path.read_bytes()


def found(results: Path) -> dict[int, tuple[int, bytes]]:
    """Return all files below results by their inodes: wherever they lie."""
    files = [path for path in results.rglob("*") if path.is_file() and not path.is_symlink()]
    return {path.stat().st_ino: (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def test_nothing_foreign_in_and_around_results_is_touched(case: Path, run_here: Cli) -> None:
    results = case / "results"
    common = ("--direct", "--cooldown", "0", "--publish", "none", "--root", case)
    names = ("thesis.tex", "run_9/thesis.tex", "run_9.replaced/thesis.tex", "notes/run_1/x")
    around = [results / name for name in (*names, "earlier/mine/run_1/x", "../stats.csv")]
    before = {path: traits(foreign(path)) for path in around}

    execute = partial(run_here, "run", *common, "--runs", "2")
    execute()
    whose = [traits(foreign(results / "run_1" / name)) for name in ("a.tex", "process/a.tex")]
    execute("--new")
    execute("--force")
    whose.append(traits(foreign(results / "run_2" / "later.tex")))
    ended = execute("--force")
    assert "holds what Benchyard did not make, and is kept as it was" in ended.err
    run_here("clean", "--yes", "--root", case)

    assert {path: traits(path) for path in around} == before
    there = found(results)
    for inode, modified, content in whose:
        assert there[inode] == (modified, content)


@pytest.mark.parametrize(
    "name",
    ["run_1/thesis.tex", "run_1", "run_2.replaced/a", "summary.csv", "stats.csv", "tries.jsonl"],
)
@pytest.mark.parametrize("how", [(), ("--force",), ("--new",)])
def test_what_has_the_place_of_results_is_refused_before_anything_is_done(
    case: Path, run_here: Cli, name: str, how: tuple[str, ...]
) -> None:
    file = foreign(case / "results" / name)
    before = traits(file)

    ended = run_here("run", "--direct", "--root", case, "--runs", "2", *how, code=2)

    assert len(ended.err.splitlines()) == 1
    assert "was not made by Benchyard, and would be replaced: move it away" in ended.err
    assert traits(file) == before
    assert run_here("clean", "--yes", "--root", case).out == "removed 0 results\n"
    assert [path for path in case.rglob("results/**/*") if path.is_file()] == [file]


def test_stats_writes_over_nobody_s_file(case: Path, run_here: Cli) -> None:
    options = ("--direct", "--cooldown", "0", "--publish", "none", "--runs", "1")
    run_here("run", "--root", case, *options)
    for name, code, said in (
        ("stats.csv", 0, "stats.csv is not Benchyard's and stays as it is"),
        ("summary.json", 2, "summary.json was not made by Benchyard"),
    ):
        file = case / "results" / name
        file.unlink()
        before = traits(foreign(file))
        ended = run_here("stats", "--root", case, code=code)
        assert said in ended.out + ended.err
        assert traits(file) == before


@pytest.mark.parametrize(
    "words",
    [
        *("run --direct --results", "run --root", "run --resources", "suite --results"),
        *("stats --results", "clean --yes --results", "list --root", "plot --results"),
        *("doctor --results", "publish --datadir", "publish --archivedir", "publish"),
    ],
)
def test_an_empty_text_is_no_folder(case: Path, run_here: Cli, words: str) -> None:
    before = found(case.parent)
    ended = run_here(*words.split(), "", cwd=case.parent, code=2)
    assert "an empty text names nothing" in ended.err
    assert found(case.parent) == before


@pytest.mark.requires("mount")
def test_clean_of_a_folder_for_reading_only_removes_nothing(case: Path, run_here: Cli) -> None:
    results = case / "results"
    results.mkdir()
    subprocess.run(["/bin/mount", "-t", "tmpfs", "none", results], check=True)
    try:
        foreign(results / "run_1" / ".done").write_text("")
        subprocess.run(["/bin/mount", "-o", "remount,ro", results], check=True)
        before = found(results)
        ended = run_here("clean", "--yes", "--root", case, code=2)
        assert "cannot be written: nothing was removed" in ended.err
        assert len(ended.err.splitlines()) == 1
        assert found(results) == before
    finally:
        subprocess.run(["/bin/umount", results], check=True)


def lab(case: Path, turns: Path, name: str, *options: str) -> "subprocess.Popen[str]":
    """Start a lab that shares nothing with others but the results folder."""
    lock = turns.with_name(f"{name}.lock")
    arguments = ["run", "--direct", "--cooldown", "0", "--publish", "none", "--root", str(case)]
    return subprocess.Popen(
        [PROGRAM, *arguments, *options],
        env={**os.environ, "BENCHYARD_LOCK": str(lock)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def assert_in_turns(turns: Path) -> None:
    lines = turns.read_text().splitlines()
    pairs = list(zip(lines[::2], lines[1::2], strict=True))
    assert all(begin.replace("begin", "end") == end for begin, end in pairs), lines


def assert_sound(results: Path, runs: list[int]) -> None:
    assert [*Results(results).done()] == runs
    for run in runs:
        folder = results / f"run_{run}"
        made = read_record(folder)
        assert made.run == run
        assert "process/made.txt" in [entry["path"] for entry in made.outputs]
        assert (folder / "process" / "made.txt").read_text() == "yes\n"
    assert not list(results.glob("*.replaced*"))
    assert not list(results.glob(".making*"))


def test_two_labs_with_different_locks_take_turns_on_one_results_folder(
    case_folder: MakeCase, tmp_path: Path, run_here: Cli
) -> None:
    turns, go = tmp_path / "turns", tmp_path / "go"
    case = case_folder("shared", taking_turns(turns, f"until [ -e {go} ]; do sleep 0.1; done"))
    with lab(case, turns, "one", "--runs", "1") as one:
        assert eventually(turns.is_file, 120)
        busy = f"is in use already: pid {one.pid} of "
        refused = lab(case, turns, "two", "--runs", "1", "--no-wait")
        assert busy in refused.communicate(timeout=240)[1]
        assert refused.returncode == 1
        (case / "results" / "run_7").mkdir()
        (case / "results" / "run_7" / ".done").touch()
        cleaned = run_here("clean", "--yes", "--root", case, code=1)
        assert busy in cleaned.err
        with lab(case, turns, "three", "--runs", "2", "--force") as three:
            assert three.stderr is not None
            told = next(line for line in three.stderr if "waiting for" in line)
            assert f"held by pid {one.pid} of " in told
            go.touch()
            assert_good(three)
        assert_good(one)
    assert_in_turns(turns)
    assert_sound(case / "results", [1, 2])


def assert_good(one: "subprocess.Popen[str]") -> None:
    said = one.communicate(timeout=600)[1]
    assert one.returncode == 0, said


@pytest.mark.soak
def test_30_times_two_labs_corrupt_nothing(case_folder: MakeCase, tmp_path: Path) -> None:
    for trial in range(30):
        turns = tmp_path / f"turns-{trial}"
        case = case_folder(f"shared-{trial}", taking_turns(turns, "sleep 0.05"))
        labs = [lab(case, turns, f"{trial}-{n}", "--runs", "3", "--force") for n in range(2)]
        for one in labs:
            assert_good(one)
        assert_in_turns(turns)
        assert_sound(case / "results", [1, 2, 3])
