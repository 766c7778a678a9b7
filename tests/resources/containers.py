"""Containers of the plain base image at a real engine, and what tests leave there."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from benchyard.case.resource import CommandResult, NoSettings, Workspace, step_context
from benchyard.core.errors import CommandFailedError
from benchyard.process.labels import this_owner
from resources.container import AnyContainerSettings, Container
from resources.query import Query

#: Debian with perl and a shell, and nothing that runs.
BASE = "benchyard-test/base:bookworm"
#: A program that runs until it is asked to end.
WAITS = ["sh", "-c", 'trap "exit 0" TERM; sleep 300 & wait $!']


DOCKER = shutil.which("docker") or "docker"


def docker(*arguments: str | Path) -> str:
    """Ask the engine through its own client, not through what is tested."""
    ended = subprocess.run(
        [DOCKER, *map(str, arguments)], capture_output=True, text=True, check=True, timeout=60
    )
    return ended.stdout.strip()


def inspected(name: str) -> Any:
    return json.loads(docker("inspect", name))[0]


def left_of(run: Path | str) -> dict[str, list[str]]:
    """Return what is left of a run at the engine: its label is the folder of its workspace."""
    label = f"label=benchyard.run={run}"
    return {
        "containers": docker("ps", "-aq", "--filter", label).split(),
        "networks": docker("network", "ls", "-q", "--filter", label).split(),
        "volumes": docker("volume", "ls", "-q", "--filter", label).split(),
    }


def run_of(workspace: Workspace) -> str:
    return workspace.labels["benchyard.run"]


NOTHING: Mapping[str, list[str]] = {"containers": [], "networks": [], "volumes": []}


def workspace_in(folder: Path) -> Workspace:
    """Make the folders of a run; the label of the run is the folder."""
    folders = [folder / name for name in ("inputs", "shared", "own", "kept")]
    for each in folders:
        each.mkdir(parents=True, exist_ok=True)
    labels = {
        "benchyard.owner": this_owner(),
        "benchyard.case": "test",
        "benchyard.run": str(folder),
    }
    return Workspace(*folders, labels=labels)


@contextmanager
def brought_up(resource: Any) -> Generator[Any]:
    """Bring a resource up, and have it stopped."""
    resource.initialize()
    try:
        resource.start()
        resource.wait_until_ready()
        yield resource
    finally:
        resource.stop()


@contextmanager
def container_in(workspace: Workspace, **settings: Any) -> Generator[Container]:
    """Bring a container up, and have it stopped."""
    given = dict[str, Any](image=BASE, command=WAITS) | settings
    with brought_up(Container(AnyContainerSettings(**given), workspace)) as made:
        yield made


@contextmanager
def asking(workspace: Workspace) -> Generator[Query]:
    """Start a client for SPARQL that knows the containers of the run."""
    with brought_up(Query(NoSettings(), workspace)) as query:
        query.begin("02-ask")
        yield query


def put(workspace: Workspace, *names: str, text: str = "<a:a> <a:b> <a:c> .\n") -> None:
    """Write inputs, and link to them as the lab does."""
    for name in names:
        for folder in (workspace.inputs, workspace.shared):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace.inputs / name).write_text(text)
        if not (workspace.shared / name).is_symlink():
            (workspace.shared / name).symlink_to(workspace.inputs / name)


def refusal(call: Callable[[], object]) -> str:
    """Return why a command fails."""
    with pytest.raises(CommandFailedError) as caught:
        call()
    return str(caught.value)


@contextmanager
def folder_of(user: int) -> Generator[Path]:
    """Make a folder that another user reaches.

    Pytest closes the folder above all of its own to others whenever somebody starts it.
    """
    folder = Path(tempfile.mkdtemp(prefix="benchyard-tests-"))
    folder.chmod(0o755)
    own = folder / "run"
    own.mkdir()
    os.chown(own, user, user)
    yield own
    shutil.rmtree(folder)


def run_python(*arguments: str, timeout: float) -> str:
    """Run Python in the tests' own folder; return what it said."""
    ended = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
        cwd=Path(__file__).parents[2],
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def step_of(name: str, command: str, arguments: list[str], **more: Any) -> dict[str, Any]:
    """Return a step of a case that executes a program in a container."""
    step = {"@id": name, "name": name, "resource": "Container", "command": command}
    return {**step, "parameters": {"arguments": arguments}, **more}


def start_lab(folder: Path, runs: int = 1, **options: Any) -> "subprocess.Popen[str]":
    """Start a lab in a process of its own, which executes a case."""
    program = Path(sys.executable).with_name("benchyard")
    line = [program, "run", folder, "--direct", "--runs", str(runs), "--cooldown", "0"]
    given: dict[str, Any] = {"cwd": folder.parent, **options}
    return subprocess.Popen(line, stderr=subprocess.PIPE, text=True, **given)


def said(result: CommandResult) -> str:
    assert result.output is not None
    return result.output.read_text()


def fail(call: Callable[[], object], label: str = "01-step") -> CommandFailedError:
    with pytest.raises(CommandFailedError) as caught, step_context(label):
        call()
    return caught.value


def broken_off(call: Callable[[], object], end: Callable[[], object], after: float = 0.2) -> str:
    """Return why a command fails that somebody ends from outside, and see that it does so soon."""
    timer = threading.Timer(after, end)
    timer.start()
    began = time.monotonic()
    said = refusal(call)
    timer.join()
    assert time.monotonic() - began < 60
    return said


def shell(script: str) -> list[str]:
    """Let the shell of a container, which is not the lab's, read a script."""
    return ["sh", "-c", script]
