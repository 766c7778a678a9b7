"""The formats that the catalogue knows, each a module with a ``Format``."""

from benchyard.catalogue.formats.contract import Format
from benchyard.catalogue.formats.mindspore import MINDSPORE
from benchyard.catalogue.formats.others import OTHERS
from benchyard.catalogue.formats.run import KrownRunFormat, RunFormat

#: The first that describes a file has it.
FORMATS: tuple[Format, ...] = (RunFormat(), KrownRunFormat(), *MINDSPORE, *OTHERS)
