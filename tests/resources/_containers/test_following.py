"""Output into files, and waited for while it comes."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchyard.core.errors import CommandFailedError, NotReadyError
from benchyard.run.judging import Limits
from resources._containers.following import Follower


@pytest.fixture(autouse=True)
def no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Know none: a run of another test in this process may not have let go of its own yet."""
    monkeypatch.setattr("benchyard.core.redaction._known", set[object]())


@pytest.fixture
def follower(tmp_path: Path) -> Follower:
    return Follower(tmp_path / "out", tmp_path / "err")


def soon() -> float:
    return time.monotonic() + 10


def test_each_stream_goes_to_its_file(follower: Follower) -> None:
    follower.follow([(b"a", None), (None, b"b"), (b"c", b"d")])
    assert (follower.stdout.read_bytes(), follower.stderr.read_bytes()) == (b"ac", b"bd")
    follower.refuse_lost()
    assert follower.said() == "bd"


def test_both_may_share_a_file(tmp_path: Path) -> None:
    follower = Follower(tmp_path / "both", tmp_path / "both")
    follower.follow([(b"a", None), (None, b"b"), (b"c", None)])
    assert follower.stdout.read_bytes() == b"abc"


def test_a_pattern_is_heard_while_it_runs_on(follower: Follower) -> None:
    go = threading.Event()

    def pieces() -> Iterator[tuple[bytes | None, bytes | None]]:
        yield b"one\nre", None
        yield None, b"ady\n"
        yield b"ady\n", None
        go.wait(10)

    follower.expect("^ready$")
    thread = threading.Thread(target=follower.follow, args=(pieces(),))
    thread.start()
    assert follower.wait(soon())
    go.set()
    thread.join()


def test_an_end_without_the_pattern_is_told_at_once(follower: Follower) -> None:
    follower.expect("never")
    follower.follow([(b"some", None)])
    assert not follower.wait(soon())


def test_the_deadline_holds(follower: Follower) -> None:
    follower.expect("never")
    assert not follower.wait(time.monotonic() + 0.01)


SLOW = "(a|aa)+$"


@pytest.mark.slow
def test_a_pattern_that_takes_for_ever_is_told_of(follower: Follower) -> None:
    follower.expect(SLOW, Limits(search_seconds=0.2))
    follower.follow([(b"a" * 60 + b"!", None), (b"more", None)])
    with pytest.raises(NotReadyError, match=r"takes more than 0\.2 s; let its repetitions not"):
        follower.wait(time.monotonic() + 60)
    assert follower.stdout.read_bytes() == b"a" * 60 + b"!more"


@pytest.mark.slow
def test_it_holds_nobody_up_beyond_the_deadline(follower: Follower) -> None:
    follower.expect(SLOW, Limits(search_seconds=1000))
    much = [(b"a" * 60 + b"!", None), *[(b"." * 60_000, None)] * 4]
    thread = threading.Thread(target=follower.follow, args=(much,))
    thread.start()
    assert not follower.wait(time.monotonic() + 0.5)
    thread.join(60)
    assert not thread.is_alive()
    assert follower.stdout.stat().st_size == 61 + 4 * 60_000


def test_a_stream_that_breaks_loses_output(follower: Follower) -> None:
    def breaks() -> Iterator[tuple[bytes | None, bytes | None]]:
        yield b"half", None
        raise ConnectionResetError("gone")

    with pytest.raises(ConnectionResetError):
        follower.follow(breaks())
    with pytest.raises(CommandFailedError, match="gone"):
        follower.refuse_lost()


def test_a_file_that_cannot_be_made_holds_nobody_up(tmp_path: Path) -> None:
    follower = Follower(tmp_path / "none" / "out", tmp_path / "err")
    follower.follow([(b"a", b"b")])
    with pytest.raises(CommandFailedError, match="No such file"):
        follower.refuse_lost()
