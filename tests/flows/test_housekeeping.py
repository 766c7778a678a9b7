"""The flow that keeps house, against a real server."""

import math
import os
import subprocess
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from prefect import State, flow
from prefect.client.orchestration import get_client
from prefect.exceptions import ParameterTypeError
from prefect.states import Running

from benchyard.core.wording import code
from benchyard.host.testbed import hold_testbed
from benchyard.process import labels
from benchyard.process.labels import this_owner
from benchyard.publish.housekeeping import HousekeepingReport, Old, Spool
from benchyard.results.layout import DONE, run_folder
from flows.housekeeping import housekeeping
from tasks import pools as busy
from tasks.housekeeping import KEY, markdown
from tests.children import ending
from tests.conftest import MakeCase, eventually, is_gone, process
from tests.flows.conftest import ask

pytestmark = pytest.mark.slow

DAY = 86_400


@pytest.fixture
def case(case_folder: MakeCase, prefect_server: str) -> Path:
    """Make a case with two old runs and a young one."""
    assert prefect_server
    folder = case_folder("some", process("work", "true"))
    for run, days in enumerate((300, 200, 1), start=1):
        made = run_folder(folder / "results", run)
        made.mkdir(parents=True)
        (made / "run.json").write_text("{}")
        (made / DONE).touch()
        at = time.time() - days * DAY
        os.utime(made / "run.json", (at, at))
    return folder


def keep_house(case: Path, **parameters: Any) -> dict[str, Any]:
    wanted = {"root": str(case.parent), "keep_newest": 1, "younger_than_days": 100, **parameters}
    state = cast("State[Any]", housekeeping(**wanted, return_state=True))
    return cast("dict[str, Any]", state.result())


def runs(case: Path) -> list[str]:
    return sorted(path.name for path in (case / "results").glob("run_*"))


@pytest.mark.parametrize(
    "wrong", [{"keep_newest": 0}, {"younger_than_days": -1.0}, {"younger_than_days": math.nan}]
)
def test_what_would_leave_a_case_without_a_run_is_refused(case: Path, wrong: Any) -> None:
    with pytest.raises(ParameterTypeError, match=next(iter(wrong))):
        keep_house(case, **wrong)
    assert runs(case) == ["run_1", "run_2", "run_3"]


def test_old_runs_are_named_also_in_the_ui_and_stay_unless_it_is_wanted(case: Path) -> None:
    told = keep_house(case)
    assert [Path(one["folder"]).name for one in told["old"]] == ["run_1", "run_2"]
    assert runs(case) == ["run_1", "run_2", "run_3"]
    (artifact,) = ask("/artifacts/latest/filter", {"artifacts": {"key": {"any_": [KEY]}}})
    assert "run_1`: 300 days old" in str(artifact["data"])

    told = keep_house(case, remove_old=True)
    assert told["removed"]
    assert runs(case) == ["run_3"]


def test_what_a_dead_lab_left_is_removed(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # By a label of its own: each lab that a test beside this one starts removes what it finds.
    label = "BENCHYARD_OWNER_HERE"
    monkeypatch.setattr(labels, "OWNER", label)
    dead = "1:1:" + this_owner().rpartition(":")[2]
    with ending(subprocess.Popen(["/bin/sleep", "300"], env={**os.environ, label: dead})) as left:
        told = keep_house(case)
        assert eventually(lambda: is_gone(left.pid), 5)

    assert f"process {left.pid}" in told["leftovers"]


def test_it_does_not_disturb_what_is_measured(case: Path) -> None:
    with hold_testbed("measuring", wait=False):
        state = cast(
            "State[Any]", housekeeping(root=str(case.parent), wait=False, return_state=True)
        )

    assert state.is_failed()
    assert "this host is measuring already" in str(state.message)


def test_flow_runs_that_nobody_executes_are_named(
    case: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @flow
    def idle() -> None:
        """Do nothing."""

    monkeypatch.setattr(busy, "_LONG", timedelta(0))
    with get_client(sync_client=True) as api:
        lost = api.create_flow_run(idle, name="lost", state=Running())
        told = keep_house(case)
        assert any(str(lost.id) in one and "lost" in one for one in told["stuck"])
        api.delete_flow_run(lost.id)
        assert not any(
            str(lost.id) in str(one) for one in busy.stuck_flow_runs(api, datetime.now(UTC))
        )


def test_nothing_that_a_name_holds_is_markdown_or_html() -> None:
    evil = "<img src=x onerror=alert(1)>`| **bold**\n# title"
    text = markdown(
        HousekeepingReport(
            spools=(Spool(evil, 1, 2.0, 1),),
            old=(Old(Path("/") / evil, 1.0, 1),),
            leftovers=(evil,),
            stuck=(evil,),
        )
    )

    for name in (evil, f"/{evil}"):
        text = text.replace(code(name), "")
    assert "<" not in text
    assert "\n# title" not in text
