"""A real engine, what the tests leave there, and containers of the plain base image."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchyard.case.resource import CommandResult, Workspace, step_context
from benchyard.core.errors import CommandFailedError
from benchyard.process.labels import this_owner
from resources._containers.container_environment import ensure_network, leave_network
from resources._containers.engine import connect
from resources.container import AnyContainerSettings, Container

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


def ours(run: Path | str) -> dict[str, list[str]]:
    """Return what is left at the engine of a run: its label is the folder of its workspace."""
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
def container_in(workspace: Workspace, **settings: Any) -> Generator[Container]:
    """Bring a container up, and have it stopped."""
    given = dict[str, Any](image=BASE, command=WAITS) | settings
    made = Container(AnyContainerSettings(**given), workspace)
    made.initialize()
    try:
        made.start()
        made.wait_until_ready()
        yield made
    finally:
        made.stop()


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


@pytest.fixture(scope="module")
def run_of_all(tmp_path_factory: pytest.TempPathFactory) -> Generator[Workspace]:
    """Give the run that all tests of a module are of.

    It keeps its network: to make and to remove one takes longer than most tests.
    """
    run = workspace_in(tmp_path_factory.mktemp("run"))
    with closing(connect()) as client:
        ensure_network(client, run.labels)
        yield run
        leave_network(run.labels, client)
    assert ours(run_of(run)) == NOTHING


@pytest.fixture
def space(run_of_all: Workspace, tmp_path: Path) -> Iterator[Workspace]:
    """Give a workspace, and see that no container and no volume stays at the engine."""
    yield replace(workspace_in(tmp_path), labels=run_of_all.labels)
    left = ours(run_of(run_of_all))
    assert left == {**NOTHING, "networks": left["networks"]}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Generator[Container]:
    """Give a container that waits, for all tests of a module that leave it as it is."""
    with container_in(workspace_in(tmp_path_factory.mktemp("plain"))) as made:
        yield made


def said(result: CommandResult) -> str:
    assert result.output is not None
    return result.output.read_text()


def fail(call: Callable[[], object], label: str = "01-step") -> CommandFailedError:
    with pytest.raises(CommandFailedError) as caught, step_context(label):
        call()
    return caught.value


def shell(script: str) -> list[str]:
    """Let the shell of a container, which is not the lab's, read a script."""
    return ["sh", "-c", script]
