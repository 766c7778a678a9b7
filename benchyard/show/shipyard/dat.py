"""The figures of all nodes as a ``.dat`` file for gnuplot, in the columns of Batch Shipyard's.

Of a run of ours the columns hold what ``benchyard.publish.sinks.azure.shipyard`` exports of it:
until its resources are initialized for the preparation, initializing them for the global resources.

Source: Azure/batch-shipyard, cascade/graph.py (graph_data).
"""

import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime

from benchyard.show.shipyard.nodes import Node
from benchyard.show.shipyard.totals import COLUMNS

_HEADER = (
    "NodePrepStartTime NodeId NodePrep+DockerInstall PrivateRegistrySetup ShipyardContainerPull "
    "GlobalResourcesLoad TotalPull TotalSave TotalLoad TotalTorrent"
)
#: Columns that the original writes with five decimals; the others it writes as they are.
_ROUNDED = ("pull", "save", "load", "torrent")
#: gnuplot takes it for a missing value.
_MISSING = "nan"


def dat(nodes: Sequence[Node]) -> str:
    """Return the file: one line for each node in order of its start, times in UTC.

    What is unfinished or was not told is ``nan``: a sum that lacks a part is none.
    """
    return "\n".join([_HEADER, *map(_line, nodes)]) + "\n"


def _line(node: Node) -> str:
    start = datetime.fromtimestamp(node.start, UTC).strftime("%Y-%m-%d-%H:%M:%S.%f")
    # Columns are parted by spaces, and a quotation mark would join two of them.
    name = re.sub(r"[\s\"\x00-\x1f\x7f]+", "_", node.label)
    cells = [_cell(column, value(node)) for column, value in COLUMNS.items()]
    return " ".join((start, name, *cells))


def _cell(column: str, value: float | None) -> str:
    if value is None or not math.isfinite(value):
        return _MISSING
    return f"{value:.5f}" if column in _ROUNDED else str(value)
