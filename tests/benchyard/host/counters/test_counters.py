"""The counters of a run, as the collector uses them."""

import subprocess
import sys
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from benchyard.host.counters import Counters
from benchyard.host.counters.account import CPU_WAIT, MOST_REASONS, SINGLE, SUMS, Reasons
from benchyard.host.counters.trees import PROCESS_PEAK
from benchyard.process.cgroups import Cgroup
from benchyard.process.children import pipe
from benchyard.process.usage import Ended, Owned
from tests.benchyard.host.counters.conftest import MIB, Worker
from tests.conftest import program


@pytest.fixture
def counters() -> Generator[Counters]:
    made = Counters()
    yield made
    made.close()


def test_reasons_are_told_once_each_and_no_more_than_a_few() -> None:
    reasons = Reasons()
    for one in ("one; with a part", "one; with a part", "two"):
        reasons.add({"a": one})
    assert reasons.told() == {"a": "one; with a part; two"}
    for at in range(100):
        reasons.add({"a": f"reason {at}"})
    assert reasons.told()["a"].count("reason") == MOST_REASONS - 2


def test_the_same_metrics_whatever_is_owned(
    cgroup: Cgroup, inside: Worker, worker: Worker, counters: Counters
) -> None:
    all_of_them = {*SUMS, *SINGLE}
    for owned, more in (
        (Owned(cgroups=[cgroup]), set[str]()),
        (Owned(pids=[worker.pid]), {PROCESS_PEAK, CPU_WAIT}),
        (Owned(pids=[worker.pid, inside.pid], cgroups=[cgroup]), {PROCESS_PEAK, CPU_WAIT}),
    ):
        used = counters.used(counters.read(owned), counters.read(owned))
        assert {n for n in used if n.startswith("resource_")} == all_of_them | more


def test_parts_add_up_once_and_peaks_do_not(
    cgroup: Cgroup, inside: Worker, worker: Worker, counters: Counters
) -> None:
    before = Owned(pids=[worker.pid, inside.pid], cgroups=[cgroup])
    start = counters.read(before)
    inside.burn(0.1)
    alone = Owned(pids=[inside.pid], cgroups=[cgroup])
    used = counters.used(counters.read(alone), counters.read(alone))
    assert used["resource_process_count"] == 1
    assert used["resource_memory_peak_bytes"] is not None
    worker.burn(0.05)
    told = Ended(0, 1.0, 2.0, 2**50, pid=1)
    used = counters.used(start, counters.read(replace(before, ended=[told])))
    assert 3.15 <= (used["resource_cpu_s"] or 0) < 3.24
    assert used["resource_process_count"] == 2
    assert used["resource_memory_peak_bytes"] is None
    assert used["resource_psi_cpu_some_s"] is None


def test_the_peaks_of_the_run(cgroup: Cgroup, inside: Worker, counters: Counters) -> None:
    inside.touch(32 * MIB)
    counters.read(Owned(cgroups=[cgroup]))
    counters.read(Owned(cgroups=[cgroup]))
    inside.kill()
    assert list(counters.peaks()) == [cgroup.name]
    assert (counters.peaks()[cgroup.name] or 0) > 32 * MIB


def test_what_belongs_to_it_no_more_is_not_known(cgroup: Cgroup, counters: Counters) -> None:
    used = counters.used(counters.read(Owned(cgroups=[cgroup])), counters.read())
    assert used["resource_cpu_s"] is None
    assert "no more" in counters.reasons["resource_cpu_s"]


def test_steps_side_by_side(
    cgroup: Cgroup, inside: Worker, worker: Worker, counters: Counters
) -> None:
    owned = [Owned(cgroups=[cgroup]), Owned(pids=[worker.pid]), Owned(pids=[inside.pid])]

    def measure(index: int) -> dict[str, float | None]:
        start = counters.read(owned[index % 3])
        return counters.used(start, counters.read(owned[index % 3]))

    with ThreadPoolExecutor(4) as pool:
        every = list(pool.map(measure, range(120)))
    assert all(used["resource_cpu_s"] is not None for used in every)


@pytest.mark.requires("unshare")
def test_a_network_namespace_of_its_own_is_told(counters: Counters) -> None:
    code = "import os; os.system('ip link set lo up'); print('ready', flush=True); input()"
    command, piped = [program("unshare"), "--net", sys.executable, "-c", code], subprocess.PIPE
    with subprocess.Popen(command, stdin=piped, stdout=piped) as process:
        pipe(process.stdout).readline()
        owned = Owned(pids=[process.pid])
        used = counters.used(counters.read(owned), counters.read(owned))
        process.communicate(b"\n", timeout=30)
    assert used["resource_network_received_bytes"] == used["resource_network_sent_bytes"] == 0
