"""What a fresh clone brings to a server, by Prefect's own command and by ours."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from flows.lab import api
from tests.flows.lab.labs import Shell, make_checkout
from tests.ports import free_port

pytestmark = [pytest.mark.slow, pytest.mark.lab]

DEPLOYMENTS = {
    "execute-case/testbed",
    "execute-suite/nightly",
    "publish/every-15-minutes",
    "housekeeping/weekly",
}


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    base = tmp_path_factory.mktemp("deploying")
    (base / "home").mkdir()
    return Shell(base / "home", make_checkout(base / "checkout"))


def prefect(shell: Shell, url: str, *arguments: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-m", "prefect", "--no-prompt", *arguments],
        cwd=shell.checkout,
        env={**shell.environment, "PREFECT_API_URL": url, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr + ended.stdout
    return ended.stdout


def test_a_fresh_clone_is_deployed_by_prefect_s_own_command(
    shell: Shell, prefect_server: str
) -> None:
    with api.client() as client:
        api.ensure_pools(client)

    said = prefect(shell, prefect_server, "deploy", "--all")

    assert all(name in said for name in DEPLOYMENTS)


def test_another_root_is_what_the_forms_and_the_flow_runs_have(
    shell: Shell, prefect_server: str, tmp_path: Path
) -> None:
    folder = tmp_path / "mine" / "one"
    folder.mkdir(parents=True)
    first = shell.checkout / "cases" / "examples" / "first" / "metadata.json"
    document = json.loads(first.read_text())
    step = {"@id": "a", "name": "a", "resource": "Process", "command": "execute"}
    document["steps"] = [{**step, "parameters": {"arguments": ["true"]}}]
    (folder / "metadata.json").write_text(json.dumps(document))

    ended = shell.run(
        "deploy", "--json", "--root", tmp_path / "mine", PREFECT_API_URL=prefect_server
    )

    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    assert {one["name"] for one in told["deployments"]} == DEPLOYMENTS
    assert all(one["page"].startswith("http://") for one in told["deployments"])
    assert told["cases"] == [str(folder)]


def test_a_flow_that_is_not_there_is_one_sentence(
    shell: Shell, prefect_server: str, tmp_path: Path
) -> None:
    file = tmp_path / "prefect.yaml"
    file.write_text("deployments: [{name: x, entrypoint: 'flows/nothing.py:x'}]")

    ended = shell.run("deploy", "--prefect-yaml", file, PREFECT_API_URL=prefect_server)

    assert ended.returncode == 1
    assert len(ended.stderr.splitlines()) == 1
    assert f"Prefect could not deploy {file}" in ended.stderr


def test_a_server_that_does_not_answer_is_one_sentence(shell: Shell) -> None:
    url = f"http://127.0.0.1:{free_port()}/api"

    ended = shell.run("deploy", PREFECT_API_URL=url)

    assert ended.returncode == 1
    why = f"no Prefect server answers at {url}; is the lab up, and PREFECT_API_URL right?"
    assert ended.stderr == f"benchyard: {why}\n"
