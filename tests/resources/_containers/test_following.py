"""Output into files, and waited for while it comes."""

import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.errors import CommandFailedError
from resources._containers.following import Follower, Pieces


@pytest.fixture(autouse=True)
def no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Know none: a run of another test in this process may not have let go of its own yet."""
    monkeypatch.setattr("benchyard.redaction._known", set[object]())


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


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=6))
def test_a_pattern_is_found_however_it_is_cut(text: bytes, cuts: list[int]) -> None:
    whole = text + b"\n it is ready now\n"
    edges = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]
    pieces: Pieces = [(whole[a:b], None) for a, b in pairwise(edges) if a < b]
    follower = Follower(Path("/dev/null"), Path("/dev/null"))
    follower.expect("it is ready")
    follower.follow(pieces)
    assert follower.wait(0)


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
