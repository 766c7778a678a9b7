"""The order of cases: as their folders lie, and the points of one as its matrix has them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from benchyard.core.model import Json, plain


def place_of(about: Mapping[str, Json], results: Path) -> tuple[object, ...]:
    """Return what cases are sorted by; values that the matrix lacks come last, numbers by size.

    Args:
        about: ``case`` of a record.
        results: Folder of its runs.
    """
    point = cast("dict[str, Any]", about.get("point") or {})
    matrix = _matrix(str(about.get("folder"))) if point else {}
    names = sorted(point, key=lambda name: _index(matrix, name))
    folder = results.parent if point else results
    return str(folder), [_rank(matrix.get(name), point[name]) for name in names]


def _rank(values: Any, value: Any) -> tuple[object, ...]:
    number = value if isinstance(value, int | float) else float("inf")
    return _index(values, value), number, plain(value)


def _index(values: Any, value: object) -> int:
    known = [*cast("list[object]", values or ())]
    return known.index(value) if value in known else len(known)


def _matrix(folder: str) -> dict[str, Any]:
    """Return the matrix that a case has now; empty if it is not there any more."""
    try:
        declared: dict[str, dict[str, Any]] = json.loads(Path(folder, "metadata.json").read_bytes())
        return dict(declared["matrix"])
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return {}
