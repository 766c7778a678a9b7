"""What dead labs left goes away at the next start; what is not theirs, never."""

import contextlib
import json
import random
import signal
import subprocess
import uuid
from collections.abc import Generator
from datetime import datetime
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from benchyard.process.labels import OWNER, labelled, this_owner
from resources._containers.network import OWNER_LABEL
from resources.container import Container
from tests.children import ending
from tests.conftest import MakeCase, RunBenchyard, eventually
from tests.ports import free_port
from tests.resources.containers import BASE, WAITS, docker, shell, start_lab, step_of

pytestmark = [pytest.mark.slow, pytest.mark.requires("docker")]

MOMENTS = 20


def owned_by(pid: int) -> list[str]:
    """Return what is left of a lab: at the engine, among processes."""
    left = [(f"process {one}", by) for one, by in labelled(OWNER)]
    for kind, name in (("container", "ID"), ("network", "ID"), ("volume", "Name")):
        every = ["-a"] if kind == "container" else []
        columns = f'{{{{.{name}}}}} {{{{.Label "{OWNER_LABEL}"}}}}'
        options = ["--filter", f"label={OWNER_LABEL}", "--format", columns]
        for line in docker(kind, "ls", *every, *options).splitlines():
            one, by = line.split()
            left.append((f"{kind} {one}", by))
    return [one for one, by in left if by.startswith(f"{pid}:")]


@pytest.fixture
def strangers() -> Generator[None]:
    """Make things named and labelled much like ours, and see that all of them stay."""
    word = uuid.uuid4().hex[:12]
    name = f"benchyard-container-{word}"
    alike = ["--label", "benchyard.ownerx=1:1:1", "--label", "benchyard.case=x"]
    lives = ["--label", f"benchyard.owner={this_owner()}"]
    elsewhere = ["--label", "benchyard.owner=1:1:4026539999"]
    kinds = ("container", "volume", "network")
    made: list[str] = []
    for number, labels in enumerate((alike, lives, elsewhere)):
        made.append(f"{name}{number}")
        docker("create", "--name", made[-1], *labels, BASE, "true")
        docker("volume", "create", *labels, made[-1])
        docker("network", "create", *labels, made[-1])
    try:
        yield
        for kind in kinds:
            docker(kind, "inspect", *made)
    finally:
        for kind in kinds:
            docker(kind, "rm", *made)


def container_case(make: MakeCase, name: str = "killed") -> Path:
    return make(
        name,
        step_of("s1", "execute", shell("setsid sleep 300 & sleep 0.2")),
        step_of("s2", "run_to_end", ["sleep", "0.2"]),
        step_of("s3", "execute", ["sleep", "0.2"]),
        step_of("s4", "run_to_end", shell("setsid sleep 300 & sleep 0.2")),
        resources={"Container": {"image": BASE, "command": WAITS, "volumes": ["/store"]}},
    )


@pytest.mark.soak
@pytest.mark.usefixtures("strangers")
def test_kill_9_at_any_moment_leaves_nothing_after_the_next_start(
    case_folder: MakeCase,
) -> None:
    folder = container_case(case_folder)
    seed = random.randrange(10**6)  # noqa: S311 - moments, not secrets
    print("seed", seed)  # noqa: T201 - for who looks why it failed
    chance = random.Random(seed)  # noqa: S311
    found = 0
    for number in range(MOMENTS):
        with ending(start_lab(folder, 9)) as lab:
            # While it starts, or at a moment of its work; on a slow machine, too.
            if number % 2:
                assert eventually(partial(owned_by, lab.pid), 60)
            with contextlib.suppress(subprocess.TimeoutExpired):
                lab.wait(chance.uniform(0.3, 3.0 if number % 2 else 1.0))
            # Seen while it lives: what it leaves, any lab that starts beside this may remove.
            found += bool(owned_by(lab.pid))
            lab.send_signal(signal.SIGKILL)

        def is_clean(pid: int = lab.pid) -> bool:
            # What the lab asked for last may be made by the engine after the lab's death.
            Container.remove_leftovers()
            return not owned_by(pid)

        assert eventually(is_clean, 20), (seed, owned_by(lab.pid))
    assert found > MOMENTS // 4, "the moments come too early or too late"


@pytest.mark.usefixtures("strangers")
def test_defect_22_the_start_removes_what_was_left_and_nothing_named_alike(
    case_folder: MakeCase, run_benchyard: RunBenchyard
) -> None:
    folder = container_case(case_folder)
    with ending(start_lab(folder)) as lab:
        kept = folder / "results/run_1/container/02-s2.stdout.txt"
        assert eventually(kept.exists, 60)
        # Seen while it lives: what it leaves, any lab that starts beside this test may remove.
        lab.send_signal(signal.SIGSTOP)
        assert any("container" in one for one in owned_by(lab.pid))
        lab.send_signal(signal.SIGKILL)
    ended = run_benchyard("run", folder, "--direct", "--runs", "1", "--cooldown", "0")
    assert ended.returncode == 0, ended.stderr
    assert not owned_by(lab.pid)
    assert "Traceback" not in ended.stderr


# -- two labs at once, with cases of the same class


def case_of(make: MakeCase, name: str, port: int) -> Path:
    script = "test ! -e /store/x && touch /store/x && sleep 0.5 && hostname"
    step = step_of("a", "execute", shell(script))
    settings = {"image": BASE, "command": WAITS, "volumes": ["/store"], "ports": {"80": port}}
    return make(name, step, resources={"Container": settings})


def window(folder: Path, number: int) -> tuple[datetime, datetime]:
    record: Any = json.loads((folder / f"results/run_{number}/run.json").read_text())
    began, ended = (datetime.fromisoformat(record[name]) for name in ("started_at", "ended_at"))
    return began, ended


def test_defect_44_two_labs_take_turns_and_do_not_meet(
    case_folder: MakeCase,
) -> None:
    # Both fix the same port: at the same time, one would find it taken.
    port = free_port()
    folders = [case_of(case_folder, name, port) for name in ("one", "two")]
    labs = [start_lab(folder, 2) for folder in folders]
    for lab in labs:
        _, said = lab.communicate(timeout=120)
        assert lab.returncode == 0, said
    windows = sorted(window(folder, number) for folder in folders for number in (1, 2))
    assert all(one[1] <= two[0] for one, two in pairwise(windows)), windows
    pids = {str(lab.pid) for lab in labs}
    left = docker("ps", "-a", "--format", '{{.Label "benchyard.owner"}}').split()
    assert not pids & {owner.split(":")[0] for owner in left}
