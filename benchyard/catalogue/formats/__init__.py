"""The formats that the catalogue knows; each finds, describes and loads its entries."""

import importlib.metadata
import logging
from collections.abc import Iterator
from pathlib import Path

from benchyard.catalogue.formats.compiled_tools import COMPILED_TOOLS
from benchyard.catalogue.formats.contract import LOADED_BYTES, Format
from benchyard.catalogue.formats.csv_tools import CSV_TOOLS
from benchyard.catalogue.formats.histories import HISTORIES
from benchyard.catalogue.formats.measurements import BenchmarkFile, Measurements
from benchyard.catalogue.formats.mindspore import MINDSPORE
from benchyard.catalogue.formats.python_tools import PYTHON_TOOLS
from benchyard.catalogue.formats.run import KrownRunFormat, RunFormat
from benchyard.catalogue.formats.run_tools import RUN_TOOLS
from benchyard.catalogue.formats.tools import TOOLS
from benchyard.catalogue.formats.trace_file import TRACES
from benchyard.catalogue.formats.vm_tools import VM_TOOLS
from benchyard.core.errors import BenchyardError, InputError
from benchyard.core.files import shown

#: Group of entry points that name a ``BenchmarkFile``.
ENTRY_POINTS = "benchyard.formats"


def _plugged() -> Iterator[BenchmarkFile]:
    for point in importlib.metadata.entry_points(group=ENTRY_POINTS):
        try:
            found = point.load()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - code of others
            found = f"{type(error).__name__}: {error}"
        if isinstance(found, BenchmarkFile):
            yield found
        else:
            logging.getLogger(__name__).warning("no format %s: %s", point.name, found)


#: Of files of others; none is of two of them.
OTHERS = (
    *TRACES,
    *TOOLS,
    *PYTHON_TOOLS,
    *HISTORIES,
    *RUN_TOOLS,
    *CSV_TOOLS,
    *VM_TOOLS,
    *COMPILED_TOOLS,
    *_plugged(),
)
#: The first that describes a file has it.
FORMATS: tuple[Format, ...] = (RunFormat(), KrownRunFormat(), *MINDSPORE, *OTHERS)


def read_measurements(place: Path) -> tuple[BenchmarkFile, Measurements] | None:
    """Read a file of a benchmark tool; None if it is of no known one.

    Raises:
        InputError: If it is damaged.
    """
    for one in OTHERS:
        if isinstance(one, BenchmarkFile) and one.is_of(place):
            try:
                return one, one.content_of(place, LOADED_BYTES)
            except BenchyardError as error:
                raise InputError(f"{shown(place)}: {error}") from error
    return None
