"""``benchyard time``."""

import json
import os
import select
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from benchyard.cli import call
from benchyard.cli.timing import picture, progress
from benchyard.timing.commands import Surroundings, make_commands
from benchyard.timing.course import Course
from benchyard.timing.execution import Execution
from tests.benchyard.cli.conftest import Cli


def test_two_commands_are_ranked(cli: Cli) -> None:
    said = cli("time", "sleep 0.002", "sleep 0.03", "--name", "short", "--name", "long")
    assert said.out.splitlines()[0].split()[:2] == ["COMMAND", "MEDIAN"]
    assert "'short' is " in said.out
    assert "times faster than 'long' (99 %: " in said.out
    assert "stopped: they are told apart" in said.out


def test_one_document_is_printed(cli: Cli) -> None:
    said = cli("time", "true", "--runs", "3", "--seed", "5", "--json")
    made = json.loads(said.out)
    assert (made["rounds"], made["seed"]) == (3, 5)
    assert len(made["commands"][0]["executions"]) == 3


def test_parameters_make_commands(cli: Cli) -> None:
    given = ("--parameter", "a=1,2", "--parameter", "a=7", "--parameter-range", "b", "1..2")
    more = (*given, "--runs", "1", "--json")
    made = json.loads(cli("time", "test {a} -ge 0{b}", "--ignore-failure", *more).out)
    pairs = [(one["parameters"]["a"], one["parameters"]["b"]) for one in made["commands"]]
    assert pairs == [(a, b) for a in "127" for b in "12"]
    assert made["commands"][1]["command"] == "test 1 -ge 02"


def test_files_are_exported(cli: Cli, tmp_path: Path) -> None:
    names = ("json", "csv", "markdown", "hyperfine")
    options = [part for name in names for part in (f"--export-{name}", tmp_path / name)]
    cli("time", "true", "--runs", "2", *options)
    assert json.loads((tmp_path / "json").read_text())["rounds"] == 2
    assert len((tmp_path / "csv").read_text().splitlines()) == 3
    assert (tmp_path / "markdown").read_text().startswith("| COMMAND |")
    assert len(json.loads((tmp_path / "hyperfine").read_text())["results"][0]["times"]) == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes devices")
def test_a_file_that_cannot_be_written_leaves_the_others(cli: Cli, tmp_path: Path) -> None:
    full, table, case = tmp_path / "full", tmp_path / "e.csv", tmp_path / "case"
    os.mknod(full, stat.S_IFCHR | 0o666, os.makedev(1, 7))
    options = ["--export-json", full, "--export-csv", table, "--save", case]
    said = cli("time", "--runs", "6", "true", *options, code=1)
    assert f"{full}: No space left on device" in said.err
    assert len(table.read_text().splitlines()) == 7
    assert (case / "metadata.json").is_file()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--export-json", "/proc/x.json"], "/proc/x.json: No such file or directory"),
        (["--export-csv", "pipe"], "pipe: a named pipe that no program reads"),
        (["--export-csv", "-", "--json"], "--export-csv writes to stdout already"),
        (["--export-csv", "-", "--export-json", "/dev/stdout"], "writes to stdout already"),
        (["--save", "/proc/case"], "--save /proc/case: "),
    ],
)
def test_an_output_is_refused_before_anything_is_executed(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    said = cli("time", "--runs", "6", "touch done", *options, code=2)
    assert text in said.err
    assert not (tmp_path / "done").exists()


@pytest.mark.slow
@pytest.mark.parametrize("text", ["${env:HOME}", "${matrix.n}", "$${x}", "$$", "${HOME}"])
def test_a_saved_command_does_the_same(run_here: Cli, tmp_path: Path, text: str) -> None:
    run_here("time", "--runs", "6", f"printf %s '{text}'", "--save", "saved")
    run_here("run", "saved", "--runs", "1", "--direct", "--cooldown", "0")
    [printed] = (tmp_path / "saved" / "results" / "run_1" / "process").glob("*.stdout.txt")
    assert printed.read_text() == text
    assert text in run_here("list", "saved", "--json").out


def test_a_command_of_several_lines_is_one_line(cli: Cli, tmp_path: Path) -> None:
    file, rows, odd = tmp_path / "t.md", tmp_path / "t.csv", "true\ntrue `true` \x1b[1m"
    options = ["--export-markdown", file, "--export-csv", rows]
    said = cli("time", "--runs", "6", "--shell", odd, "true", *options)
    text = file.read_text()
    assert r"| ``true\ntrue `true` \x1b[1m`` |" in text
    assert "\x1b" not in text + rows.read_text()
    assert all(line[:2] in ("| ", "- ", "") for line in text.splitlines())
    assert len(rows.read_text().splitlines()) == 13
    assert "true\ntrue" not in said.out


def test_stdout_has_the_file_alone(cli: Cli) -> None:
    said = cli("time", "--runs", "6", "true", "--export-json", "-")
    assert json.loads(said.out)["rounds"] == 6
    assert "6 executions" in said.err


def test_commands_write_into_stdout_and_pipes(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reads = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    words = ["time", "--runs", "6", "--shell", "echo out; echo no >&2", "--stdout", "-"]
    said = subprocess.run(
        [sys.executable, "-m", "benchyard.cli", *words, "--stderr", pipe],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    with os.fdopen(reads) as stream:
        errors = stream.read()
    assert set(said.stdout.splitlines()) == {"out"}
    assert set(errors.splitlines()) == {"no"}
    assert len(said.stdout.splitlines()) == len(errors.splitlines()) >= 6
    assert "6 executions" in said.stderr


def test_a_case_is_made_and_can_be_executed(run_here: Cli, tmp_path: Path) -> None:
    (tmp_path / "words").write_text("b\na\n")
    around = ("--setup", "true", "--prepare", "true", "--cleanup", "true")
    save = ("--save", "made", "--input", "words", "--runs", "1", *around)
    ended = run_here("time", "sort", "sort -r", "sort", *save)
    ended = run_here("run", "made", "--direct", "--runs", "1", "--cooldown", "0")
    ended = run_here("time", "true", *save, code=2)
    assert "something is there already" in ended.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ls | wc"], "'ls | wc': only a shell understands |; add --shell"),
        *((["true", "--runs", runs], "write 20 or 10..50") for runs in ("0", "9..3")),
        *((["true", option, "0%"], "0% does not lie between") for option in ("--level", "--until")),
        (["true", "--until", "1"], "is no percentage"),
        (["true", "--input", "/nowhere"], "File '/nowhere' does not exist"),
        *((["true", "--timeout", s], "is not in the range 0.0<x<=604800") for s in ("0", "1e10")),
        (["true", "--stderr", "/nowhere/x"], "there is no folder /nowhere"),
        (["true", "--export-csv", "/nowhere/x.csv"], "there is no folder /nowhere"),
        (["true", "--stdout", "pipe", "--show-output"], "stdout goes to one place"),
        (["true {n}", "--parameter-range", "n", "1..1001"], "at most 1,000 values"),
        (["true", "--parameter", "n=1"], "no command has {n}"),
        ([], "Missing argument"),
    ],
)
def test_what_cannot_be_meant_is_refused(cli: Cli, arguments: list[str], said: str) -> None:
    assert said in cli("time", *arguments, code=2).err


def test_failures_are_told(cli: Cli, tmp_path: Path) -> None:
    said = "'false' failed in execution 1 (unmeasured): exit code 1 (--stderr FILE shows"
    assert said in cli("time", "false", code=1).err
    assert "(unmeasured): signal 9" in cli("time", "--shell", "kill -9 $$", code=1).err
    words = ("time", f"touch {tmp_path}/mark", "no-such-program")
    assert "cannot start 'no-such-program'" in cli(*words, code=1).err
    assert list(tmp_path.iterdir()) == []


def test_a_failure_later_keeps_table_and_files(cli: Cli, tmp_path: Path) -> None:
    file, count = tmp_path / "x.json", tmp_path / "n"
    line = f"echo x >> {count}; test $(wc -l < {count}) -ne 4"
    said = cli("time", "--shell", line, "--runs", "9", "--export-json", file, code=1)
    assert "0 (2 times), 1 (1 times)" in said.out
    assert "failed in execution 4 (measured execution 3): exit code 1" in said.err
    made = json.loads(file.read_text())
    assert made["failure"].startswith(f"'{line}' failed in execution 4")
    assert [one["exit_code"] for one in made["commands"][0]["executions"]] == [0, 0, 1]


def test_output_can_be_shown(capfd: pytest.CaptureFixture[str]) -> None:
    assert call(["time", "echo seen", "--runs", "2", "--show-output"]) == 0
    assert capfd.readouterr().out.count("seen\n") == 2


def test_no_advice_is_about_another_number_of_executions(cli: Cli, tmp_path: Path) -> None:
    line = f"test -e {tmp_path}/a || sleep 0.3; mv {tmp_path}/b {tmp_path}/a || touch {tmp_path}/b"
    said = cli("time", "--shell", f"{line}; true", "--runs", "6")
    assert "5 runs" not in said.err


def test_estimates_stay_in_their_columns() -> None:
    times = [[], [1.2e-5] * 9, [0.9996] * 10_000, [86_400.0, 90_000.0]]
    made = [[Execution(s, 0, 0, None, 0, 0, None) for s in some] for some in times]
    commands = make_commands(["a", "b", "c", "d"], (), Surroundings(), {}, in_shell=True)
    lines = picture(Course(commands, 1, made)).splitlines()
    assert [line[-1] for line in lines] == ["a", "b", "c", "d"]
    assert len(set(map(len, lines))) == len({line.index(" x  ") for line in lines}) == 1


def test_a_terminal_sees_the_estimates(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress(quiet=False) as watch:
        watch(Course((), 1))
    assert capsys.readouterr().err == "", "nobody looks"
    commands = make_commands(["spin me", "b\x1b[2J"], (), Surroundings(), {}, in_shell=True)
    reader, writer = os.openpty()
    with open(writer, "w", encoding="utf-8") as terminal:  # noqa: PTH123 - a descriptor
        monkeypatch.setattr("sys.stderr", terminal)
        monkeypatch.setenv("TERM", "xterm")
        with progress(quiet=False) as watch:
            watch(Course(commands, 1, [[], []]))
            shown = b""
            while b"b\\x1b[2J" not in shown:
                assert select.select([reader], [], [], 10)[0], shown
                shown += os.read(reader, 10_000)
    os.close(reader)
    assert b"0 x  spin me" in shown
