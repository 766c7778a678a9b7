"""The command line as a whole: help, slips of the pen, exit codes, what is imported when."""

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest

from benchyard import __version__
from benchyard.cli import common, group
from benchyard.cli.group import COMMANDS, OLD_NAMES
from benchyard.core.errors import BenchyardError, CaseFailedError, InputError, RunInterruptedError
from tests.benchyard.cli.conftest import Cli
from tests.benchyard.publish.conftest import raising
from tests.conftest import MakeCase, process

LIGHT = (
    *("--help", "--version", "list", "config", "validate"),
    *("resources", "clean --yes", "doctor", "failures"),
)


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_names_every_command_and_exit_code(option: str, cli: Cli) -> None:
    out = cli(option).out
    for name, (_, line) in COMMANDS.items():
        assert name in out
        assert line[:40] in out
    assert "Exit codes: 0 done, 1 a case failed, 2 wrong input" in out
    said = cli(code=2)
    assert "Usage: benchyard" in said.out + said.err
    assert cli("--version").out == f"benchyard, version {__version__}\n"


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_is_there_and_has_help(name: str, cli: Cli) -> None:
    command = import_module(f"benchyard.cli.{COMMANDS[name][0]}").command
    assert isinstance(command, click.Command)
    assert cli(name, "--help").out.startswith(f"Usage: benchyard {name}")


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_option_says_what_it_takes_and_means(name: str) -> None:
    command = group.cli.get_command(click.Context(group.cli), name)
    assert command is not None
    vague = {"TEXT", "INTEGER", "FLOAT", "PATH"}
    with click.Context(command, info_name=name) as context:
        told = [one.get_help_record(context) for one in command.params]
    for record in filter(None, told):
        assert not vague & {*re.findall("[A-Z]+", record[0])}, record
        assert record[1] or not re.match("-+[a-z]", record[0]), record


@pytest.mark.parametrize("name", ["time", "run", "compare", "suite"])
def test_every_option_of_a_long_help_has_a_heading(name: str, cli: Cli) -> None:
    _, _, last = cli(name, "--help").out.partition("\nOther options:\n")
    assert last.partition("\n\n")[0].split(maxsplit=1)[-1].endswith("Show this message and exit.")
    assert "\n" not in last.partition("\n\n")[0]


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("lits", "did you mean 'list'?"),
        ("Resources", "did you mean 'resources'?"),
        ("lab", "Run a lab: up, worker, deploy"),
    ],
)
def test_an_unknown_command_names_the_nearest_or_a_group(typed: str, hint: str, cli: Cli) -> None:
    assert f"no command '{typed}'; {hint}" in cli(typed, code=2).err


@pytest.mark.parametrize(
    ("name", "old", "new"), [(n, *names) for n, all_ in OLD_NAMES.items() for names in all_.items()]
)
def test_an_old_name_of_an_option_works_and_is_not_shown(
    name: str, old: str, new: str, cli: Cli
) -> None:
    said = cli(name, "--help").out
    assert f"--{new} " in said
    assert f"--{old} " not in said
    assert "No such option" not in cli(name, f"--{old}", code=None).err


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (InputError("wrong"), 2, "wrong"),
        (CaseFailedError("failed"), 1, "failed"),
        (BenchyardError("some"), 1, "some"),
        (RunInterruptedError("stopped"), 130, "stopped"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (OSError(28, "No space left on device", "/x"), 1, "/x: No space left on device"),
    ],
)
def test_errors_become_a_sentence_and_an_exit_code(
    error: BaseException, code: int, message: str, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    monkeypatch.setattr(common, "find_cases", raising(error))
    said = cli("list", code=code)
    assert said.out == ""
    assert said.err.lstrip("\n") == f"benchyard: {message}\n"  # after ^C, on a line of its own


@pytest.mark.parametrize("arguments", LIGHT)
def test_prefect_is_not_imported_where_it_is_not_needed(arguments: str, tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from benchyard.cli import call\n"
        f"code = call({arguments.split()!r})\n"
        "assert not {'prefect', 'matplotlib'} & set(sys.modules)\n"
        "sys.exit(code)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("encoding", ["utf-8:strict", "ascii:strict", "latin-1:strict"])
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_no_name_is_too_strange_for_a_terminal(
    tmp_path: Path, encoding: str, options: list[str]
) -> None:
    folder = tmp_path / os.fsdecode(b"\xff\xe2\x86\x92")
    folder.mkdir()
    (folder / "metadata.json").write_text('{"name": "→", "steps": 5}')
    program = [Path(sys.executable).with_name("benchyard"), "validate", *options]
    ended = subprocess.run(
        program,
        cwd=tmp_path,
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": encoding},
        check=False,
    )
    assert ended.returncode == 2
    assert b"Traceback" not in ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "program", "code"),
    [
        ("run a --runs 1 --direct --junit f.xml", "true", 0),
        ("run a --runs 1 --direct --junit f.xml", "false", 1),
        ("list", "true", 0),
    ],
)
def test_a_closed_reader_changes_neither_exit_code_nor_files(
    tmp_path: Path, case_folder: MakeCase, words: str, program: str, code: int
) -> None:
    """As in ``benchyard run 2>&1 | head -1``."""
    case_folder("a", process("work", program, retries=0))
    reading, writing = os.pipe()
    os.close(reading)
    command = [Path(sys.executable).with_name("benchyard"), *words.split()]
    try:
        ended = subprocess.run(command, cwd=tmp_path, stdout=writing, stderr=writing, check=False)
    finally:
        os.close(writing)
    assert ended.returncode == code
    assert words == "list" or (tmp_path / "f.xml").is_file()
