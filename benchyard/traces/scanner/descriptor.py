"""What a job's ``descriptor.bin`` says: a bare protobuf message, BulkJobDescriptor."""

from dataclasses import dataclass

from benchyard.traces.protobuf import WireError, fields, signed
from benchyard.traces.scanner.blocks import FormatError

_ID, _NAME, _IO_PACKET, _WORK_PACKET, _NODES = 1, 2, 3, 4, 5


@dataclass(frozen=True, slots=True)
class JobDescriptor:
    """A job.

    Args:
        id: Never used again.
        name: The first job of a name is the one that Scanner finds by it.
        io_packet_size: Rows read at once.
        work_packet_size: Rows computed at once.
        num_nodes: How many nodes were alive at its end; files of others may be there.
    """

    id: int = 0
    name: str = ""
    io_packet_size: int = 0
    work_packet_size: int = 0
    num_nodes: int = 0


def read_descriptor(content: bytes) -> JobDescriptor:
    """Read a descriptor; what else it holds is skipped.

    Raises:
        FormatError: If it breaks off, or is none.
    """
    numbers: dict[int, int] = {}
    name = ""
    try:
        for number, value in fields(memoryview(content)):
            if isinstance(value, int):
                numbers[number] = signed(value)
            elif number == _NAME:
                name = bytes(value).decode("utf-8", "replace")
    except WireError as error:
        raise FormatError(str(error)) from error
    known = (numbers.get(one, 0) for one in (_IO_PACKET, _WORK_PACKET, _NODES))
    return JobDescriptor(numbers.get(_ID, 0), name, *known)
