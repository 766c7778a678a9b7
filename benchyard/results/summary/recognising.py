"""Telling the files beside the runs of a case from others of their names, by their form.

No list says which of them are ours: whoever copies results, or is killed between two files, would
have one that lies. A file that is edited within its form counts as ours, and is made anew.
"""

import json
import stat
from pathlib import Path

from benchyard.results.folders import (
    AGGREGATED_FILE,
    STATS_FILE,
    SUMMARY_FILE,
    SUMMARY_TABLE,
    TRIES_FILE,
)
from benchyard.results.summary.document import FORMAT

_BEGINNING = 65_536
_JSON = b'"format": ' + json.dumps(FORMAT).encode()
#: Columns that KROWN's tables have in all versions, ours too, and that no other table has.
_TABLES = {
    STATS_FILE: ("step", "version", "cpu_user_diff"),
    SUMMARY_TABLE: ("step", "version", "cpu_user_diff"),
    AGGREGATED_FILE: ("step", "version", "timestamp"),
}
_TRY = b'{"version":'


def is_summary(path: Path) -> bool:
    """Tell whether a file is one that the lab, or KROWN, writes beside runs under this name.

    An empty one counts as one, and so does what a power cut left of one (zeros): nothing is lost
    with it.
    """
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return False
        with path.open("rb") as stream:
            beginning = stream.read(_BEGINNING)
    except OSError:
        return False
    return not beginning.strip(b"\0") or _has_form(path.name, beginning)


def _has_form(name: str, beginning: bytes) -> bool:
    if name == SUMMARY_FILE:
        return beginning.startswith(b"{") and _JSON in beginning[:200]
    if name == TRIES_FILE:
        return beginning.startswith(_TRY) and b'"case":' in beginning[:200]
    columns = beginning.split(b"\n", 1)[0].decode(errors="replace").strip().split(",")
    wanted = _TABLES.get(name, ())
    return bool(wanted) and all(any(c.startswith(w) for c in columns) for w in wanted)
