"""When processes execute a program and when they end, by the kernel's own clock.

The kernel notes the monotonic time of each as it happens, so a reader that gets a CPU late knows
them all the same. Root may read them, and everybody since Linux 6.6; nobody in a process or user
namespace of its own. Source: Linux, include/uapi/linux/cn_proc.h and connector.h;
drivers/connector/cn_proc.c.

What follows the last thread's call of exit is not the program's: the kernel takes down the
namespaces of a container's first process for 1 to 20 ms. How old a process was at that call, the
kernel's accounts of tasks tell. Root may read them, with Linux 5.19 or later. Source: Linux,
include/uapi/linux/taskstats.h, kernel/taskstats.c, kernel/tsacct.c;
include/uapi/linux/filter.h for the filter of a socket.
"""

import ctypes
import errno
import socket
import struct
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_SO_ATTACH_FILTER = 26
#: Instructions: load a word, compare, return.
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06


class Field(NamedTuple):
    """A word of a message, and the values that are kept."""

    at: int
    values: Sequence[int]


def keep(connection: socket.socket, fields: Sequence[Field]) -> None:
    """Let the kernel drop all messages but those in which each field has one of its values."""
    code = [(_RETURN, 0, 0, 0xFFFF)]
    for field in reversed(fields):
        # Of the last value that does not match: over all that follows, to what drops. A filter
        # loads words in the order of the network.
        tests = [
            (_EQUAL, len(field.values) - 1 - at, 0, socket.htonl(value))
            for at, value in enumerate(field.values)
        ]
        tests[-1] = (_EQUAL, 0, len(code), tests[-1][3])
        code = [(_LOAD, 0, 0, field.at), *tests, *code]
    code.append((_RETURN, 0, 0, 0))
    program = b"".join(struct.pack("=HBBI", *instruction) for instruction in code)
    kept = ctypes.create_string_buffer(program)
    header = struct.pack("@HP", len(code), ctypes.addressof(kept))
    connection.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, header)


_NETLINK_GENERIC, _CONTROL = 16, 16
_GET_FAMILY, _FAMILY_NAME, _FAMILY_ID = 3, 2, 1
_GET, _REGISTER_CPUS, _OF_THREAD, _STATS = 1, 3, 4, 3
_REQUEST_WITH_ANSWER = 5
_GENERIC_HEADERS = 20
_CPUS = Path("/sys/devices/system/cpu/possible")
#: Fields of an account: version and flags; process and microseconds since its begin.
_HEAD, _TAIL = struct.Struct("=H6xB"), struct.Struct("=I4xQ")
_TAIL_AT = 368
#: Flag of a process's last thread. Source: Linux, include/uapi/linux/acct.h (``AGROUP``).
_LAST_THREAD = 0x20
#: The first version with these fields; in one version they were elsewhere.
_FIRST_VERSION, _OTHER_LAYOUT = 12, 15
#: Where a message has the account: after headers and the thread's id.
_ACCOUNT_AT = 36


class ProcessAges:
    """Ages of the processes that end on this host from now on; none where the kernel refuses."""

    def __init__(self) -> None:
        self._ages_ns: dict[int, int] = {}
        self._socket: socket.socket | None = None
        try:
            self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _NETLINK_GENERIC)
            self._register(_CPUS.read_bytes().strip())
        except (OSError, KeyError, struct.error):
            self.close()

    def only(self, pid: int) -> None:
        """Listen to one process from now on: others may come and go in thousands."""
        if self._socket is not None:
            keep(self._socket, [Field(_ACCOUNT_AT + _TAIL_AT, [pid])])

    def read(self) -> None:
        """Note who ended since the last time."""
        while self._socket is not None:
            try:
                message = self._socket.recv(8192)
            except OSError as error:
                if error.errno == errno.ENOBUFS:  # some were lost: of these no age is known
                    continue
                return
            self._note(_attributes(_attributes(message[_GENERIC_HEADERS:]).get(_OF_THREAD, b"")))

    def age_ns(self, pid: int) -> int | None:
        """Return how old a process was when its last thread called exit; None if unknown."""
        return self._ages_ns.get(pid)

    def close(self) -> None:
        """Listen no more."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _note(self, thread: dict[int, bytes]) -> None:
        account = thread.get(_STATS, b"")
        if len(account) < _TAIL_AT + _TAIL.size:
            return
        version, flags = _HEAD.unpack_from(account)
        if version < _FIRST_VERSION or version == _OTHER_LAYOUT:
            return
        # Every thread has an account, and that of an earlier one may come after the last one's.
        if flags & _LAST_THREAD:
            process, age_us = _TAIL.unpack_from(account, _TAIL_AT)
            self._ages_ns[process] = age_us * 1000

    def _register(self, cpus: bytes) -> None:
        found = self._ask(_CONTROL, _GET_FAMILY, _FAMILY_NAME, b"TASKSTATS")
        (family,) = struct.unpack("=H", _attributes(found[_GENERIC_HEADERS:])[_FAMILY_ID])
        self._ask(family, _GET, _REGISTER_CPUS, cpus)

    def _ask(self, family: int, command: int, attribute: int, text: bytes) -> bytes:
        """Ask for something; return the answer, or what the kernel acknowledges it with.

        Raises:
            OSError: If the kernel refuses.
        """
        assert self._socket is not None  # noqa: S101 - callers see to it
        value = text + b"\0"
        body = struct.pack("=BBHHH", command, 1, 0, 4 + len(value), attribute)
        body += value + b"\0" * (-len(value) % 4)
        head = struct.pack("=IHHII", 16 + len(body), family, _REQUEST_WITH_ANSWER, 0, 0)
        self._socket.settimeout(1)
        self._socket.send(head + body)
        answer = acknowledged = self._socket.recv(8192)
        if family == _CONTROL:
            acknowledged = self._socket.recv(8192)
        self._socket.settimeout(0)
        (number,) = struct.unpack_from("=i", acknowledged, 16)
        if number:
            raise OSError(-number, "taskstats")
        return answer


def _attributes(content: bytes) -> dict[int, bytes]:
    """Return the attributes of a netlink message by their types."""
    found: dict[int, bytes] = {}
    at = 0
    while at + 4 <= len(content):
        length, kind = struct.unpack_from("=HH", content, at)
        if length < 4:
            break
        found[kind] = content[at + 4 : at + length]
        at += (length + 3) & ~3
    return found


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


#: The host's own process namespace. Source: Linux, include/linux/proc_ns.h, PROC_PID_INIT_INO.
_PROCESSES, _OF_THE_HOST = Path("/proc/self/ns/pid"), 0xEFFFFFFC


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
            # In another namespace a listener on the host lets us hear numbers that are not ours.
            if _PROCESSES.stat().st_ino != _OF_THE_HOST:
                self.close()
                return
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
        if ended_ns is None or created_ns is None or age_ns is None:
            return began_ns, ended_ns
        return began_ns, created_ns + age_ns

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
