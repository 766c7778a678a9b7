"""The sampling process: deadlines, what it records, commands, and its end with its parent."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.host.sampler import process
from benchyard.host.sampler.raw import Gone, Late, Opened, RawNote, Stopped, Tick, read_raw
from benchyard.process.children import pipe
from tests.children import ending, speaking
from tests.conftest import eventually

R = TypeVar("R")
LIVES = "import sys; print(flush=True); sys.stdin.read()"
PARENT = (
    "import subprocess, sys\n"
    f"child = subprocess.Popen([sys.executable, '-c', {LIVES!r}], stdin=subprocess.PIPE,"
    " stdout=subprocess.PIPE)\n"
    "child.stdout.readline(); print(child.pid, flush=True); sys.stdin.readline()\n"
    "child.communicate(); sys.stdin.read()\n"
)


class Started:
    """A sampling process, its input held by the test."""

    def __init__(self, popen: "subprocess.Popen[bytes]", raw: Path) -> None:
        self.popen = popen
        self.raw = raw

    def tell(self, *lines: str) -> None:
        stdin = pipe(self.popen.stdin)
        stdin.write("".join(f"{line}\n" for line in lines).encode())
        stdin.flush()

    def begin(self, *lines: str) -> None:
        self.tell(*lines, "begin")
        stdout = pipe(self.popen.stdout)
        assert select.select([stdout], [], [], 30)[0]
        assert stdout.readline() == b"ready\n"

    def end(self) -> dict[str, Any]:
        out, err = self.popen.communicate(timeout=30)
        assert (self.popen.returncode, err) == (0, b"")
        return json.loads(out)

    def of(self, kind: type[R]) -> list[R]:
        """Return the records of a kind."""
        return [record for record in read_raw(self.raw) if isinstance(record, kind)]

    def ticks(self) -> list[Tick]:
        return self.of(Tick)

    def contents(self) -> dict[str, list[bytes]]:
        """Return name to all contents that were recorded, in order."""
        names: dict[int, str] = {}
        found: dict[str, list[bytes]] = {}
        for record in read_raw(self.raw):
            if isinstance(record, Opened):
                names[record.ident] = record.name
                found[record.name] = []
            for ident, content in record.changed if isinstance(record, Tick) else ():
                found[names[ident]].append(content)
        return found


@contextmanager
def sampling(folder: Path, interval: float) -> Generator[Started]:
    command = [sys.executable, "-I", "-S", process.__file__, str(folder / "raw"), str(interval)]
    piped = subprocess.PIPE
    with ending(subprocess.Popen(command, stdin=piped, stdout=piped, stderr=piped)) as popen:
        yield Started(popen, folder / "raw")


# -- deadlines


@given(st.lists(st.integers(0, 10**12), min_size=1), st.integers(1, 10**10))
def test_defect_07_what_a_sample_costs_shifts_no_deadline(costs: list[int], interval: int) -> None:
    due = missed = 0
    for cost in costs:
        now = due + cost
        due, passed = process.next_deadline(due, now, interval)
        missed += passed
        assert now < due <= now + interval
    assert due == (len(costs) + missed) * interval


def test_deadlines_that_pass_by_are_recorded(tmp_path: Path) -> None:
    with sampling(tmp_path, 0.02) as one:
        one.begin()
        os.kill(one.popen.pid, signal.SIGSTOP)
        time.sleep(0.15)
        os.kill(one.popen.pid, signal.SIGCONT)
        one.end()
    late = one.of(Late)
    assert sum(record.missed for record in late) >= 5
    (stopped,) = one.of(Stopped)
    assert stopped.since_ns <= late[0].due_ns <= stopped.until_ns
    assert all((record.due_ns - late[0].due_ns) % 20_000_000 == 0 for record in late)


# -- what is recorded


def test_only_what_changed_is_recorded(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"a")
    (tmp_path / "two").write_bytes(b"b")
    with sampling(tmp_path, 0.01) as one:
        one.begin(f"open o w 1 0 {tmp_path}/one", f"open o w 2 0 {tmp_path}/two")
        (tmp_path / "two").write_bytes(b"changed")
        assert eventually(lambda: len(one.ticks()) > 10)
        account = one.end()
    contents = one.contents()
    assert contents["1"] == [b"a"]
    assert (contents["2"][0], contents["2"][-1]) == (b"b", b"changed")
    assert len(contents["2"]) <= 3  # it may be seen empty while it is written
    assert account["peak_rss_bytes"] > 1_000_000


def test_a_size_is_what_is_read_at_most_and_without_one_all(tmp_path: Path) -> None:
    content = b"".join(b"line %d\n" % at for at in range(3000))
    (tmp_path / "long name").write_bytes(content)
    with sampling(tmp_path, 10) as one:
        path = f"{tmp_path}/long name"
        kernels = "open o w kernels 0 /proc/self/smaps"
        one.begin(f"open o w part 10 {path}", f"open o w all 0 {path}", kernels)
        one.end()
    assert all(b"[stack]" in smaps for smaps in one.contents()["kernels"]), "a long list is whole"
    assert [one.contents()[name] for name in ("part", "all")] == [[content[:10]], [content]]


def test_defect_25_what_is_not_there_is_noted_and_the_rest_goes_on(tmp_path: Path) -> None:
    with sampling(tmp_path, 10) as one:
        one.begin(
            "open o w none 0 /proc/none", "open o w stat 20 /proc/stat", "what is this", "open o"
        )
        one.end()
    note, *others = one.of(RawNote)
    assert len(others) == 2
    assert "/proc/none: [Errno 2] No such file or directory" in note.text
    assert list(one.contents()) == ["stat"]


def test_what_vanishes_beside_others_leaves_their_samples_in_order(tmp_path: Path) -> None:
    with sampling(tmp_path, 0.01) as one:
        with speaking(LIVES) as (doomed, _):
            stats = [f"open o w {pid} 0 /proc/{pid}/stat" for pid in (os.getpid(), doomed.pid)]
            one.begin(*stats, "open o w uptime 0 /proc/uptime")
            doomed.kill()
        count = len(one.ticks())
        assert eventually(lambda: one.of(Gone))
        assert eventually(lambda: len(one.ticks()) > count + 1)
        one.end()
    assert one.of(Gone) == [Gone(1)]
    contents = one.contents()
    assert {b.split()[0] for b in contents[str(doomed.pid)]} == {b"%d" % doomed.pid}
    uptimes = [float(content.split()[0]) for content in contents["uptime"]]
    assert uptimes == sorted(uptimes)


@pytest.mark.slow
def test_commands_are_obeyed_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"a")
    with sampling(tmp_path, 0.3) as one:
        one.begin()
        one.tell("", f"open o w file 0 {tmp_path}/file")
        assert eventually(lambda: one.contents().get("file") == [b"a"])
        one.tell("forget o other", "forget o w")
        assert eventually(lambda: one.of(Gone) == [Gone(0)])
        one.end()


@pytest.mark.slow
def test_descendants_come_and_go(tmp_path: Path) -> None:
    with sampling(tmp_path, 0.05) as one, speaking(PARENT) as (root, said):
        one.begin(f"tree o tree:{root.pid} {root.pid}")
        child = int(said)
        assert eventually(lambda: f"{child}/io" in one.contents())
        assert root.stdin is not None
        root.stdin.write("\n")
        root.stdin.flush()
        assert eventually(lambda: len(one.of(Gone)) == 2)
        one.tell(f"forget o tree:{root.pid}")
        assert eventually(lambda: len(one.of(Gone)) == 4)
        one.end()
    names = [f"{pid}/{file}" for pid in (root.pid, child) for file in ("stat", "io")]
    assert sorted(one.contents()) == sorted(names)
    assert any(tick.classes & process.PROCESSES for tick in one.ticks())


def test_large_trees_are_read_less_often(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    spent = iter([0, 1_000_000])
    monkeypatch.setattr(process.time, "thread_time_ns", lambda: next(spent))
    file = process.File((b"o", b"w"), 64, b"/proc/self/stat")
    instants = (0, 100_000_000, 399_999_999)
    with closing(file), (tmp_path / "raw").open("wb") as raw:
        recorder = process.Recorder(raw.fileno())
        recorder.open(recorder.members, file, b"stat")
        for at_ns in instants:
            recorder.sample(at_ns)
        recorder.flush()
    found = [r for r in read_raw(tmp_path / "raw") if isinstance(r, Tick)]
    classes = (process.STEADY | process.PROCESSES, process.STEADY, process.STEADY)
    assert [(t.at_ns, t.classes) for t in found] == list(zip(instants, classes, strict=True))


# -- its end


def test_input_that_ends_before_it_begins_yields_a_sample_all_the_same(tmp_path: Path) -> None:
    with sampling(tmp_path, 60) as one:
        out, _ = one.popen.communicate(timeout=30)
    assert out.startswith(b"ready\n")
    assert len(one.ticks()) == 1


def test_signals_to_a_whole_group_lose_no_samples(tmp_path: Path) -> None:
    with sampling(tmp_path, 0.01) as one:
        one.begin()
        count = len(one.ticks())
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(one.popen.pid, number)
        assert eventually(lambda: len(one.ticks()) > count)
        one.end()


def test_a_dead_listener_costs_no_samples(tmp_path: Path) -> None:
    with sampling(tmp_path, 10) as one:
        one.begin()
        pipe(one.popen.stdout).close()
        pipe(one.popen.stdin).close()
        assert one.popen.wait(30) == 0
    assert len(one.ticks()) == 2


def test_a_full_disk_is_said(tmp_path: Path) -> None:
    (tmp_path / "raw").symlink_to("/dev/full")
    with sampling(tmp_path, 10) as one:
        one.tell("begin")
        _, err = one.popen.communicate(timeout=30)
    assert one.popen.returncode == 1
    assert err.decode() == f"cannot write {tmp_path}/raw: No space left on device\n"
