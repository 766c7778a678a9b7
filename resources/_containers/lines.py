"""A connection that the engine turned over to the streams of a program.

``docker`` reads it past the buffer that the HTTP headers came through: what came together with
them would be lost. Source of the frames: Docker Engine API 1.41, ``ContainerAttach``.
"""

import socket
import struct
from collections.abc import Generator
from contextlib import suppress
from typing import Any

_HEADER = struct.Struct(">BxxxL")
_STDERR = 2
_MOST = 65_536


class Line:
    """What a program says, and what is said to it.

    Args:
        opened: What the library calls the socket of an answer.
    """

    def __init__(self, opened: Any) -> None:
        self._response = opened._response  # noqa: SLF001 - the only way to it
        self._buffer = self._response.raw._fp.fp  # noqa: SLF001
        self._socket: Any = getattr(opened, "_sock", opened)
        # A program may be silent for as long as it likes.
        self._socket.settimeout(None)

    def pieces(self) -> Generator[tuple[bytes | None, bytes | None]]:
        """Yield what it says, stdout or stderr, until both are closed.

        Raises:
            OSError: If the engine broke off.
        """
        while header := self._buffer.read(_HEADER.size):
            if len(header) < _HEADER.size:
                raise ConnectionResetError("in the middle of what the program said")
            stream, left = _HEADER.unpack(header)
            while left:
                piece = self._buffer.read1(min(left, _MOST))
                if not piece:
                    raise ConnectionResetError("in the middle of what the program said")
                left -= len(piece)
                yield (None, piece) if stream == _STDERR else (piece, None)

    def send(self, content: bytes) -> None:
        """Write to its standard input.

        Raises:
            OSError: If it or the engine went away.
        """
        self._socket.sendall(content)

    def close_input(self) -> None:
        """Tell it that its standard input is over.

        Raises:
            OSError: If it or the engine went away.
        """
        self._socket.shutdown(socket.SHUT_WR)

    def hang_up(self) -> None:
        """Let nobody wait for what it says; called from another thread."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close it."""
        self._response.close()
        self._buffer.close()
        self._socket.close()
