"""Daemons that steps leave: they end with their step, and with the lab however that ends."""

import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from benchyard.cli import call
from benchyard.results.folders import Results
from benchyard.results.record import RunRecord, read_record
from tests.children import ending
from tests.conftest import MakeCase, eventually, is_gone, process, tree
from tests.daemons import WAYS, daemon, pids
from tests.ports import free_port

pytestmark = pytest.mark.slow

PROGRAM = Path(sys.executable).with_name("benchyard")
#: Random instants of each kind of lab.
KILLS = int(os.environ.get("BENCHYARD_KILLS", "100"))

Run = Callable[[Path], tuple[int, str, RunRecord]]


def leaving(name: str, folder: Path, *ways: str, then: str = "true", **keys: Any) -> Any:
    """Declare a step that leaves daemons and then does something else."""
    files = [folder / f"{name}-{number}.pid" for number in range(len(ways))]
    scripts = [shlex.join(daemon(way, file)) for way, file in zip(ways, files, strict=True)]
    forgets = f"rm -f {shlex.join(map(str, files))}"
    return process(name, "; ".join((forgets, *scripts, then)), **keys)


def bare(file: Path) -> str:
    """Return a script that leaves a daemon of which nothing tells whose it is."""
    return f"{shlex.join(daemon('env -i', file))}"


def all_gone(folder: Path) -> bool:
    return all(map(is_gone, pids(folder)))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Call ``benchyard run --direct`` here; give exit code, stderr and the record."""

    def execute(folder: Path) -> tuple[int, str, RunRecord]:
        monkeypatch.chdir(folder.parent)
        code = call(["run", "--direct", "--cooldown", "0", "--runs", "1", folder.name])
        return code, capsys.readouterr().err, read_record(folder / "results/run_1")

    return execute


def test_a_step_ends_with_its_daemons_and_the_record_names_them(
    run: Run, case_folder: MakeCase, tmp_path: Path
) -> None:
    looks = f"for pid in $(cat {tmp_path}/*.pid); do ! kill -0 $pid || exit 9; done"
    case = case_folder("left", leaving("work", tmp_path, *WAYS), process("look", looks))

    code, said, record = run(case)

    assert code == 0, said
    assert all_gone(tmp_path)
    (warning,) = [one for one in record.warnings if "were killed" in one]
    assert warning.startswith("the step 'work' left processes running, which were killed: ")
    assert len(pids(tmp_path)) > len(WAYS)
    assert all(f"(pid {pid}" in warning for pid in pids(tmp_path))
    assert warning in said


@pytest.mark.parametrize(
    ("then", "keys"), [("exit 3", {}), ("sleep 300", {"timeout": 4}), ("kill -9 $$", {})]
)
def test_a_step_that_fails_ends_with_its_daemons(
    run: Run, case_folder: MakeCase, tmp_path: Path, then: str, keys: Mapping[str, Any]
) -> None:
    case = case_folder("left", leaving("work", tmp_path, "stubborn", then=then, **keys))

    code, _, record = run(case)

    assert code == 1
    (pid,) = pids(tmp_path)
    assert is_gone(pid)
    assert f"(pid {pid}" in " ".join(record.warnings)


def test_each_repetition_begins_without_the_daemons_of_the_last(
    run: Run, case_folder: MakeCase, tmp_path: Path
) -> None:
    looks = f"for pid in $(cat {tmp_path}/*.old); do ! kill -0 $pid || exit 9; done"
    keeps = f"cat {tmp_path}/*.pid >> {tmp_path}/a.old"
    step = leaving("work", tmp_path, "cleared", then=f"{keeps}; {looks.replace('.old', '.older')}")
    (tmp_path / "a.older").touch()
    step["parameters"]["arguments"][-1] = (
        f"cp {tmp_path}/a.old {tmp_path}/a.older; " + (step["parameters"]["arguments"][-1])
    )
    case = case_folder("left", {**step, "repeat": 2})

    code, said, record = run(case)

    assert code == 0, said
    assert sum("were killed" in one for one in record.warnings) == 2


def test_what_may_be_another_steps_ends_with_the_run(
    run: Run, case_folder: MakeCase, tmp_path: Path
) -> None:
    """Two steps side by side: the left one still needs its daemon when the right one has ended."""
    left, right, done = (tmp_path / name for name in ("left.pid", "right.pid", "done"))
    waits = f"until [ -e {done} ]; do sleep 0.05; done; kill -0 $(cat {left})"
    begins = f"until [ -e {left} ]; do sleep 0.05; done"
    plain = f"setsid sh -c 'echo $$ > {right}; exec sleep 300' & until [ -s {right} ]; do :; done"
    case = case_folder(
        "beside",
        process("first", "true"),
        process("left", f"{bare(left)}; {waits}", needs=["first"]),
        process("right", f"{begins}; {plain}", needs=["first"]),
        process("after", f"touch {done}", needs=["right"]),
    )

    code, said, record = run(case)

    assert code == 0, said
    assert all_gone(tmp_path)
    who = [one.partition(" left processes")[0] for one in record.warnings if "killed" in one]
    assert who == ["the step 'right'", "the run"]


def server(program: str, folder: Path) -> str:
    """Return a script that starts a server which leaves its parent and overwrites its name."""
    port, file = free_port(), folder / f"{program}.pid"
    if program == "redis-server":
        begins = f"redis-server --port {port} --daemonize yes --pidfile {file} --dir {folder}"
    else:
        settings = folder / "nginx.conf"
        settings.write_text(
            f"pid {file}; error_log {folder}/error.txt; events {{}}\n"
            f"http {{ access_log off; server {{ listen 127.0.0.1:{port}; }} }}\n"
        )
        begins = f"nginx -c {settings}"
    return f"rm -f {file}; {begins} > /dev/null; until [ -s {file} ]; do sleep 0.05; done"


@pytest.mark.parametrize(
    "program",
    [pytest.param(name, marks=pytest.mark.requires(name)) for name in ("redis-server", "nginx")],
)
def test_servers_that_become_daemons(
    run: Run, case_folder: MakeCase, tmp_path: Path, program: str
) -> None:
    case = case_folder("server", process("serve", server(program, tmp_path)))

    code, said, record = run(case)

    assert code == 0, said
    assert len(pids(tmp_path)) == 1
    assert all_gone(tmp_path)
    assert program in " ".join(record.warnings)


# -- the end of the lab


@pytest.fixture(params=["--direct", pytest.param("prefect", marks=pytest.mark.long)])
def arguments(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return how a lab is called: directly, or through Prefect."""
    options = ["--direct"]
    if request.param == "prefect":
        monkeypatch.setenv("PREFECT_API_URL", request.getfixturevalue("prefect_server"))
        options = []
    return [str(PROGRAM), "run", "--runs", "1", "--cooldown", "0", *options]


@pytest.mark.parametrize("signals", [[signal.SIGINT] * 2, [signal.SIGTERM], [signal.SIGKILL]])
def test_a_lab_ends_with_its_daemons(
    arguments: list[str], case_folder: MakeCase, tmp_path: Path, signals: list[signal.Signals]
) -> None:
    up = tmp_path / "up"
    case = case_folder("left", leaving("work", tmp_path, *WAYS, then=f"touch {up}; sleep 300"))
    with ending(subprocess.Popen([*arguments, case], stderr=subprocess.PIPE, text=True)) as lab:
        assert eventually(up.exists, 180)
        for number in signals:
            lab.send_signal(number)
            eventually(lambda: lab.poll() is not None, 0.2)
        _, said = lab.communicate(timeout=120)
    assert lab.returncode == (-9 if signals == [signal.SIGKILL] else 130), said
    assert len(pids(tmp_path)) > len(WAYS)
    assert eventually(lambda: all_gone(tmp_path), 30)
    if lab.returncode == 130:
        told = " ".join(read_record(case / "results/run_1").warnings)
        assert all(f"(pid {pid}" in told for pid in pids(tmp_path))


@pytest.mark.soak
def test_kill_9_at_any_instant_leaves_no_daemon(
    arguments: list[str], case_folder: MakeCase, tmp_path: Path
) -> None:
    """Two seconds later nothing is left, finished runs are as they were, and it goes on."""
    # Not below the case: what the results of finished runs are is compared.
    servers = [name for name in ("redis-server", "nginx") if shutil.which(name)]
    steps = [leaving(f"serve {name}", tmp_path, then=server(name, tmp_path)) for name in servers]
    steps += [leaving(f"step{number}", tmp_path, way) for number, way in enumerate(WAYS)]
    case = case_folder("left", *steps)
    lab = [*arguments, "--force", str(case)]
    lab[lab.index("--runs") + 1] = "2"
    chance, longest = random.Random(2026), _seconds(lab)  # noqa: S311 - instants, not secrets
    for kill in range(KILLS):
        before = tree(case / "results/run_1") if 1 in Results(case / "results").done() else None
        options = [one for one in lab if one != "--force" or before is None]
        with ending(subprocess.Popen(options, stderr=subprocess.DEVNULL)) as process_:
            time.sleep(chance.uniform(0, longest))
            process_.kill()
        seen = pids(tmp_path)
        time.sleep(2)
        assert all(map(is_gone, seen)), f"kill {kill}"
        assert all_gone(tmp_path), f"kill {kill}"
        if before is not None:
            assert tree(case / "results/run_1") == before
    assert subprocess.run(lab[:-2] + lab[-1:], check=False).returncode == 0
    assert [*Results(case / "results").done()] == [1, 2]


def _seconds(lab: list[str]) -> float:
    begun = time.monotonic()
    assert subprocess.run(lab, stderr=subprocess.DEVNULL, check=False).returncode == 0
    return time.monotonic() - begun
