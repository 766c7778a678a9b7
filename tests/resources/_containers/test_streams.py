"""Output into files, and waited for while it comes."""

import socket
import struct
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchyard.core.errors import CommandFailedError
from resources._containers.streams import Follower, Streams


@pytest.fixture(autouse=True)
def no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Know none: a run of another test in this process may not have let go of its own yet."""
    monkeypatch.setattr("benchyard.core.redaction._known", set[object]())


def test_a_stream_that_breaks_or_has_no_file_loses_output(tmp_path: Path) -> None:
    def breaks() -> Iterator[tuple[bytes | None, bytes | None]]:
        yield b"half", None
        raise ConnectionResetError("gone")

    follower = Follower(tmp_path / "out", tmp_path / "err")
    with pytest.raises(ConnectionResetError):
        follower.follow(breaks())
    with pytest.raises(CommandFailedError, match="gone"):
        follower.refuse_lost()
    follower = Follower(tmp_path / "none" / "out", tmp_path / "err")
    follower.follow([(b"a", b"b")])
    with pytest.raises(CommandFailedError, match="No such file"):
        follower.refuse_lost()


class Opened:
    """As the library hands a socket over: its answer's headers were read through a buffer."""

    def __init__(self, ours: socket.socket) -> None:
        self._sock = ours
        buffer = ours.makefile("rb")
        assert buffer.readline() == b"headers\r\n"

        class Answer:
            raw: Any = type("Raw", (), {"_fp": type("Fp", (), {"fp": buffer})})

            def close(self) -> None: ...

        self._response = Answer()


def frame(stream: int, content: bytes) -> bytes:
    return struct.pack(">BxxxL", stream, len(content)) + content


Ends = tuple[Streams, socket.socket]


@pytest.fixture
def ends() -> Generator[Ends]:
    """Give both ends; the first frame comes together with the headers."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(b"headers\r\n" + frame(1, b"first"))
        yield Streams(Opened(ours)), theirs


def test_what_comes_with_the_headers_is_not_lost(ends: Ends) -> None:
    line, theirs = ends
    theirs.sendall(frame(2, b"second") + frame(1, b""))
    theirs.shutdown(socket.SHUT_WR)
    assert list(line.pieces()) == [(b"first", None), (None, b"second")]
    line.send(b"hello")
    assert theirs.recv(99) == b"hello"
    line.close()


@pytest.mark.parametrize("rest", [frame(1, b"whole")[:-2], b"\1\0\0"])
def test_a_break_in_the_middle_is_told(ends: Ends, rest: bytes) -> None:
    line, theirs = ends
    theirs.sendall(rest)
    theirs.shutdown(socket.SHUT_WR)
    with pytest.raises(ConnectionResetError):
        list(line.pieces())
    line.close()


def test_hanging_up_ends_the_wait(ends: Ends) -> None:
    line, _ = ends
    line.hang_up()
    assert list(line.pieces()) == [(b"first", None)]
    line.close()
    line.hang_up()
