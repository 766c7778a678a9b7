"""The cases that can be chosen in the UI's form: a drop-down of those found now."""

import os
from collections.abc import Iterable
from copy import deepcopy
from pathlib import Path
from typing import Any, cast

import resources
from benchyard.case.selection import find_cases
from benchyard.core.model import Case, point_suffix


def reference(case: Case, checkout: Path) -> str:
    """Return how a deployment's parameter names a case.

    Args:
        checkout: The folder that flow runs work in.
    """
    folder = case.folder.resolve()
    base = checkout.resolve()
    place = os.path.relpath(folder, base) if folder.is_relative_to(base) else str(folder)
    return f"{place}{point_suffix(case.point)}"


def choices(root: Path, checkout: Path, folders: Iterable[Path] = ()) -> list[str]:
    """Return the valid cases below a folder with their points, in the order of a listing.

    Args:
        root: Where cases are looked for.
        checkout: The folder that flow runs work in.
        folders: Further resource classes.

    Raises:
        InputError: If there is no such folder.
    """
    found = find_cases(root, (), (), resources.find(folders))
    return [reference(case, checkout) for item in found if not item.problems for case in item.cases]


def with_choices(schema: dict[str, Any], cases: list[str]) -> dict[str, Any]:
    """Return the schema of a flow's parameters with the cases to choose from.

    Without any case the text stays free: a form without a choice could not be sent.
    """
    changed = deepcopy(schema)
    case = cast("dict[str, Any]", changed.get("properties", {}).get("case", {}))
    case.pop("enum", None)
    if cases:
        case["enum"] = cases
    return changed
