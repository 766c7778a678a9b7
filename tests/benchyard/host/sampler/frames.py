"""Records of the sampler's raw file, made by hand."""

from benchyard.host.sampler import process
from benchyard.host.sampler.process import FRAME, PART, TICK
from benchyard.results import metrics_csv

#: What is read, in KROWN's order.
COLUMNS = tuple(
    name
    for name in metrics_csv.COLUMNS
    if name not in (*metrics_csv.IDENTITY, "cpu_user_system", "memory_ram_swap")
)


def frame(kind: bytes, payload: bytes) -> bytes:
    return FRAME.pack(kind, len(payload)) + payload


def opened(ident: int, words: bytes) -> bytes:
    return frame(process.OPENED, PART.pack(ident, 0) + words)


def tick(at_ns: int, *changed: tuple[int, bytes], classes: int = 1) -> bytes:
    body = b"".join(PART.pack(ident, len(content)) + content for ident, content in changed)
    return frame(process.TICKED, TICK.pack(at_ns, classes) + body)
