"""A program is seen from the moment that a runtime executes it to its end."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from unittest.mock import Mock

import pytest

from benchyard.host.counters import lives
from benchyard.host.counters.account import MetricBook, in_turn
from benchyard.host.counters.group_usage import CPU, GroupLife, Others
from benchyard.host.counters.groups import ControlGroup
from benchyard.host.counters.kernel import Traffic
from benchyard.host.counters.lives import Sight
from benchyard.process.cgroups import Cgroup
from benchyard.process.usage import LifeSpan
from tests.children import speaking
from tests.conftest import eventually

#: Takes a runtime's name, waits for a line, and executes its arguments.
RUNTIME = """
import os, sys
with open('/proc/self/comm', 'w') as name:
    name.write('runc:[2:INIT]')
print('ready', flush=True)
sys.stdin.readline()
os.execvp(sys.argv[1], sys.argv[1:])
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder that looks like a control group without processes."""
    (tmp_path / "cgroup.procs").write_text("")
    (tmp_path / "cpuacct.usage").write_text("5000000000\n")
    return tmp_path


#: A kernel that tells nothing of execs and exits.
DEAF = Mock(are_heard=False, span=Mock(return_value=(None, None)))


@pytest.fixture(params=["the kernel tells", "two looks"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let begin and end be known in one of both ways."""
    if request.param == "two looks":
        monkeypatch.setattr(lives, "ProcessEvents", lambda: DEAF)
    return request.param


def test_the_runtimes_time_before_the_program_is_not_the_programs(folder: Path, way: str) -> None:
    sight = Sight(folder, is_alone=True)
    with speaking(RUNTIME, "sleep", "1") as (child, _):
        (folder / "cgroup.procs").write_text(f"{os.getpid()}\n{child.pid}\n")
        # Until it was seen under its first name: of that moment nothing else tells.
        assert eventually(lambda: child.pid in sight.starting)
        before = time.monotonic_ns()
        child.communicate("go\n")
    after = time.monotonic_ns()
    life = sight.close()
    assert sight.pid == child.pid
    began, ended, error_ns = (value or 0 for value in life.span[:3])
    # A look may see the end after this test does: the true one is within the error.
    assert before < began < ended
    assert ended - error_ns <= after
    # It sleeps for 1 s, and that is within the error.
    assert 1e9 - error_ns <= ended - began
    if way == "two looks":
        assert error_ns > 0
    assert life.span.seconds is None or life.span.seconds == (ended - began) / 1e9
    values, reasons = life.told(0, None)
    assert all(reasons[metric] for metric, value in values.items() if value is None)


def test_a_program_that_began_and_ended_between_two_looks_is_known_by_the_kernel(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    has_ended = threading.Event()

    def pause(sight: Sight, _soon: float) -> None:
        time.sleep(0.001)
        # Between both looks the queue must not fill with what other programs of this host do.
        while sight.starting and not has_ended.wait(0.001):
            vars(sight)["_events"].read()

    monkeypatch.setattr(Sight, "_pause", pause)
    sight = Sight(folder, is_alone=True)
    if not heard(sight):
        sight.close()
        pytest.skip("this kernel does not report execs and exits")
    with speaking(RUNTIME, "sleep", "0.1") as (child, _):
        (folder / "cgroup.procs").write_text(f"{child.pid}\n")
        assert eventually(lambda: child.pid in sight.starting)
        before = time.monotonic_ns()
        child.communicate("go\n")
    after = time.monotonic_ns()
    has_ended.set()
    assert eventually(lambda: sight.pid == child.pid)
    began, ended = (at_ns or 0 for at_ns in sight.close().span[:2])
    assert before < began < began + 10**8 <= ended <= after


def heard(sight: Sight) -> bool:
    subprocess.run([sys.executable, "-S", "-c", ""], check=True)
    return eventually(lambda: vars(sight)["_events"].are_heard, 1)


@pytest.mark.parametrize("when", ["before", "after", "never"])
def test_another_process_than_the_engine_names_or_one_from_before_is_not_meant(
    folder: Path, when: str
) -> None:
    with speaking(RUNTIME, "cat") as (child, _):
        if when == "before":
            (folder / "cgroup.procs").write_text(f"{child.pid}\n")
        sight = Sight(None if when == "never" else folder, is_alone=False)
        if when == "after":
            (folder / "cgroup.procs").write_text(f"{child.pid}\n")
            assert eventually(lambda: child.pid in sight.starting)
        print("go", file=child.stdin, flush=True)
        # Before it ends: of one that ended between two looks only the kernel could tell.
        assert when != "after" or eventually(lambda: sight.pid == child.pid)
        child.communicate()
    assert when == "after" or sight.pid is None
    life = sight.close(os.getpid() if when == "after" else None)
    assert life.span[:2] == (None, None)
    values, reasons = life.told(0, None)
    # What all in its group used would pass for what the program used.
    assert values == dict.fromkeys(CPU)
    assert all(reasons.values())
    if when == "never":
        assert "ended before" in reasons["resource_cpu_s"]


@pytest.mark.usefixtures("way")
def test_a_hint_replaces_a_begin_that_was_not_seen(folder: Path) -> None:
    # The parent of a vfork goes on before the kernel tells of the exec.
    with speaking("import sys; print('ready', flush=True); sys.stdin.read()") as (child, _):
        sight = Sight(folder, is_alone=True)
        sight.hint(child.pid)
        assert eventually(lambda: sight.pid == child.pid)
        child.communicate()
    life = sight.close()
    assert life.span.began_ns is None
    assert life.span.seconds is None


def test_a_span_has_a_length_with_both_ends_that_are_off_by_less_than_a_hundredth() -> None:
    spans = {
        LifeSpan(1, None): (None, "its begin or its end was not seen"),
        LifeSpan(10**9, 3 * 10**9): (2, None),
        LifeSpan(0, 10**9, 10**7): (1, None),
    }
    assert {span: (span.seconds, span.problem) for span in spans} == spans
    blurred = LifeSpan(0, 10**9, 11 * 10**6)
    assert blurred.seconds is None
    assert "seen within 11 ms, which is more than 1 % of it" in (blurred.problem or "")


@pytest.mark.parametrize(
    ("others", "cpu_s", "why"),
    [
        # What the runtime used is taken off.
        (Others(0.5, 0.001), 4.5, ""),
        (Others(4.99, 0.001), 5 - 4.99, ""),
        # It may be off by a hundredth.
        (Others(0.5, 0.044), 4.5, ""),
        (Others(0.5, 0.046), None, "not told from others' for 0.046 s"),
        (None, None, "its begin was not seen"),
    ],
)
def test_an_account_is_the_programs_alone(
    folder: Path, others: Others | None, cpu_s: float | None, why: str
) -> None:
    group = ControlGroup(Cgroup("test", {"cpuacct": folder}))
    reading = group.read()._replace(oldest_ticks=10)
    group.close()
    life = GroupLife((None, reading), others, (Traffic(), Traffic()), LifeSpan(), is_alone=True)
    values, reasons = life.told(1, None)
    assert values["resource_cpu_s"] == cpu_s
    assert why in reasons.get("resource_cpu_s", "")


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
