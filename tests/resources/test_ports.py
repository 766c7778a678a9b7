"""Steps that use the port of a service, in whole runs."""

import json
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import resources
from benchyard.case.loading import load
from benchyard.process.labels import OWNER, labelled
from tests.conftest import MakeCase, RunBenchyard, eventually
from tests.resources.containers import start_lab

ONCE = ("--direct", "--runs", "1", "--cooldown", "0")
SERVE = [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", "${port}"]
GET = (
    "import sys, urllib.request as r; "
    "print(r.urlopen('http://127.0.0.1:' + sys.argv[1] + '/words.txt').read().decode())"
)
#: Accepts a connection and dies of it a moment later, the other end still open.
FRAIL = """
import socket, sys, time
with socket.create_server(('127.0.0.1', int(sys.argv[1]))) as server:
    server.accept()
    server.accept()
    sys.exit('overloaded')
"""


@pytest.fixture
def make_case(case_folder: MakeCase) -> Callable[..., Path]:
    """Write a case with services and steps of ``Process``, and return its folder."""

    def make(services: Mapping[str, Sequence[str]], *steps: Mapping[str, Any]) -> Path:
        settings = {
            name: {"class": "Service", "arguments": line} for name, line in services.items()
        }
        return case_folder("served", *steps, data={"words.txt": "hello\n"}, resources=settings)

    return make


def process(code: str, *arguments: str, **keys: Any) -> dict[str, Any]:
    parameters = {"arguments": [sys.executable, "-c", code, *arguments]}
    return {"resource": "Process", "command": "execute", "parameters": parameters, **keys}


def record(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "results" / "run_1" / "run.json").read_text())


def test_a_program_asks_two_services_that_no_step_names(
    make_case: Callable[..., Path], run_benchyard: RunBenchyard
) -> None:
    folder = make_case(
        {"one": SERVE, "other": SERVE},
        process(GET, "${port:one}"),
        process(GET, "${port:other}", check={"pattern": "hello"}),
    )
    ended = run_benchyard("run", folder, *ONCE)
    assert ended.returncode == 0, ended.stderr
    told = record(folder)
    assert [(p["phase"], p["resource"]) for p in told["phases"]] == [
        *(("initialize", name) for name in ("one", "Process", "other")),
        *((phase, "one") for phase in ("start", "ready")),
        *((phase, "Process") for phase in ("start", "ready")),
        *((phase, "other") for phase in ("start", "ready")),
        *(("stop", name) for name in ("other", "Process", "one")),
    ]
    assert (folder / "results" / "run_1" / "one" / "service.log").exists()
    assert told["steps"][0]["parameters"]["arguments"][-1] == "${port:one}"


def test_a_crash_ends_who_asks_and_the_next_attempt_gets_a_new_one(
    make_case: Callable[..., Path], run_benchyard: RunBenchyard
) -> None:
    code = "import socket, sys, time; socket.create_connection(('127.0.0.1', int(sys.argv[1]))); "
    folder = make_case(
        {"frail": [sys.executable, "-c", FRAIL, "${port}"]},
        process(code + "time.sleep(600)", "${port:frail}", retries=1),
    )
    ended = run_benchyard("run", folder, *ONCE)
    assert ended.returncode == 1
    attempts = record(folder)["steps"][0]["attempts"]
    assert len(attempts) == 2
    for attempt in attempts:
        message = attempt["error"]["message"]
        assert message.startswith("'frail', whose port the step uses, ended: exit code 1")
        assert message.endswith("overloaded")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Process", "a Process serves at no port of this host"),
        ("wbe", "unknown resource 'wbe'; did you mean 'web'?"),
    ],
)
def test_a_port_that_nobody_has_is_refused_before(
    make_case: Callable[..., Path], name: str, said: str
) -> None:
    folder = make_case({"web": SERVE}, process(GET, f"${{port:{name}}}"))
    loaded = load(folder / "metadata.json", resources.find())
    assert any(said in str(problem) for problem in loaded.problems)


@pytest.mark.slow
def test_kill_9_of_the_lab_leaves_no_service(make_case: Callable[..., Path]) -> None:
    folder = make_case({"web": SERVE}, process("import time; time.sleep(600)", "${port:web}"))
    with start_lab(folder) as lab:

        def children() -> int:
            return sum(owner.startswith(f"{lab.pid}:") for _, owner in labelled(OWNER))

        log = folder / "results" / "run_1" / "web" / "service.log"
        try:
            assert eventually(log.exists, 30)
            assert eventually(lambda: children() > 2, 30)
        finally:
            lab.send_signal(signal.SIGKILL)
    assert eventually(partial(lambda: not children()), 30), "a child outlived the lab"
