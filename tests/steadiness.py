# ruff: noqa: T201 - its verdict is printed
"""What failed is executed once more, alone: a plugin that keeps a ledger, and who reads it.

``pytest -p tests.steadiness`` writes down what was executed and what failed, in the file that
``BENCHYARD_LEDGER`` names; ``python -m tests.steadiness LEDGER STATUS [FILE]`` gives the verdict,
and adds it to a file if it is good.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pytest

LEDGER = "BENCHYARD_LEDGER"
#: More than so many are no exceptions.
MOST = 3
_TESTS_FAILED = int(pytest.ExitCode.TESTS_FAILED)


@dataclass(slots=True)
class Ledger:
    """What became of one execution of pytest.

    Args:
        status: Its exit code, as it says itself at its end.
        broken: What makes its verdict worthless: modules that could not be collected, workers
            that died.
        left_out: Tests that were collected and never came to an end.
    """

    status: int = -1
    passed: int = 0
    failed: list[str] = field(default_factory=list[str])
    broken: list[str] = field(default_factory=list[str])
    left_out: list[str] = field(default_factory=list[str])


# -- keeping it


def pytest_configure(config: pytest.Config) -> None:
    where = os.environ.pop(LEDGER, None)  # tests that execute pytest write into no ledger of ours
    if where and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Keeper(Path(where)))


class _Keeper:
    """Hears of every test, in the process that tells them apart (xdist's controller)."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._collected: set[str] = set()
        self._ended: set[str] = set()
        self._failed: dict[str, None] = {}
        self._passed: set[str] = set()
        self._broken: list[str] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._collected.update(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        self._collected.update(ids)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object | None) -> None:
        if error:
            self._broken.append(f"the worker {node.gateway.id} died: {error}")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._broken.append(f"{report.nodeid or 'the tests'}: cannot be collected")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed[report.nodeid] = None
        elif report.when == "call" and report.passed:
            self._passed.add(report.nodeid)
        if report.when == "teardown":
            self._ended.add(report.nodeid)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, exitstatus: int) -> None:
        ledger = Ledger(
            int(exitstatus),
            len(self._passed - self._failed.keys()),
            list(self._failed),
            self._broken,
            sorted(self._collected - self._ended),
        )
        self._file.write_text(json.dumps(asdict(ledger)), encoding="utf-8")


# -- reading it


def read(file: Path) -> Ledger:
    """Read a ledger; of an execution that did not come to its end there is none."""
    try:
        return Ledger(**json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return Ledger(broken=["pytest did not come to its end"])


def objections(ledger: Ledger, status: int) -> list[str]:
    """Say what stands against an execution, other than single tests that failed."""
    found = list(ledger.broken)
    if ledger.left_out:
        found.append(f"{len(ledger.left_out)} tests never ended: {', '.join(ledger.left_out[:5])}")
    if status not in {0, _TESTS_FAILED} or (ledger.status != status and not found):
        found.append(f"pytest ended with exit code {status}, and says {ledger.status}")
    if status == 0 and ledger.failed:
        found.append("pytest calls it a success, although tests failed")
    if status == _TESTS_FAILED and not ledger.failed and not found:
        found.append("pytest calls it a failure, and no test failed")
    if status == 0 and not ledger.passed:
        found.append("no test was executed")
    return found


def execute_alone(tests: Iterable[str]) -> tuple[Ledger, int]:
    """Execute tests one after another in one process, after everything else."""
    with tempfile.TemporaryDirectory(prefix="benchyard-again-") as folder:
        file = Path(folder, "ledger.json")
        environment = {**os.environ, LEDGER: str(file)}
        plugins = ("-p", "tests.steadiness", "-p", "xdist")
        command = [sys.executable, "-m", "pytest", *plugins, "-n", "0", *tests]
        status = subprocess.run(command, env=environment, check=False).returncode
        return read(file), status


def judge(ledger: Ledger, status: int) -> list[str]:
    """Say what stands against a run of all tests; what failed has been executed once more.

    What passed then is printed, for whoever mends its cause next.
    """
    found = objections(ledger, status)
    if len(ledger.failed) > MOST:
        found.append(f"{len(ledger.failed)} tests failed; more than {MOST} are not tried again")
    if found or not ledger.failed:
        return found
    print(f"\nOnce more, alone: {' '.join(ledger.failed)}", flush=True)
    again, status = execute_alone(ledger.failed)
    found = objections(again, status)
    found += [f"{test} failed twice" for test in again.failed]
    if not found and again.passed != len(ledger.failed):
        found.append(f"{again.passed} of {len(ledger.failed)} were executed once more")
    return found


def main(arguments: Sequence[str]) -> int:
    """Print the verdict; return 0 if the run passes."""
    ledger, status = read(Path(arguments[0])), int(arguments[1])
    found = judge(ledger, status)
    for one in found:
        print(f"FAILED: {one}")
    if found:
        return 1
    lines = [f"UNSTEADY: {test}" for test in ledger.failed]
    lines.append(f"{ledger.passed + len(lines)} passed, {len(lines)} of them unsteady")
    print("\n".join(lines))
    for kept in arguments[2:]:
        with Path(kept).open("a", encoding="utf-8") as stream:
            stream.write("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
