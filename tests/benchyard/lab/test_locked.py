"""Who may do what at a lab that is up with its defaults: its user, and nobody else."""

import json
import os
import stat
import subprocess
import sys
from contextlib import closing
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from tests.answering import Quiet, serving
from tests.benchyard.lab.labs import FINAL, RunningLab, Shell, status
from tests.browsing import Browser

pytestmark = [pytest.mark.slow, pytest.mark.lab]

#: What another user of the host tries; prints what was answered.
INTRUDER = """
import encodings.idna, json, os, sys, urllib.error, urllib.request
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
for path in sys.argv[2:]:
    try:
        with open(path) as file:
            print(path, "was read", file.read())
    except OSError as error:
        print(path, type(error).__name__)
for method, path in (("POST", "/flow_runs/filter"), ("POST", "/deployments/filter"),
                     ("GET", "/admin/settings"), ("POST", "/flows/")):
    body = b'{"name": "theirs"}' if method == "POST" else None
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(sys.argv[1] + path, body, headers, method=method)
    try:
        with urllib.request.urlopen(request) as answer:
            print(path, answer.status)
    except urllib.error.HTTPError as error:
        print(path, error.code)
"""
#: A page that tries what a page can: with its own kind of request, and with one without a kind.
PAGE = """<!doctype html><title>trying</title><script>
const wanted = JSON.stringify({parameters: {case: "cases/quick"}, state: {type: "SCHEDULED"},
  job_variables: {command: "touch TOUCHED"}});
const ways = [
  {method: "POST", body: wanted, headers: {"content-type": "application/json"}},
  {method: "POST", body: new Blob([wanted]), mode: "no-cors"},
  {method: "POST", body: wanted, headers: {"content-type": "text/plain"}, mode: "no-cors"},
];
const told = [];
const socket = () => new Promise((done) => {
  const opened = new WebSocket("API/events/out".replace("http", "ws"), "prefect");
  opened.onopen = () => opened.send(JSON.stringify({type: "auth", token: "guessed"}));
  opened.onmessage = () => done("heard");
  opened.onclose = (end) => done(end.code);
});
(async () => {
  for (const way of ways) {
    try {
      told.push((await fetch("API/deployments/ID/create_flow_run", way)).type);
    } catch (error) { told.push("refused"); }
  }
  told.push(await socket());
  document.title = "tried " + told.join(" ");
})();
</script>"""


def flow_runs(lab: RunningLab) -> int:
    return int(lab.ask("/flow_runs/count", {}))


def test_the_password_is_its_user_s_alone(lab: RunningLab, shell: Shell) -> None:
    folder = shell.home / "lab"  # that was there before, and open to all
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "password").stat().st_mode) == 0o600
    assert lab.told["password_file"] == str(folder / "password")
    # What is no terminal may be a log that others read.
    assert lab.password not in lab.said + json.dumps(lab.told)


@pytest.mark.parametrize(
    ("password", "headers", "expected"),
    [
        ("right", {}, 200),
        (None, {}, 401),
        ("benchyard:guessed", {}, 401),
        # A foreign page, or one whose name was made to lead here, has no password to show.
        (None, {"origin": "http://evil.example"}, 401),
        (None, {"host": "evil.example:4200"}, 401),
    ],
)
def test_who_is_answered(
    lab: RunningLab, password: str | None, headers: dict[str, str], expected: int
) -> None:
    shown = lab.password if password == "right" else password  # noqa: S105 - none
    assert status(lab.url, shown, **headers) == expected


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_of_the_host_reads_and_starts_nothing(lab: RunningLab, shell: Shell) -> None:
    before = flow_runs(lab)
    processes = [f"/proc/{pid}/environ" for pid in shell.left()]
    files = [str(shell.home / "lab" / name) for name in ("password", "up.lock", "prefect.db")]
    ended = subprocess.run(
        [sys.executable, "-I", "-c", INTRUDER, lab.url, *files, *processes],
        cwd="/",
        env={},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = ended.stdout.splitlines()
    assert len(lines) == len(files) + len(processes) + 4, ended.stderr
    assert "was read" not in ended.stdout
    assert {line.split()[1] for line in lines[-4:]} == {"401"}
    assert flow_runs(lab) == before


@pytest.mark.requires("chromium", "chromedriver")
def test_a_page_of_another_origin_starts_and_hears_nothing(lab: RunningLab, shell: Shell) -> None:
    touched = shell.home / "touched"
    page = PAGE.replace("API", lab.url).replace("TOUCHED", str(touched))
    page = page.replace("ID", str(lab.deployment()["id"]))
    before = flow_runs(lab)

    class Page(Quiet, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(page.encode())

    with serving(Page) as port, closing(Browser(lab.url.removesuffix("/api"))) as browser:
        # This browser has logged in: what the page does is done beside that.
        browser.log_in(lab.password)
        browser.driver.get(f"http://127.0.0.1:{port}/")
        title = browser.find(
            lambda: browser.driver.title if browser.driver.title.startswith("tried") else None
        )
    # A page may read that it was refused ("cors", "opaque"), and is heard no further: 1008.
    assert title == "tried cors opaque opaque 1008"
    assert flow_runs(lab) == before
    assert not touched.exists()


def test_our_own_commands_show_the_password_by_themselves(lab: RunningLab, shell: Shell) -> None:
    before = flow_runs(lab)
    ended = shell.run("deploy", "--json", "--root", "cases")
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["cases"] == lab.told["cases"]
    ended = shell.run("run", "cases/quick", "--runs", "1", "--cooldown", "0")
    assert ended.returncode == 0, ended.stderr
    assert flow_runs(lab) == before + 1


def create(lab: RunningLab, **body: Any) -> str:
    parameters = {"case": "cases/quick", "runs": 1, "cooldown": 0}
    wanted: dict[str, Any] = {"parameters": parameters, "state": {"type": "SCHEDULED"}, **body}
    path = f"/deployments/{lab.deployment()['id']}/create_flow_run"
    return str(lab.ask(path, wanted)["id"])


def test_the_worker_takes_no_command_from_a_flow_run(lab: RunningLab, shell: Shell) -> None:
    touched = shell.home / "touched"
    variables = {"command": f"touch {touched}", "env": {"LD_PRELOAD": "/tmp/x.so"}}
    flow_run = create(lab, job_variables=variables)
    assert lab.wait_for(flow_run, *FINAL) == "CRASHED"
    message = lab.flow_run(flow_run)["state"]["message"]
    assert "no job variables that choose what is executed, or how: command, env.LD_" in message
    assert not touched.exists()


def test_folders_that_the_testbed_does_not_allow(lab: RunningLab, tmp_path: Path) -> None:
    root, results = tmp_path / "root", tmp_path / "results"
    root.mkdir()
    flow_run = lab.start("cases/quick", root=str(root), results=str(results))
    assert lab.wait_for(flow_run, *FINAL) == "FAILED"
    message = lab.flow_run(flow_run)["state"]["message"]
    assert f"root '{root}'" in message
    assert f"results '{results}'" in message
    assert "--allow FOLDER" in message
    assert list(tmp_path.rglob("*")) == [root]


def test_folders_that_it_allows(lab: RunningLab, shell: Shell) -> None:
    allowed = shell.home.parent / "allowed"
    flow_run = lab.start("cases/quick", results=str(allowed / "results"))
    assert lab.wait_for(flow_run, *FINAL) == "COMPLETED"
    assert list(allowed.rglob("run.json"))
