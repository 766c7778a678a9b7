"""A trace of whatever holds one: a run's folder, or a file of others, known by its content."""

from collections.abc import Callable, Mapping
from pathlib import Path

from benchyard.core.errors import InputError
from benchyard.core.files import shown
from benchyard.traces.chrome.reading import read_chrome
from benchyard.traces.model import Trace
from benchyard.traces.pprof import read_pprof
from benchyard.traces.recognising import CHROME, COLLAPSED, PPROF, SPEEDSCOPE, beginning_of
from benchyard.traces.scanner.profile import Profile
from benchyard.traces.speedscope import read_speedscope
from benchyard.traces.stacks import read_collapsed
from benchyard.traces.unpacking import MOST_BYTES, unpacked

_READERS: Mapping[str, Callable[[bytes, str, str], Trace]] = {
    SPEEDSCOPE: read_speedscope,
    PPROF: read_pprof,
    COLLAPSED: lambda content, where, _: read_collapsed(content, where),
}
FORMATS = "Chrome's trace events, Speedscope, pprof, collapsed stacks, a Scanner job"


def read_trace(path: Path, kind: str = "") -> Trace:
    """Read a trace or profile of others.

    Args:
        path: A file, gzipped or not, or the folder of a Scanner job.
        kind: Of a profile that holds several: a sample type of pprof, a unit of Speedscope.

    Raises:
        InputError: If it cannot be read, or no format is known that looks like it.
    """
    if path.is_dir():
        return Profile(path).trace()
    head = beginning_of(path)
    known = head.trace_format
    if known == CHROME or (head.is_json and head.text.startswith(b"[")):
        return read_chrome(path)
    if known not in _READERS:
        raise InputError(f"{shown(path)}: no known format; known are {FORMATS}")
    content = unpacked(path, MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise InputError(
            f"{shown(path)}: larger than {MOST_BYTES >> 30} GiB, the most of its format"
        )
    return _READERS[known](content, shown(path), kind)
