"""Every example at the end of a command's help works as written."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from benchyard.cli.group import COMMANDS, LazyGroup
from tests.benchyard.cli.conftest import Cli

_PREPARATION = """
echo 'cooldown = 0' > benchyard.toml
seq 300 > lines.txt
benchyard new mine
benchyard run mine --runs 2 --direct
"""
#: What needs a server or a history, or goes on until Ctrl-C, to the test that executes it.
_ELSEWHERE = {
    "benchyard bisect v1.0 HEAD --build make -- ./program": "tests/benchyard/bisect/test_bisect.py",
    "benchyard confirm v1.0 v1.1 -- ./program": "tests/benchyard/bisect/test_confirm.py",
    "benchyard history": "tests/benchyard/cli/test_history_campaigns.py",
    "benchyard check mine": "tests/benchyard/cli/test_checking.py",
    "benchyard import": "tests/benchyard/cli/test_importing.py",
    "benchyard suite mine --runs 8": "tests/benchyard/cli/test_suite.py",
    "benchyard serve": "tests/benchyard/cli/test_serving.py",
    "benchyard up": "tests/benchyard/lab/test_up.py",
    "benchyard worker": "tests/benchyard/lab/test_up.py",
    "benchyard deploy": "tests/benchyard/lab/test_deploying.py",
}


def _help(name: str) -> click.Command:
    command = LazyGroup().get_command(click.Context(LazyGroup()), name)
    assert command is not None
    return command


def _examples(name: str) -> list[str]:
    head, *examples = (_help(name).epilog or "").splitlines()[1:]
    assert head == "Example:"
    return [example.strip() for example in examples]


@pytest.mark.parametrize("name", list(COMMANDS))
def test_help_begins_with_the_line_of_the_list_and_ends_with_examples(name: str) -> None:
    text = _help(name).get_help(click.Context(_help(name), info_name=name)).splitlines()
    assert " ".join(COMMANDS[name][1].split()) in " ".join(" ".join(text[:6]).split())
    assert text[-1].strip() == _examples(name)[-1]
    assert 1 <= len(_examples(name)) <= 2


@pytest.mark.slow
def test_every_example_works_as_written(tmp_path: Path, run_here: Cli) -> None:
    """In a process of its own is only what a shell must read."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    examples = [example for name in COMMANDS for example in _examples(name)]
    for line in (_PREPARATION, *examples):
        if any(line.endswith(other) or f"{other} " in line for other in _ELSEWHERE):
            continue
        if (words := shlex.split(line))[0] == "benchyard" and "&&" not in words:
            run_here(*words[1:])
        else:
            command, more = ["/bin/bash", "-ec", line], {"PATH": path}
            subprocess.run(command, cwd=tmp_path, env={**os.environ, **more}, check=True)
