"""Fixed work, for a third to half of a second each; it raises if its result is wrong."""

import os
import tempfile
from pathlib import Path

_MIB = 1 << 20
_BLOCKS = 128


def cpu() -> None:
    """Compute with integers: the interpreter's own speed."""
    state = 1
    for _ in range(4_000_000):
        state = (state * 1_103_515_245 + 12_345) & 0x7FFFFFFF
    if state != 1_241_550_593:
        raise ValueError(state)


def memory() -> None:
    """Copy blocks that no cache holds."""
    source = bytearray(range(256)) * (64 * _MIB // 256)
    for _ in range(8):
        source = bytearray(source)
    if len(source) != 64 * _MIB or source[-1] != 255:
        raise ValueError(len(source))


def disk() -> None:
    """Write a file in blocks, each onto the disk where results are, and read it."""
    block = bytes(range(256)) * (_MIB // 256)
    with tempfile.TemporaryFile(dir=Path(__file__).parents[2]) as file:
        for _ in range(_BLOCKS):
            file.write(block)
            file.flush()
            os.fsync(file.fileno())
        file.seek(0)
        if any(file.read(_MIB) != block for _ in range(_BLOCKS)):
            raise ValueError("what was read is not what was written")
