"""The formats that the catalogue knows; each finds, describes and loads its entries."""

from benchyard.catalogue.formats.contract import Format
from benchyard.catalogue.formats.mindspore import MINDSPORE
from benchyard.catalogue.formats.python_tools import PYTHON_TOOLS
from benchyard.catalogue.formats.run import KrownRunFormat, RunFormat
from benchyard.catalogue.formats.tools import TOOLS
from benchyard.catalogue.formats.trace_file import TRACES

#: Of files of others; none is of two of them.
OTHERS = (*TRACES, *TOOLS, *PYTHON_TOOLS)
#: The first that describes a file has it.
FORMATS: tuple[Format, ...] = (RunFormat(), KrownRunFormat(), *MINDSPORE, *OTHERS)
