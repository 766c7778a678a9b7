"""What process trees and children that ended used."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from benchyard.host.counters import kernel
from benchyard.host.counters.account import CPU_WAIT, MetricBook
from benchyard.host.counters.processes import boot_ticks
from benchyard.host.counters.trees import TreeBook, used_by_trees
from benchyard.process.children import spawn
from benchyard.process.usage import Ended, Owned
from tests.benchyard.host.counters.conftest import MIB, Worker, whole

PEAK = "resource_process_peak_rss_bytes"


class Window:
    """A window on what is owned: read once at its start, then at each question."""

    def __init__(self, trees: TreeBook, owned: Owned) -> None:
        self.trees = trees
        self.began = boot_ticks(time.monotonic_ns())
        self.start = trees.read(owned, ())

    def used(self, owned: Owned) -> MetricBook:
        end = self.trees.read(owned, ())
        assert end is not None
        return whole(used_by_trees(self.start, end, self.began))


def run(code: str) -> Ended:
    return spawn([sys.executable, "-S", "-c", code], folder=Path("/")).wait()


def touching(size: int) -> str:
    return f"held = bytearray({size})\nfor at in range(0, {size}, 4096): held[at] = 1"


def test_children_that_ended_inside_count_and_earlier_ones_do_not() -> None:
    earlier, inside = Ended(0, 5.0, 5.0, 10, 1, 2, 3, 4), Ended(0, 0.25, 0.5, 2**50, 6, 7, 8, 9)
    window = Window(TreeBook(), Owned(ended=(earlier,)))
    values = window.used(Owned(ended=(earlier, inside))).values
    faults = ("page_fault_minor_count", "page_fault_major_count")
    names = ("cpu_s", "cpu_user_s", *faults, "disk_read_bytes", "disk_write_bytes", "process_count")
    assert [values[f"resource_{name}"] for name in names] == [0.75, 0.25, 6, 7, 8, 9, 0]
    assert (values[PEAK], values["resource_memory_bytes"]) == (2**50, 0)


def test_a_list_that_goes_on_growing_is_read_as_it_was() -> None:
    growing: list[Ended] = []
    window = Window(TreeBook(), Owned(ended=growing))
    assert window.start is None, "nothing is owned"
    growing.append(Ended(0, 1.0, 0.0, 2**50))
    end = window.trees.read(Owned(ended=growing), ())
    growing.append(Ended(0, 1.0, 0.0, 2**51))
    assert end is not None
    assert used_by_trees(None, end, 0).values["resource_cpu_s"] == 1.0


def test_a_child_smaller_than_its_launcher_has_no_peak_and_a_large_one_an_exact_one() -> None:
    window = Window(TreeBook(), Owned())
    small = spawn(["true"], folder=Path("/")).wait()
    account = window.used(Owned(ended=(small,)))
    assert account.values[PEAK] is small.peak_rss_bytes is None
    assert "that starts them" in account.reasons[PEAK]
    large = run(touching(64 * MIB))
    assert window.used(Owned(ended=(small, large))).values[PEAK] == large.peak_rss_bytes


def test_the_peak_of_a_process_that_lives_is_that_of_the_window(worker: Worker) -> None:
    trees, owned = TreeBook(), Owned(pids=[worker.pid])
    worker.touch(64 * MIB)
    outer = Window(trees, owned)
    worker.touch(32 * MIB)
    inner = Window(trees, owned)
    worker.touch(4 * MIB)
    small, large = (window.used(owned).values[PEAK] or 0 for window in (inner, outer))
    assert 0 < small < 30 * MIB < 32 * MIB < large < 60 * MIB


def test_where_a_peak_cannot_begin_anew(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel.ProcessPeak, "reset", bool)
    trees, owned = TreeBook(), Owned(pids=[worker.pid])
    window = Window(trees, owned)
    worker.touch(64 * MIB)
    assert (window.used(owned).values[PEAK] or 0) > 64 * MIB
    window = Window(trees, owned)
    account = window.used(owned)
    assert "cannot begin anew" in account.reasons[PEAK]


def test_a_descendant_that_ended_has_a_peak_that_nobody_tells(worker: Worker) -> None:
    owned = Owned(pids=[worker.pid])
    window = Window(TreeBook(), owned)
    worker.do("", "child")
    account = window.used(owned)
    assert "descendants ended" in account.reasons[PEAK]
    assert account.values["resource_cpu_s"] is not None


def test_a_root_that_ends_is_counted_from_where_it_was(worker: Worker, tmp_path: Path) -> None:
    worker.burn(0.2)
    worker.write(tmp_path / "before", 2 * MIB)
    window = Window(TreeBook(), Owned(pids=[worker.pid]))
    worker.burn(0.05)
    worker.write(tmp_path / "inside", 1 * MIB)
    account = window.used(Owned(ended=(worker.end(),)))
    cpu_s, written = (account.values[f"resource_{n}"] for n in ("cpu_s", "disk_write_bytes"))
    assert 0.04 < (cpu_s or 0) < 0.19
    # Python may write what it compiled, too.
    assert written == 0 or written == pytest.approx(1 * MIB, rel=0.1)


def unknown(account: MetricBook, why: str, *names: str) -> None:
    for metric in ("cpu_s", "page_fault_minor_count", *names):
        assert why in account.reasons[f"resource_{metric}"]


def test_a_root_that_ended_and_was_not_told_makes_all_unknown(worker: Worker) -> None:
    owned = Owned(pids=[worker.pid])
    window = Window(TreeBook(), owned)
    worker.kill()
    unknown(window.used(owned), "nobody told", "disk_write_bytes")


def test_a_root_that_ended_without_its_children_leaves_all_unknown(worker: Worker) -> None:
    worker.do("import os; os.posix_spawn('/bin/sleep', ['sleep', '60'], {})")
    window = Window(TreeBook(), Owned(pids=[worker.pid]))
    assert window.start is not None
    left = next(one.pid for one in window.start.processes if one.pid != worker.pid)
    account = window.used(Owned(ended=(worker.end(),)))
    os.kill(left, signal.SIGKILL)
    unknown(account, "which one first", "disk_write_bytes")


def test_more_below_zero_than_ticks_cut_off_is_not_believed(worker: Worker) -> None:
    worker.burn(0.2)
    window = Window(TreeBook(), Owned(pids=[worker.pid]))
    account = window.used(Owned(ended=(Ended(0, 0.0, 0.0, None, pid=worker.pid),)))
    assert all((value or 0) >= 0 for value in account.values.values())
    unknown(account, "contradict")


def test_a_root_counts_from_its_birth_and_one_that_is_older_is_not_known() -> None:
    window = Window(TreeBook(), Owned())
    worker = Worker()
    worker.burn(0.05)
    account = window.used(Owned(pids=[worker.pid]))
    time.sleep(0.02)
    late = Window(TreeBook(), Owned()).used(Owned(pids=[worker.pid]))
    worker.kill()
    assert (account.values["resource_cpu_s"] or 0) > 0.05
    assert (account.values[PEAK] or 0) > MIB
    assert "older than the interval" in late.reasons["resource_cpu_s"]


def test_memory_of_one_process_is_told_and_of_two_is_not(worker: Worker) -> None:
    owned = Owned(pids=[worker.pid])
    assert (Window(TreeBook(), owned).used(owned).values["resource_memory_bytes"] or 0) > MIB
    worker.do("import time; time.sleep(60)", "start")
    account = Window(TreeBook(), owned).used(owned)
    assert "do not add up" in account.reasons["resource_memory_bytes"]
    assert account.values["resource_process_count"] == 2
    worker.do("started.kill(); started.wait()")


def test_processes_of_owned_groups_are_left_to_them(worker: Worker) -> None:
    reading = TreeBook().read(Owned(pids=[worker.pid]), {worker.pid})
    assert reading is not None
    assert not reading.processes


def test_what_children_waited_for_a_cpu_is_known_if_it_is_of_each(worker: Worker) -> None:
    told = [Ended(0, 1.0, 0.0, 2**50, cpu_wait_s=wait) for wait in (0.5, 0.25, None)]
    window = Window(TreeBook(), Owned())
    assert window.used(Owned(ended=told[:2])).values[CPU_WAIT] == 0.75
    account = window.used(Owned(ended=told))
    assert "first thread" in account.reasons[CPU_WAIT]
    living = Owned(pids=[worker.pid], ended=told[:1])
    assert Window(TreeBook(), Owned()).used(living).values[CPU_WAIT] is None
