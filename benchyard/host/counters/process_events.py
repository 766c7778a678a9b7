"""When processes execute a program and when they end, by the kernel's own clock.

The kernel notes the monotonic time of each as it happens, so a reader that gets a CPU late knows
them all the same. Root may read them, and everybody since Linux 6.6; nobody in a process or user
namespace of its own. Source: Linux, include/uapi/linux/cn_proc.h and connector.h;
drivers/connector/cn_proc.c.
"""

import errno
import socket
import struct
from contextlib import suppress

from benchyard.host.counters.process_ages import Field, ProcessAges, keep

_NETLINK_CONNECTOR, _GROUP = 11, 1
_LISTEN, _IGNORE = 1, 2
_FORK, _EXEC, _EXIT = 0x1, 0x2, 0x8000_0000
#: Headers of netlink and of the connector, and what is asked for.
_REQUEST = struct.Struct("=IHHIIIIIIHHI")
#: What an event begins with after both headers: kind, CPU, nanoseconds, thread, process; then of a
#: fork the new thread and its process.
_EVENT, _HEADERS = struct.Struct("=IIQIIII"), 36
#: Bytes of events that wait to be read: of some 1,300, five times the usual. Option of a socket.
_QUEUE, _SO_RCVBUFFORCE = 512 << 10, 33
_KINDS, _PROCESS_AT = Field(_HEADERS, (_FORK, _EXEC, _EXIT)), _HEADERS + 20


class ProcessEvents:
    """Execs and ends on this host from now on; nothing where the kernel refuses them."""

    def __init__(self) -> None:
        #: Whether it is known that they come.
        self.are_heard = False
        self._begins: dict[int, int] = {}
        self._execs: dict[int, list[int]] = {}
        self._exits: dict[int, int] = {}
        self._ages = ProcessAges()
        self._socket: socket.socket | None = None
        try:
            self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _NETLINK_CONNECTOR)
            keep(self._socket, [_KINDS])
            with suppress(OSError):
                self._socket.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _QUEUE)
            self._socket.bind((0, _GROUP))
            self._ask(_LISTEN)
            self._socket.settimeout(0)
        except OSError:
            # An age alone, without the time of the fork, tells no end.
            self.close()

    def only(self, pid: int) -> None:
        """Listen to one process from now on: others may come and go in thousands."""
        self._ages.only(pid)
        if self._socket is not None:
            keep(self._socket, [_KINDS, Field(_PROCESS_AT, [pid])])

    def read(self) -> None:
        """Note what happened since the last time."""
        self._ages.read()
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
        began_ns, ended_ns = next(execs, None), self._exits.get(pid)
        created_ns, age_ns = self._begins.get(pid), self._ages.age_ns(pid)
        if None in (began_ns, ended_ns, created_ns, age_ns):
            return began_ns, ended_ns
        called_ns = (created_ns or 0) + (age_ns or 0)
        # An age from before the exec is that of a thread which the exec ended.
        return began_ns, called_ns if (began_ns or 0) < called_ns else ended_ns

    def close(self) -> None:
        """Listen no more."""
        self._ages.close()
        if self._socket is not None:
            # Kernels before 6.6 go on counting a listener that went away.
            with suppress(OSError):
                self._ask(_IGNORE)
            self._socket.close()
            self._socket, self.are_heard = None, False

    def _note(self, message: bytes) -> None:
        if len(message) < _HEADERS + _EVENT.size:
            return
        kind, _, at_ns, _, process, _, new = _EVENT.unpack_from(message, _HEADERS)
        self.are_heard = True
        if kind == _FORK:
            self._begins[new] = at_ns
        elif kind == _EXIT:
            self._exits[process] = at_ns
        elif kind == _EXEC:
            self._execs.setdefault(process, []).append(at_ns)

    def _ask(self, what: int) -> None:
        assert self._socket is not None  # noqa: S101 - callers see to it
        size = _REQUEST.size
        self._socket.send(_REQUEST.pack(size, 3, 0, 0, 0, _GROUP, 1, 0, 0, 4, 0, what))
