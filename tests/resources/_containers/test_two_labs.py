"""Two labs on one host at once, with cases of the same class."""

import json
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import MakeCase
from tests.ports import free_port
from tests.resources.containers import BASE, WAITS, docker, shell, start_lab, step_of

pytestmark = [pytest.mark.slow, pytest.mark.requires("docker")]


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
