"""What all tests share: isolation from this host's lab and Prefect, needs, cases, the command."""

import gc
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import settings

from benchyard.process.labels import start_time
from tests.databases import put_database
from tests.ports import free_port

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
    BENCHYARD_HOME=str(_HOME / "lab"),
    # Tests share their machine: what waits beside others is as right as all else there.
    BENCHYARD_CPU_WAIT="1",
)
for _name in (
    *("PREFECT_API_URL", "PREFECT_PROFILE", "PREFECT_PROFILES_PATH"),
    # Whose job these tests are must not be that of the commands that they call.
    *("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITLAB_CI"),
):
    os.environ.pop(_name, None)

# A flow that is imported before Prefect is a plain function. Its logging keeps the stderr of the
# moment when it is set up, by this module: a test's own would be closed when others log.
import_module("prefect.main")

# What starts the tests in the background may have them ignore these, and so all that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

#: Set to ``all``, it makes every skipped test a failed one: for a machine that must have all.
REQUIRE = "BENCHYARD_REQUIRE"
#: Needs that the caller has hidden, between blanks: tests that have one must skip, no others may.
HIDDEN = "BENCHYARD_HIDDEN"
#: Seconds that a test may take, with its fixtures; of all others pyproject.toml says it.
LIMITS = {"soak": 14_400, "long": 1_800}
#: Seconds between two looks at what takes long.
_LONGEST_PAUSE = 0.25

#: Seconds that Prefect may take to record what it was told: a request that waits for SQLite may
#: take a minute.
RECORDED = 150.0

#: Property tests try so many examples while one works, and the usual hundred where all must hold.
settings.register_profile("quick", max_examples=25, deadline=None)
settings.register_profile("thorough", max_examples=100, deadline=None)
_QUICK = os.environ.get(REQUIRE) != "all"
settings.load_profile("quick" if _QUICK else "thorough")

_locks = count(1)

MakeCase = Callable[..., Path]
RunBenchyard = Callable[..., "subprocess.CompletedProcess[str]"]


def pytest_unconfigure() -> None:
    shutil.rmtree(_HOME, ignore_errors=True)


# -- collection and order


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without garbage collection, which takes half of the time.

    Each of its full turns looks at all modules and tests, and nothing of these goes away.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put what takes longest first: labs, then all files with slow tests.

    What is long is slow too: ``-m "not slow"`` takes the place of the marks in pyproject.toml.
    """
    hidden = os.environ.get(HIDDEN, "").split()
    for item in items:
        for mark, seconds in LIMITS.items():
            if item.get_closest_marker(mark):
                item.add_marker("slow")
                item.add_marker(pytest.mark.timeout(seconds))
        if not set(hidden).isdisjoint(_needs_of(item)):
            item.add_marker("hidden")
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (not item.get_closest_marker("lab"), item.path not in slow))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Have two workers more than there are CPUs: tests wait for servers and containers."""
    return (os.cpu_count() or 1) + 2


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object | None:
    """Keep a file's tests on one worker of xdist, and on one and the same all that bring up a lab.

    Only with ``--dist loadscope``. Two labs beside each other on a small machine answer nobody.
    (xdist's own groups are lost with this pytest: it writes them behind ids that pytest does not
    take back.)
    """
    if config.getoption("dist") != "loadscope":
        return None
    config.option.loadscopereorder = False  # what takes longest stays first

    import xdist.scheduler  # noqa: PLC0415 # pyright: ignore[reportMissingTypeStubs] - only where it is used

    class Scheduling(xdist.scheduler.LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return "lab" if _brings_up_a_lab(config.rootpath / file) else file

    return Scheduling(config, log)


@cache
def _brings_up_a_lab(file: Path) -> bool:
    return "pytest.mark.lab" in file.read_text()


# -- needs


#: Of the test under way.
_needs: list[str] = []


def _needs_of(item: pytest.Item) -> list[str]:
    return [need for mark in item.iter_markers("requires") for need in mark.args]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip before any fixture starts something."""
    _needs[:] = _needs_of(item)
    for need in _needs:
        reason = missing(need)
        if reason:
            pytest.skip(f"needs {need}: {reason}")


def program(name: str) -> str:
    """Return the path of a program that the test under way declares as a need.

    A test that does not declare it is skipped nowhere: it fails, or waits, where there is none.
    """
    assert name in _needs, f"the test lacks its mark: pytest.mark.requires({name!r})"
    return shutil.which(name) or name


@cache
def missing(need: str) -> str | None:
    """Say why ``need`` is not met here, or nothing if it is.

    Args:
        need: ``mount``, ``unshare``, ``docker``, ``azurite``, ``postgresql``, ``image:NAME`` (of
            tests/images), ``module:NAME``, or the name of a program.
    """
    own = {
        "mount": lambda: _quietly("unshare", "--mount", "mount", "-t", "tmpfs", "x", str(_HOME)),
        "unshare": lambda: _quietly("unshare", "--uts", "--net", "true"),
        "docker": lambda: _quietly("docker", "info"),
        "azurite": _no_azurite,
        "postgresql": _no_postgresql,
    }
    if need in own:
        return own[need]()
    kind, _, name = need.rpartition(":")
    if kind == "image":
        return _no_image(name)
    if kind == "module":
        return None if find_spec(name) else f"there is no Python module '{name}'"
    return None if shutil.which(name) else f"there is no program '{name}' on PATH"


def _no_azurite() -> str | None:
    folder = Path(__file__).parent / "emulators" / "azurite"
    if (folder / "node_modules" / ".bin" / "azurite-table").exists():
        return None
    return f"install it: npm install --no-package-lock --prefix {folder}"


def _no_postgresql() -> str | None:
    if any(Path("/usr/lib/postgresql").glob("*/bin/initdb")) or shutil.which("initdb"):
        return None
    return "there is no program 'initdb'; install the package postgresql"


def _no_image(name: str) -> str | None:
    from tests.images import build  # noqa: PLC0415 - only tests that measure containers

    reason = build.missing(name)
    return f"{reason}; build it: python tests/images/build.py {name}" if reason else None


def _quietly(*arguments: str) -> str | None:
    try:
        ended = subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return (ended.stderr.strip() or "it failed") if ended.returncode else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if not item.get_closest_marker("hidden"):
        _refuse_skip(report)
    elif report.when == "setup" and not report.skipped:
        _fail(report, f"{' '.join(_needs_of(item))}: some of it is hidden, and yet it is no skip")
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _refuse_skip(report)
    return report


def _refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
    if os.environ.get(REQUIRE) == "all":
        _fail(report, f"{REQUIRE}=all, and yet: {reason}")
    elif HIDDEN in os.environ:
        _fail(report, f"it needs nothing of {HIDDEN}, and yet: {reason}")


def _fail(report: pytest.TestReport | pytest.CollectReport, why: str) -> None:
    report.outcome = "failed"
    report.longrepr = why


# -- isolation and helpers


def eventually(condition: Callable[[], object], timeout: float = 10.0) -> bool:
    """Wait until ``condition`` holds; tell whether it did in time.

    What takes long is looked at less and less often: a condition may be a request to a server that
    has better things to do.
    """
    deadline = time.monotonic() + timeout
    pause = 0.002
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
        pause = min(1.2 * pause, _LONGEST_PAUSE)
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


def ctrl_c() -> None:
    """Press Ctrl-C; the main thread, which alone hears it, does so before this returns."""
    os.kill(os.getpid(), signal.SIGINT)
    if threading.current_thread() is not threading.main_thread():
        time.sleep(0.1)


def is_gone(pid: int) -> bool:
    """Tell whether a process has ended; a zombie has."""
    return start_time(pid) is None


def open_below(*folders: Path) -> list[str]:
    """Return what this process has open of these folders and of all below them.

    How many descriptors it has says nothing: threads of libraries open and close what they need.
    """
    found: list[str] = []
    for one in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # of a thread, and closed meanwhile
            found.append(str(one.readlink()))
    return [path for path in found if any(map(Path(path).is_relative_to, folders))]


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


@pytest.fixture
def run_here(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> RunBenchyard:
    """Run the command line in this process, where only its exit code and words matter."""
    from tests.here import runner  # noqa: PLC0415 - most tests do without commands

    return runner(capsys, monkeypatch, tmp_path)


def _give_websockets_their_own_chance() -> None:
    """Keep Prefect's threads off the generator of random numbers that Hypothesis watches.

    Each connection for events sends a ping of random bytes every 20 seconds until this process
    ends; Hypothesis takes that for a strategy that draws numbers behind its back.
    """
    import websockets.asyncio.connection  # noqa: PLC0415 - most tests do without Prefect
    import websockets.client  # noqa: PLC0415

    for module in (websockets.asyncio.connection, websockets.client):
        vars(module)["random"] = random.Random()  # noqa: S311 - no secret


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
    from prefect.testing import utilities  # noqa: PLC0415 - most tests do without Prefect

    from benchyard.lab.server import SPARING  # noqa: PLC0415 - most tests do without Prefect
    from tasks import artifacts  # noqa: PLC0415 - most tests do without Prefect

    _give_websockets_their_own_chance()
    # Prefect removes it, after this home is gone.
    folder = tempfile.mkdtemp(prefix="benchyard-tests-")
    put_database(Path(folder, "prefect-test.db"))
    with (
        mock.patch.dict(os.environ, SPARING),
        mock.patch.object(artifacts, "SECONDS", 90.0),
        mock.patch.object(utilities, "mkdtemp", return_value=folder),
        mock.patch.object(utilities, "_find_available_port", free_port),
        utilities.prefect_test_harness(server_startup_timeout=120),
        temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}),
    ):
        yield str(PREFECT_API_URL.value())
