"""What all tests share: isolation from this host's lab and Prefect, needs, cases, the command."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Mapping
from functools import cache
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from benchyard.labels import start_time

pytest_plugins = ["pytester"]

#: Prefect reads these once, when it is imported: they must stand before any test module does.
_HOME = Path(tempfile.mkdtemp(prefix="benchyard-tests-"))
os.environ.update(
    PREFECT_HOME=str(_HOME / "prefect"),
    PREFECT_SERVER_ALLOW_EPHEMERAL_MODE="false",
    PREFECT_SERVER_ANALYTICS_ENABLED="false",
    PREFECT_LOGGING_EXTRA_LOGGERS="benchyard",
    PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW="ignore",
    DO_NOT_TRACK="1",
    BENCHYARD_LOCK=str(_HOME / "testbed.lock"),
)
for _name in ("PREFECT_API_URL", "PREFECT_PROFILE", "PREFECT_PROFILES_PATH"):
    os.environ.pop(_name, None)

#: Set to ``all``, it makes every skipped test a failed one: for a machine that must have all.
REQUIRE = "BENCHYARD_REQUIRE"

#: Property tests try so many examples while one works, and the usual hundred where all must hold.
settings.register_profile("quick", max_examples=25, deadline=None)
settings.register_profile("thorough", max_examples=100, deadline=None)
settings.load_profile("thorough" if os.environ.get(REQUIRE) == "all" else "quick")

_locks = count(1)

MakeCase = Callable[..., Path]
RunBenchyard = Callable[..., "subprocess.CompletedProcess[str]"]


def pytest_unconfigure() -> None:
    shutil.rmtree(_HOME, ignore_errors=True)


# -- needs


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("requires"):
        for need in mark.args:
            reason = missing(need)
            if reason:
                pytest.skip(f"needs {need}: {reason}")


@cache
def missing(need: str) -> str | None:
    """Say why ``need`` is not met here, or nothing if it is.

    Args:
        need: ``mount``, ``docker``, ``module:NAME``, or the name of a program.
    """
    if need == "mount":
        return _no_mount()
    if need == "docker":
        return _no_docker()
    kind, _, name = need.rpartition(":")
    if kind == "module":
        return None if find_spec(name) else f"there is no Python module '{name}'"
    return None if shutil.which(name) else f"there is no program '{name}' on PATH"


def _no_mount() -> str | None:
    folder = tempfile.mkdtemp(dir=_HOME)
    tried = _quietly("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder)
    if tried is None:
        _quietly("umount", folder)
    return tried


def _no_docker() -> str | None:
    return _quietly("docker", "info")


def _quietly(*arguments: str) -> str | None:
    try:
        ended = subprocess.run(arguments, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return (ended.stderr.strip() or "it failed") if ended.returncode else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _refuse_skip(report)
    return report


def _refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if os.environ.get(REQUIRE) != "all" or not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
    report.outcome = "failed"
    report.longrepr = f"{REQUIRE}=all, and yet: {reason}"


# -- isolation and helpers


def eventually(condition: Callable[[], object], timeout: float = 10.0) -> bool:
    """Wait until ``condition`` holds; tell whether it did in time."""
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.002)
    return True


def process(name: str, script: str, **keys: Any) -> Mapping[str, Any]:
    """Declare a step that lets a shell read ``script``, in the run's own folder."""
    parameters = {"arguments": ["sh", "-c", script], **keys.pop("parameters", {})}
    return {
        "@id": name,
        "name": name,
        "resource": "Process",
        "command": "execute",
        "parameters": parameters,
        **keys,
    }


def ctrl_c(times: int = 1) -> None:
    """Press Ctrl-C, here and now."""
    for _ in range(times):
        signal.raise_signal(signal.SIGINT)


def is_gone(pid: int) -> bool:
    """Tell whether a process has ended; a zombie has."""
    return start_time(pid) is None


def tree(folder: Path) -> dict[str, bytes | str]:
    """Return every file below ``folder`` with its content, links with their target."""
    return {
        str(path.relative_to(folder)): str(path.readlink()) if path.is_symlink() else content(path)
        for path in sorted(folder.rglob("*"))
    }


def content(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b"<folder>"


@pytest.fixture(autouse=True)
def isolated_lock(monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test a testbed of its own: none waits for a lab that really measures here."""
    lock = _HOME / f"testbed-{next(_locks)}.lock"
    monkeypatch.setenv("BENCHYARD_LOCK", str(lock))
    return lock


@pytest.fixture
def case_folder(tmp_path: Path) -> MakeCase:
    """Make case folders: ``case_folder("name", step, step, data={"words.txt": "b\\na\\n"})``."""

    def make(
        name: str, *steps: Mapping[str, Any], data: Mapping[str, str] | None = None, **more: Any
    ) -> Path:
        folder = tmp_path / "cases" / name
        shared = folder / "data" / "shared"
        shared.mkdir(parents=True)
        for file, content in (data or {}).items():
            (shared / file).parent.mkdir(parents=True, exist_ok=True)
            (shared / file).write_text(content)
        document = {"@id": f"urn:test:{name}", "name": name, "steps": steps, **more}
        (folder / "metadata.json").write_text(json.dumps(document))
        return folder

    return make


@pytest.fixture
def run_benchyard(tmp_path: Path) -> RunBenchyard:
    """Run the command line in a process of its own, to its end."""

    def run(*arguments: str | Path, **options: Any) -> "subprocess.CompletedProcess[str]":
        program = Path(sys.executable).with_name("benchyard")
        settings: dict[str, Any] = {"cwd": tmp_path, "timeout": 120, **options}
        ended: subprocess.CompletedProcess[str] = subprocess.run(
            [program, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            **settings,
        )
        return ended

    return run


@pytest.fixture(scope="session")
def prefect_server() -> Generator[str]:
    """Run a Prefect server for all tests that need one; give the URL of its API.

    The heartbeat is off: its thread costs a second at the end of each flow run.
    """
    from prefect.settings import (  # noqa: PLC0415 - most tests do without Prefect
        PREFECT_API_URL,
        PREFECT_FLOWS_HEARTBEAT_FREQUENCY,
        temporary_settings,
    )
    from prefect.testing.utilities import prefect_test_harness  # noqa: PLC0415

    with (
        prefect_test_harness(server_startup_timeout=120),
        temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}),
    ):
        yield str(PREFECT_API_URL.value())
