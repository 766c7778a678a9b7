"""What a fresh clone brings to a server, by Prefect's own command and by ours."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.actions import DeploymentScheduleCreate, DeploymentUpdate
from prefect.client.schemas.responses import DeploymentResponse
from prefect.client.schemas.schedules import CronSchedule

from benchyard.core.errors import BenchyardError
from benchyard.lab.deploying import Offered, deploy
from benchyard.results.folders import Results
from tasks.prefect_internals import our_client
from tests.benchyard.lab.labs import Shell, add_case, make_shell
from tests.conftest import process
from tests.ports import free_port

pytestmark = pytest.mark.slow

DEPLOYMENTS = {
    "execute-case/testbed",
    "execute-suite/nightly",
    "publish/every-15-minutes",
    "housekeeping/weekly",
    "confirm-changes/alarms",
}
OFTEN = CronSchedule(cron="5 4 * * *", timezone="Europe/Berlin")
MONTHLY = CronSchedule(cron="0 0 1 * *", timezone="UTC")


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    return make_shell(tmp_path_factory.mktemp("deploying"))


def command(shell: Shell, url: str, *arguments: str) -> dict[str, Any]:
    """Return how a process of Prefect's own command is started in the checkout."""
    return {
        "args": [sys.executable, "-m", "prefect", "--no-prompt", *arguments],
        "cwd": shell.checkout,
        "env": {**shell.environment, "PREFECT_API_URL": url, "COLUMNS": "200"},
    }


def prefect(shell: Shell, url: str, *arguments: str) -> str:
    ended = subprocess.run(
        **command(shell, url, *arguments),
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr + ended.stdout
    return ended.stdout


@contextmanager
def prefect_worker(shell: Shell, url: str) -> Generator["subprocess.Popen[str]"]:
    with subprocess.Popen(**command(shell, url, "worker", "start", "--pool", "testbeds")) as worker:
        try:
            yield worker
        finally:
            worker.kill()


def params(**values: str) -> list[str]:
    return [word for key, value in values.items() for word in ("--param", f"{key}={value}")]


def test_a_fresh_clone_is_deployed_and_executed_by_prefect_s_own_commands(
    shell: Shell, prefect_server: str
) -> None:
    add_case(shell.checkout, "quick", "true")
    for pool in ("testbeds", "control"):
        prefect(
            shell, prefect_server, "work-pool", "create", pool, "--type", "process", "--overwrite"
        )

    said = prefect(shell, prefect_server, "deploy", "--all")
    assert all(name in said for name in DEPLOYMENTS)

    run = ("deployment", "run", "execute-case/testbed", "--watch")
    with prefect_worker(shell, prefect_server) as worker:
        prefect(shell, prefect_server, *run, *params(case="cases/quick", runs="2"))
        worker.send_signal(signal.SIGINT)
        worker.wait(60)
    assert list(Results(shell.checkout / "cases/quick/results").done()) == [1, 2]


@pytest.mark.usefixtures("prefect_server")
def test_a_flow_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "prefect.yaml"
    file.write_text("deployments: [{name: x, entrypoint: 'flows/nothing.py:x'}]")

    with pytest.raises(BenchyardError) as caught:
        deploy(file)

    assert len(str(caught.value).splitlines()) == 1
    assert f"Prefect could not deploy {file}" in str(caught.value)


def test_a_server_that_does_not_answer_is_one_sentence(shell: Shell) -> None:
    url = f"http://127.0.0.1:{free_port()}/api"

    ended = shell.run("deploy", PREFECT_API_URL=url)

    assert ended.returncode == 1
    why = f"no Prefect server answers at {url}; is the lab up, and PREFECT_API_URL right?"
    assert why in ended.stderr


@dataclass
class Again:
    """What three deploys said, and the deployments after them.

    Args:
        mine: The folder of the only case below the first one's root.
        first: The first one.
        second: The second one, with another root.
        last: The last one, a command without a root.
        found: The deployments after it.
        reset: The deployments after ``--reset``.
    """

    mine: Path
    first: Offered
    second: Offered
    last: "subprocess.CompletedProcess[str]"
    found: dict[str, DeploymentResponse]
    reset: dict[str, DeploymentResponse]


@pytest.fixture(scope="module")
def again(shell: Shell, prefect_server: str) -> Again:
    """Deploy with one root, with another, and, after a user and with a newer file, without.

    Only the last one is a process of its own: to import Prefect takes seconds.
    """
    file, mine = shell.checkout / "prefect.yaml", shell.home.parent / "mine" / "one"
    mine.mkdir(parents=True)
    example = shell.checkout / "cases" / "examples" / "first" / "metadata.json"
    document = json.loads(example.read_text())
    document["steps"] = [process("a", "true")]
    (mine / "metadata.json").write_text(json.dumps(document))
    first = deploy(file, mine.parent)
    second = deploy(file, shell.checkout / "cases" / "examples")
    with our_client() as client:
        set_by_a_user(client)
        file.write_text(newer(file))
        last = shell.run("deploy", PREFECT_API_URL=prefect_server)
        found = {name: client.read_deployment_by_name(name) for name in DEPLOYMENTS}
        deploy(file, reset=True)
        reset = {name: client.read_deployment_by_name(name) for name in DEPLOYMENTS}
    return Again(mine, first, second, last, found, reset)


def test_another_root_is_what_the_forms_and_the_flow_runs_have(again: Again) -> None:
    told = again.first
    assert {one.name for one in told.deployments} == DEPLOYMENTS
    assert all(one.page.startswith("http://") for one in told.deployments)
    assert told.cases == [str(again.mine)]


def test_what_the_server_has_survives_a_deploy_and_what_the_file_adds_comes(again: Again) -> None:
    assert again.last.returncode == 0, again.last.stderr
    nightly = again.found["execute-suite/nightly"]
    expected = {"root": "cases/examples", "pool": "testbeds", "runs": 7, "cooldown": 2}
    expected |= {"false_per_month": 1}
    assert nightly.parameters == expected
    assert set(nightly.tags) == {"benchyard", "mine"}
    told = {one.slug: (one.schedule, one.active, one.parameters) for one in nightly.schedules}
    assert told == {"nightly": (OFTEN, True, {"tags": ["fast"]}), None: (MONTHLY, False, {})}
    weekly = again.found["housekeeping/weekly"]
    assert (weekly.schedules, weekly.description) == ([], "ours")
    testbed = again.found["execute-case/testbed"]
    assert [(one.slug, one.active) for one in testbed.schedules] == [("mine", True)]


def test_what_is_not_as_the_file_says_is_named(again: Again) -> None:
    assert "benchyard deploy --reset" in again.last.stderr
    kept = dict(re.findall(r"(\S+/\S+) \((.*?)\)", again.last.stderr))
    assert kept == {
        "execute-suite/nightly": "parameter root, parameter runs, schedule nightly, "
        "schedule without a slug, tags",
        "housekeeping/weekly": "parameter root, schedule weekly, description",
        "execute-case/testbed": "parameter case, parameter root, schedule mine, description",
        "confirm-changes/alarms": "parameter root",
    }


def test_a_reset_writes_what_the_file_says(again: Again) -> None:
    nightly = again.reset["execute-suite/nightly"]
    expected = {"root": "cases", "pool": "testbeds", "runs": 9, "cooldown": 2}
    expected |= {"false_per_month": 1}
    assert (nightly.parameters, nightly.tags) == (expected, ["benchyard"])
    (schedule,) = nightly.schedules
    assert isinstance(schedule.schedule, CronSchedule)
    told = (schedule.slug, schedule.schedule.cron, schedule.active, schedule.parameters)
    assert told == ("nightly", "0 3 * * *", False, {})
    assert [one.slug for one in again.reset["housekeeping/weekly"].schedules] == ["weekly"]
    assert again.reset["execute-case/testbed"].description == "From the newer file."


def test_a_root_that_is_given_wins_and_stays(again: Again) -> None:
    assert again.second.cases == ["cases/examples/first"]
    testbed = again.found["execute-case/testbed"]
    offered = (testbed.parameter_openapi_schema or {})["properties"]["case"]["enum"]
    assert offered == again.second.cases
    assert testbed.parameters["root"] == "cases/examples"


def set_by_a_user(client: SyncPrefectClient) -> None:
    """Set what the UI's forms set."""
    nightly = client.read_deployment_by_name("execute-suite/nightly")
    parameters = {**nightly.parameters, "runs": 7}
    update = DeploymentUpdate(parameters=parameters, tags=["benchyard", "mine"])
    client.update_deployment(nightly.id, update)
    (ours,) = [schedule for schedule in nightly.schedules if schedule.slug == "nightly"]
    client.update_deployment_schedule(
        nightly.id,
        ours.id,
        active=True,
        schedule=OFTEN,
        parameters={"tags": ["fast"]},
    )
    client.create_deployment_schedules(nightly.id, [(MONTHLY, False)])
    testbed = client.read_deployment_by_name("execute-case/testbed")
    mine = DeploymentScheduleCreate(schedule=OFTEN, slug="mine")
    client.create_deployment_schedules(testbed.id, [mine])
    weekly = client.read_deployment_by_name("housekeeping/weekly")
    client.update_deployment(weekly.id, DeploymentUpdate(description="ours"))
    for schedule in weekly.schedules:
        client.delete_deployment_schedule(weekly.id, schedule.id)


def newer(file: Path) -> str:
    """Return a later version of the file: another text, another time, one more parameter."""
    document = yaml.safe_load(file.read_text())
    testbed, nightly, _publish, weekly, _alarms = document["deployments"]
    testbed["description"] = "From the newer file."
    nightly["parameters"] |= {"runs": 9, "cooldown": 2}
    nightly["schedules"][0]["cron"] = "0 3 * * *"
    weekly["schedules"][0]["cron"] = "0 13 * * 0"
    return yaml.safe_dump(document)
