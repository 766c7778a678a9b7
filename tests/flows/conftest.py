"""What tests of flows share: a lab's home of their own, questions to Prefect, and suites."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
from prefect import State
from prefect.client.orchestration import get_client

from benchyard.results.folders import Results
from benchyard.results.record import RunRecord, read_record
from flows.execute_suite import execute_suite
from tests.conftest import MakeCase, process


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BENCHYARD_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def ask(path: str, body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what the Prefect server finds, as it answers by HTTP."""
    with get_client(sync_client=True) as client:
        return client.request("POST", cast("Any", path), json=body).json()


def flow_run_of(state: State[Any]) -> str:
    assert state.state_details.flow_run_id is not None
    return str(state.state_details.flow_run_id)


def children(flow_run: str) -> list[dict[str, Any]]:
    wanted = {"flow_runs": {"parent_flow_run_id": {"any_": [flow_run]}}, "limit": 200}
    return ask("/flow_runs/filter", wanted)


def record(case: Path, run: int = 1) -> RunRecord:
    return read_record(case / "results" / f"run_{run}")


def done(case: Path) -> list[int]:
    """Return the numbers of a case's runs that are done."""
    return [*Results(case / "results").done()]


@dataclass
class Ended:
    """A flow run of a suite that has ended, and the summary that it wrote."""

    state: State[Any]
    summary: dict[str, Any]

    @property
    def message(self) -> str:
        return str(self.state.message)

    @property
    def cases(self) -> dict[str, dict[str, Any]]:
        return {line["case"]: line for line in self.summary["cases"]}

    @property
    def order(self) -> list[tuple[str, list[int]]]:
        return [(turn["case"], turn["runs"]) for turn in self.summary["turns"]]


@dataclass
class Suite:
    """Cases of one step each, below one folder."""

    make_case: MakeCase
    home: Path
    root: Path

    def add(self, *names: str, script: str = "true", **more: Any) -> Path:
        """Make a case of each name; return the folder of the last one."""
        return [self.make_case(name, process("s", script), **more) for name in names][-1]

    def state(self, **parameters: Any) -> State[Any]:
        """Execute all cases as one flow run; return how it ended."""
        few = {"root": str(self.root), "runs": 1, "cooldown": 0.0, "publish": ()}
        asked = {**few, "no_control": True, **parameters}
        return cast("State[Any]", execute_suite(**asked, return_state=True))

    def run(self, *, succeeds: bool = True, **parameters: Any) -> Ended:
        """Execute all cases, and check whether the flow run completes."""
        state = self.state(**parameters)
        assert state.is_completed() == succeeds, state.message
        return Ended(state, self.summaries()[flow_run_of(state)])

    def summaries(self) -> dict[str, dict[str, Any]]:
        """Return the summaries that were written, by the ids of their flow runs."""
        files = (self.home / "suites").iterdir()
        return {file.stem: json.loads(file.read_text()) for file in files}


@pytest.fixture
def suite(prefect_server: str, case_folder: MakeCase, home: Path, tmp_path: Path) -> Suite:
    assert prefect_server
    return Suite(case_folder, home, tmp_path / "cases")
