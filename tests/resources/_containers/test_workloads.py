"""What programs in containers use is what they count themselves, or null with a reason."""

import json
import os
from collections.abc import Mapping
from typing import Any

import pytest

from tests.resources._containers.workloads import SOCKET
from tests.resources.containers import NOTHING, folder_of, left_of, run_python

pytestmark = [
    pytest.mark.slow,
    pytest.mark.requires("docker"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else"),
    pytest.mark.skipif(bool(os.environ.get("DOCKER_HOST")), reason="the engine is elsewhere"),
]

ROOT, NOBODY = 0, 65534
SHARE = 0.01
#: Packets of 1,514 bytes carry 66 bytes of headers that a program does not count; how large they
#: are, the kernel decides as it is busy.
HEADERS = 0.05
#: What a program counts to the metric that must say the same, of the programs that know it whole:
#: what it costs to give memory back at its end, a program cannot count any more.
COMPARED = {
    "cpu": ("cpu_s", "resource_cpu_s"),
    "memory": ("peak_bytes", "resource_memory_peak_bytes"),
    "written": ("written_bytes", "resource_disk_write_bytes"),
    "network": ("received_bytes", "resource_network_received_bytes"),
    "children": ("cpu_s", "resource_cpu_s"),
}
#: Every way to execute each program: in the container that runs, in a fresh one beside it, alone.
WAYS = [("execute", True), ("run_to_end", True), ("run_to_end", False)]

Told = Mapping[str, Any]


def executed(user: int, scale: float) -> list[Told]:
    """Execute all programs as a user; return what each counted, and what the lab says."""
    program = "tests.resources._containers.workloads"
    with folder_of(user) as folder:
        said = run_python("-m", program, str(user), str(scale), str(folder), timeout=900)
    return [json.loads(line) for line in said.splitlines()]


def compare(told: Told) -> str | None:
    """Compare what a program counted; return the metric if the lab knows it."""
    own, metric = COMPARED[told["name"]]
    parts = [told["used"][f"resource_cpu_{part}_s"] for part in ("user", "system")]
    if None not in parts:
        assert sum(parts) == pytest.approx(told["used"]["resource_cpu_s"])
    if told["used"][metric] is None:
        assert told["reasons"][metric]
        return None
    share = HEADERS if metric == "resource_network_received_bytes" else SHARE
    assert told["used"][metric] == pytest.approx(told["own"][own], rel=share), told
    return metric


def check(told: list[Told], user: int) -> None:
    expected = [(*way, name) for way in WAYS for name in COMPARED]
    assert [(one["how"], one["runs"], one["name"]) for one in told] == expected
    known = [compare(one) for one in told]
    # On a busy host the lab may come too late for the account of a container that ended. What was
    # executed in one that runs on is told in any case; only root may let its peak begin anew.
    sure = known[: len(COMPARED)]
    assert sure.count("resource_cpu_s") == 2
    assert "resource_network_received_bytes" in sure
    assert "resource_memory_peak_bytes" in (sure if user == ROOT else known)


@pytest.mark.parametrize(
    ("user", "scale"),
    [
        (ROOT, 0.5),
        *(
            pytest.param(user, scale, marks=pytest.mark.long)
            for user, scale in ((NOBODY, 0.5), (ROOT, 1.0), (NOBODY, 1.0))
        ),
    ],
)
def test_what_programs_use_is_what_they_count(user: int, scale: float) -> None:
    assert SOCKET.exists()
    told = executed(user, scale)
    check(told, user)
    if user == ROOT and scale < 1:
        check_page_cache({(one["how"], one["name"]): one["used"] for one in told if one["runs"]})


def check_page_cache(used: Mapping[tuple[str, str], Told]) -> None:
    """See that page cache of earlier steps is told apart, and is none of a fresh container's."""
    later = used["execute", "network"]
    assert later["resource_memory_file_start_bytes"] >= 90e6
    assert later["resource_memory_peak_bytes"] >= later["resource_memory_file_start_bytes"]
    assert later["resource_memory_anonymous_bytes"] < 20e6
    fresh = used["run_to_end", "network"]["resource_memory_peak_bytes"]
    assert fresh is None or fresh < 50e6


# -- a lab that is not root, and may use the engine all the same

#: Becomes nobody, in the group that the engine's socket is for, when all is imported.
SCRIPT = """
import os, sys
from pathlib import Path
import docker, requests, urllib3
from tests.resources.containers import container_in, shell, workspace_in
os.setgroups([os.stat("/var/run/docker.sock").st_gid])
os.setgid(65534)
os.setuid(65534)
space = workspace_in(Path(sys.argv[1]))
with container_in(space, memory="64MB") as made:
    print(len(made.cgroups()))
    made.run_to_end(shell("umask 077; mkdir /data/shared/d; echo x > /data/shared/d/f"))
    made.execute(shell("touch /data/shared/g"))
    if "abort" in sys.argv:
        made.abort()
print((space.shared / "d/f").read_text().strip(), os.stat(space.shared / "g").st_uid)
(space.shared / "d/f").unlink()
(space.shared / "d").rmdir()
"""


@pytest.mark.parametrize("how", ["well", "abort"])
def test_files_that_containers_made_as_root_are_given_back(how: str) -> None:
    with folder_of(NOBODY) as folder:
        # The interpreter may be closed to nobody: what is imported is imported before.
        said = run_python("-c", SCRIPT, str(folder), how, timeout=120)
        # That of the container may be read.
        assert said == f"1\nx {NOBODY}\n"
        assert left_of(folder) == NOTHING
