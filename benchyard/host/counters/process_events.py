"""When processes execute a program and when they end, by the kernel's own clock.

The kernel notes the monotonic time of each as it happens, so a reader that gets a CPU late knows
them all the same. Root may read them, and everybody since Linux 6.6; nobody in a process or user
namespace of its own. Source: Linux, include/uapi/linux/cn_proc.h, connector.h and filter.h;
drivers/connector/cn_proc.c.
"""

import ctypes
import errno
import socket
import struct
import sys
from contextlib import suppress

_NETLINK_CONNECTOR, _GROUP, _SO_ATTACH_FILTER = 11, 1, 26
_LISTEN, _IGNORE = 1, 2
_EXEC, _EXIT = 0x2, 0x8000_0000
#: Headers of netlink and of the connector, and what is asked for.
_REQUEST = struct.Struct("=IHHIIIIIIHHI")
#: What an event begins with after both headers: kind, CPU, nanoseconds, thread, process.
_EVENT, _HEADERS = struct.Struct("=IIQII"), 36
_KIND_AT, _PROCESS_AT = _HEADERS, _HEADERS + 20
#: Instructions of a socket's filter: load a word, compare, return.
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06


class ProcessEvents:
    """Execs and exits on this host from now on; nothing where the kernel refuses them."""

    def __init__(self) -> None:
        #: Whether it is known that they come.
        self.are_heard = False
        self._execs: dict[int, list[int]] = {}
        self._exits: dict[int, int] = {}
        try:
            self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _NETLINK_CONNECTOR)
        except OSError:
            self._socket = None
            return
        try:
            self._filter(None)
            self._socket.bind((0, _GROUP))
            self._ask(_LISTEN)
            self._socket.settimeout(0)
        except OSError:
            self._socket.close()
            self._socket = None

    def only(self, pid: int) -> None:
        """Listen to one process from now on: others may come and go in thousands."""
        if self._socket is not None:
            self._filter(pid)

    def read(self) -> None:
        """Note what happened since the last time."""
        while self._socket is not None:
            try:
                message = self._socket.recv(4096)
            except OSError as error:
                if error.errno == errno.ENOBUFS:  # some were lost: nobody knows whose
                    self._execs.clear()
                    self._exits.clear()
                    self.close()
                return
            self._note(message)

    def span(self, pid: int, after_ns: int) -> tuple[int | None, int | None]:
        """Return when a process first executed a program, and when its last thread ended.

        Args:
            after_ns: What it executed before does not count.
        """
        execs = (at_ns for at_ns in self._execs.get(pid, ()) if at_ns >= after_ns)
        return next(execs, None), self._exits.get(pid)

    def close(self) -> None:
        """Listen no more."""
        if self._socket is not None:
            # Kernels before 6.6 go on counting a listener that went away.
            with suppress(OSError):
                self._ask(_IGNORE)
            self._socket.close()
            self._socket, self.are_heard = None, False

    def _note(self, message: bytes) -> None:
        if len(message) < _HEADERS + _EVENT.size:
            return
        kind, _, at_ns, _, process = _EVENT.unpack_from(message, _HEADERS)
        self.are_heard = True
        if kind == _EXIT:
            self._exits[process] = at_ns
        elif kind == _EXEC:
            self._execs.setdefault(process, []).append(at_ns)

    def _ask(self, what: int) -> None:
        assert self._socket is not None  # noqa: S101 - callers see to it
        size = _REQUEST.size
        self._socket.send(_REQUEST.pack(size, 3, 0, 0, 0, _GROUP, 1, 0, 0, 4, 0, what))

    def _filter(self, pid: int | None) -> None:
        """Let the kernel drop all but execs and exits, of one process or of all."""
        assert self._socket is not None  # noqa: S101 - callers see to it
        accept = [] if pid is None else [(_LOAD, 0, 0, _PROCESS_AT), (_EQUAL, 0, 1, _swapped(pid))]
        accept.append((_RETURN, 0, 0, 0xFFFF))
        code = [
            (_LOAD, 0, 0, _KIND_AT),
            (_EQUAL, 1, 0, _swapped(_EXEC)),
            (_EQUAL, 0, len(accept), _swapped(_EXIT)),
            *accept,
            (_RETURN, 0, 0, 0),
        ]
        program = b"".join(struct.pack("=HBBI", *instruction) for instruction in code)
        kept = ctypes.create_string_buffer(program)
        header = struct.pack("@HP", len(code), ctypes.addressof(kept))
        self._socket.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, header)


def _swapped(number: int) -> int:
    """Return a number as a filter sees it, which loads words in the order of the network."""
    return int.from_bytes(number.to_bytes(4, sys.byteorder), "big")
