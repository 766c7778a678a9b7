"""How old processes were when their last thread called exit, as the kernel accounts for tasks.

What follows that call is not the program's: the kernel takes down the namespaces of a container's
first process for 1 to 20 ms. Root may read it, with Linux 5.19 or later. Source: Linux,
include/uapi/linux/taskstats.h, kernel/taskstats.c, kernel/tsacct.c;
include/uapi/linux/filter.h for the filter of a socket.
"""

import ctypes
import errno
import socket
import struct
import sys
from collections.abc import Sequence
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
        # Of the last value that does not match: over all that follows, to what drops.
        tests = [
            (_EQUAL, len(field.values) - 1 - at, 0, _swapped(value))
            for at, value in enumerate(field.values)
        ]
        tests[-1] = (_EQUAL, 0, len(code), tests[-1][3])
        code = [(_LOAD, 0, 0, field.at), *tests, *code]
    code.append((_RETURN, 0, 0, 0))
    program = b"".join(struct.pack("=HBBI", *instruction) for instruction in code)
    kept = ctypes.create_string_buffer(program)
    header = struct.pack("@HP", len(code), ctypes.addressof(kept))
    connection.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, header)


def _swapped(number: int) -> int:
    """Return a number as a filter sees it, which loads words in the order of the network."""
    return int.from_bytes(number.to_bytes(4, sys.byteorder), "big")


_NETLINK_GENERIC, _CONTROL = 16, 16
_GET_FAMILY, _FAMILY_NAME, _FAMILY_ID = 3, 2, 1
_GET, _REGISTER_CPUS, _OF_THREAD, _STATS = 1, 3, 4, 3
_REQUEST_WITH_ANSWER = 5
_HEADERS = 20
_CPUS = Path("/sys/devices/system/cpu/possible")
#: Fields of an account: version, process, and microseconds since its begin.
_VERSION, _PROCESS, _AGE = struct.Struct("=H"), struct.Struct("=I"), struct.Struct("=Q")
_PROCESS_AT, _AGE_AT = 368, 376
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
            keep(self._socket, [Field(_ACCOUNT_AT + _PROCESS_AT, [pid])])

    def read(self) -> None:
        """Note who ended since the last time."""
        while self._socket is not None:
            try:
                message = self._socket.recv(8192)
            except OSError as error:
                if error.errno == errno.ENOBUFS:  # some were lost: of these no age is known
                    continue
                return
            self._note(_attributes(_attributes(message[_HEADERS:]).get(_OF_THREAD, b"")))

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
        if len(account) < _AGE_AT + _AGE.size:
            return
        (version,) = _VERSION.unpack_from(account)
        if version >= _FIRST_VERSION and version != _OTHER_LAYOUT:
            (process,) = _PROCESS.unpack_from(account, _PROCESS_AT)
            (age_us,) = _AGE.unpack_from(account, _AGE_AT)
            self._ages_ns[process] = age_us * 1000

    def _register(self, cpus: bytes) -> None:
        found = self._ask(_CONTROL, _GET_FAMILY, _FAMILY_NAME, b"TASKSTATS")
        (family,) = struct.unpack("=H", _attributes(found[_HEADERS:])[_FAMILY_ID])
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
