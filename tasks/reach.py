"""Limit what a flow run may ask of a host: folders, and variables of its job.

Whoever reaches the API names both; the worker's user says which folders are allowed.
"""

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

from benchyard.core.errors import InputError
from tasks.names import ALLOWED

#: Variables by which a process takes programs, modules or settings from elsewhere.
_GUIDING = re.compile(r"(BENCHYARD|PREFECT|PYTHON|LD|GIT|DYLD)_.*|PYTHON.*|PATH|HOME|ENV|BASH_ENV")


def refuse_beyond_reach(**named: str | Iterable[str] | None) -> None:
    """Refuse parameters that name folders which the testbed's user has not allowed.

    A flow run of a user's own terminal reaches as far as the user does.

    Args:
        named: Parameters of the flow; a case with or without the point of its matrix.

    Raises:
        InputError: If there are any; it names all of them.
    """
    allowed = os.environ.get(ALLOWED)
    if allowed is None:
        return
    bases = [os.path.realpath(folder) for folder in allowed.split(os.pathsep) if folder]
    beyond = [
        f"{name} '{place}'"
        for name, value in named.items()
        for place in ([value] if isinstance(value, str) else value or ())
        if not _is_below(place.partition("[")[0], bases)
    ]
    if beyond:
        raise InputError(
            f"{', '.join(beyond)}: this testbed executes and writes below {', '.join(bases)} "
            "only; its user allows more with benchyard up --allow FOLDER, or worker --allow FOLDER"
        )


def _is_below(place: str, bases: Iterable[str]) -> bool:
    try:
        real = os.path.realpath(place)
        return any(os.path.commonpath([real, base]) == base for base in bases)
    except ValueError:  # a NUL in it
        return False


def forbidden_variables(wanted: Mapping[str, Any] | None) -> list[str]:
    """Return the job variables of a flow run that would choose what is executed, or how.

    Args:
        wanted: What was asked for beside the deployment's own.
    """
    given = dict(wanted or {})
    environment = cast("Mapping[str, object]", given.get("env") or {})
    guiding = [f"env.{name}" for name in environment if _GUIDING.fullmatch(name)]
    return [name for name in ("command", "working_dir") if given.get(name)] + guiding
