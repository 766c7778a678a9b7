"""A program is seen from the moment that a runtime executes it to its end."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchyard.host.counters.account import MetricBook, in_turn
from benchyard.host.counters.lives import NEVER, LifeSpan, Sight
from tests.conftest import eventually

#: Takes a runtime's name, and executes the program when it is told to.
RUNTIME = """
import os, sys
with open('/proc/self/comm', 'w') as name:
    name.write('runc:[2:INIT]')
print('ready', flush=True)
sys.stdin.readline()
os.execvp('sleep', ['sleep', sys.argv[1]])
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder that looks like a control group without processes."""
    (tmp_path / "cgroup.procs").write_text("")
    (tmp_path / "cpuacct.usage").write_text("5000000000\n")
    return tmp_path


def runtime(seconds: str) -> "subprocess.Popen[str]":
    pipe = subprocess.PIPE
    made = subprocess.Popen(
        [sys.executable, "-c", RUNTIME, seconds], stdin=pipe, stdout=pipe, text=True
    )
    assert made.stdout is not None
    assert made.stdout.readline() == "ready\n"
    return made


def test_the_runtimes_time_before_the_program_is_not_the_programs(folder: Path) -> None:
    sight = Sight(folder, is_alone=True)
    child = runtime("2")
    (folder / "cgroup.procs").write_text(f"{os.getpid()}\n{child.pid}\n")
    # Until it was seen under its first name: of that moment nothing else tells.
    assert eventually(lambda: child.pid in sight.starting)
    before = time.monotonic_ns()
    child.communicate("go\n")
    after = time.monotonic_ns()
    life, span = sight.close()
    assert sight.pid == child.pid
    assert span.began_ns is not None
    assert before < span.began_ns < after
    values, reasons = life.told(0, None)
    assert all(reasons[metric] for metric, value in values.items() if value is None)


def test_a_process_that_was_there_before_is_not_meant(folder: Path) -> None:
    child = runtime("0")
    (folder / "cgroup.procs").write_text(f"{child.pid}\n")
    sight = Sight(folder, is_alone=False)
    child.communicate("go\n")
    life, span = sight.close()
    assert (sight.pid, span) == (None, NEVER)
    assert life.told(0, None) == ({}, {})


def test_what_was_never_seen_is_unknown_with_a_reason() -> None:
    life, span = Sight(None, is_alone=True).close()
    values, reasons = life.told(0, None)
    assert span.seconds is None
    assert set(values.values()) == {None}
    assert "ended before" in reasons["resource_cpu_s"]


def test_a_hint_replaces_a_begin_that_was_not_seen(folder: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE
    )
    sight = Sight(folder, is_alone=True)
    sight.hint(child.pid)
    assert eventually(lambda: sight.pid == child.pid)
    child.communicate()
    _, span = sight.close()
    assert span.began_ns is None
    assert span.seconds is None


def test_a_span_has_a_length_only_with_both_ends() -> None:
    assert LifeSpan(1, None).seconds is None
    assert LifeSpan(10**9, 3 * 10**9).seconds == 2


def test_lives_that_follow_one_another_add_up_but_for_peaks_and_levels() -> None:
    each: list[MetricBook] = []
    for cpu_s, peak, level in ((1.0, 900, 5), (2.0, 300, 7)):
        account = MetricBook()
        account.tell("resource_cpu_s", cpu_s)
        account.tell("resource_memory_peak_bytes", peak)
        account.tell("resource_memory_bytes", level)
        account.tell("resource_disk_read_bytes", None if level == 5 else 3, "hidden")
        each.append(account)
    whole = in_turn(each)
    assert whole.values == {
        "resource_cpu_s": 3.0,
        "resource_memory_peak_bytes": 900,
        "resource_memory_bytes": 7,
        "resource_disk_read_bytes": None,
    }
    assert whole.reasons == {"resource_disk_read_bytes": "hidden"}
