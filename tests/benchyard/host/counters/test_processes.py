"""Processes and their trees, read from /proc: real ones, and accounts that do not add up."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchyard.host.counters import processes
from benchyard.host.counters.processes import UnknownUsageError, lives, read_trees, used_by
from tests.benchyard.host.counters.conftest import MIB, Worker
from tests.conftest import eventually

TICK = 1 / os.sysconf("SC_CLK_TCK")


def life(
    pid: int, parent: int = 1, *, is_root: bool = False, waited_faults: int = 0, **used: float
) -> processes.ProcessLife:
    key = pid, int(used.pop("started", 100))
    usage = processes.Usage(minor_faults=1)._replace(**used)
    return processes.ProcessLife(key, parent, is_root, True, usage, waited_faults, 0, False)


def by_key(*each: processes.ProcessLife) -> dict[processes.Key, processes.ProcessLife]:
    return {one.key: one for one in each}


# -- real processes


def test_a_child_that_was_waited_for_counts_however_short_it_lived(
    worker: Worker, tmp_path: Path
) -> None:
    before = lives(read_trees([worker.pid]))
    worker.burn(0.1, "child")
    worker.do("", "child")
    worker.write(tmp_path / "own", 2 * MIB)
    worker.write(tmp_path / "childs", 4 * MIB, "child")
    used = used_by(before, lives(read_trees([worker.pid])), 0)
    assert min(used.cpu_s, used.user_s + used.system_s) >= 0.1 - 2 * TICK
    assert used.minor_faults > 200
    # Temporary files may be on no disk here.
    assert used.write_bytes == 0 or used.write_bytes == pytest.approx(6 * MIB, rel=0.01)


def test_a_child_that_lives_counts_once(worker: Worker) -> None:
    began = processes.boot_ticks(time.monotonic_ns())
    before = lives(read_trees([worker.pid]))
    burn = "end = time.process_time() + 0.05\nwhile time.process_time() < end: pass"
    worker.do(f"import time\n{burn}\ntime.sleep(60)", "start")

    def tree() -> dict[processes.Key, processes.ProcessLife]:
        return lives(read_trees([worker.pid, worker.pid]))

    assert len(tree()) == 2
    assert eventually(lambda: used_by(before, tree(), began).cpu_s >= 0.05, 30)
    worker.do("started.kill(); started.wait()")


def test_a_process_that_is_gone_lacks() -> None:
    pid = os.posix_spawn("/bin/true", ["true"], {})
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    zombie = lives(read_trees([pid]))
    assert [one.is_alive for one in zombie.values()] == [False]
    os.waitpid(pid, 0)
    assert processes.read_process(pid, is_root=True) is None
    assert not list(read_trees([pid]))


def test_a_kernel_without_lists_of_children(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(path: str) -> bytes | None:
        return None if path.endswith("children") else b""

    monkeypatch.setattr(processes, "read_once", none)
    monkeypatch.setattr(processes, "_keeps_no_lists", lambda: True)
    with pytest.raises(UnknownUsageError, match="CONFIG_PROC_CHILDREN"):
        list(read_trees([os.getpid()]))


def test_threads_that_come_and_go_do_no_harm() -> None:
    with ThreadPoolExecutor(1) as pool:
        churner = pool.submit(churn)
        while not churner.done():
            assert any(key[0] == os.getpid() for key in lives(read_trees([os.getpid()])))


def churn() -> None:
    for _ in range(2000):
        thread = threading.Thread(target=int)
        thread.start()
        thread.join()


# -- accounts


def test_a_descendant_must_have_been_waited_for() -> None:
    before = by_key(life(7, is_root=True), life(8, parent=7, minor_faults=50, waited_faults=20))
    with pytest.raises(UnknownUsageError, match="left the process tree"):
        used_by(before, by_key(life(7, is_root=True, minor_faults=50, waited_faults=49)), 0)
    after = by_key(life(7, is_root=True, minor_faults=61, waited_faults=60))
    assert used_by(before, after, 0).minor_faults == 10


ROOT, CHILD = life(7, is_root=True), life(8, parent=7, minor_faults=5)
IGNORES = life(7, is_root=True, waited_faults=99)._replace(forgets_children=True)


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        # An id that is used again is another process.
        ([ROOT], [life(7, is_root=True, started=200)], "nobody told"),
        # Of whose parent ended too nobody knows what he left, whatever the sums say.
        (
            [ROOT, CHILD, life(9, parent=8, minor_faults=5)],
            [life(7, is_root=True, minor_faults=1001, waited_faults=1000)],
            "which one first",
        ),
        # Who ignores the ends of children gets no account of them.
        ([IGNORES, CHILD], [life(7, is_root=True, waited_faults=99)], "ignores the ends"),
        ([ROOT, CHILD], [IGNORES], "ignores the ends"),
    ],
)
def test_what_nobody_kept_account_of_is_not_known(
    before: list[processes.ProcessLife], after: list[processes.ProcessLife], why: str
) -> None:
    with pytest.raises(UnknownUsageError, match=why):
        used_by(by_key(*before), by_key(*after), 0)


def test_a_new_child_that_was_waited_for_hides_none_that_was_forgotten(worker: Worker) -> None:
    worker.do("import signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN)")
    worker.do("import time; time.sleep(60)", "start")
    before = lives(read_trees([worker.pid]))
    worker.do("started.kill()")
    assert eventually(lambda: len(lives(read_trees([worker.pid]))) == 1)
    worker.do("signal.signal(signal.SIGCHLD, signal.SIG_DFL)")
    worker.burn(0.01, "child")
    with pytest.raises(UnknownUsageError, match="ignores the ends"):
        used_by(before, lives(read_trees([worker.pid])), 0)


def test_disks_are_unknown_if_one_process_hides_them() -> None:
    hidden = life(8, parent=7)
    hidden = hidden._replace(usage=hidden.usage._replace(read_bytes=None))
    used = used_by({}, by_key(life(7, is_root=True), hidden), 0)
    assert used.read_bytes is None
    assert used.write_bytes == 0
