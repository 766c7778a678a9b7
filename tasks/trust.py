"""Keep files of the current folder from deciding what is executed.

Prefect takes its settings from ``.env``, ``prefect.toml`` and ``pyproject.toml`` of the current
folder too, and one of them names a logging configuration, which calls whatever it names. So it is
imported where nobody can put a file. Which server to use is all that the current folder may say.

Whoever reaches the API names folders and variables of a job; the worker's user says which folders
are allowed.
"""

import os
import re
import sys
import tomllib
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from benchyard.core.errors import InputError
from benchyard.core.places import control
from tasks.names import ALLOWED

#: A folder in which nobody can make a file, on every Linux.
_NOWHERE = "/proc"
_SERVER = {key: f"PREFECT_API_{key.upper()}" for key in ("url", "key", "auth_string")}
#: Settings that are paths and are read while Prefect is imported.
_PATHS = (
    "PREFECT_HOME",
    "PREFECT_PROFILES_PATH",
    "PREFECT_LOGGING_CONFIG_PATH",
    "PREFECT_LOGGING_SETTINGS_PATH",
)


def import_prefect_warily() -> None:
    """Let whatever imports Prefect in this process do it out of the current folder's reach."""
    if "prefect" not in sys.modules:
        sys.meta_path.insert(0, _Warily)


class _Warily(SourceFileLoader):
    """Finds Prefect alone, and imports it until its settings and its logging stand."""

    @classmethod
    def find_spec(cls, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        del path, target
        spec = PathFinder.find_spec(name) if name == "prefect" else None
        if spec is not None and spec.origin:
            spec.loader = cls(name, spec.origin)
        return spec

    def exec_module(self, module: ModuleType) -> None:
        take_server()
        with out_of_reach():
            super().exec_module(module)
            import_module("prefect.main")


@contextmanager
def out_of_reach() -> Generator[None]:
    """Work where no settings lie about, for what looks for some; given paths keep their meaning."""
    for name in _PATHS:
        given = os.environ.get(name)
        if given and not given.startswith("~"):
            os.environ[name] = str(Path(given).absolute())
    here = os.open(".", os.O_PATH | os.O_DIRECTORY)
    try:
        os.chdir(_NOWHERE)
        yield
    finally:
        os.fchdir(here)
        os.close(here)


def take_server() -> None:
    """Take the server's address and password from the current folder, unless they are given."""
    for found in (_dotenv(), _api_of("prefect.toml"), _api_of("pyproject.toml", "tool", "prefect")):
        for key, name in _SERVER.items():
            value = found.get(key)
            if value and isinstance(value, str):
                os.environ.setdefault(name, value)


def _dotenv() -> Mapping[str, object]:
    if not Path(".env").is_file():
        return {}
    from dotenv import dotenv_values  # noqa: PLC0415 - most folders have none

    values = {name.upper(): value for name, value in dotenv_values(".env").items()}
    return {key: values.get(name) for key, name in _SERVER.items()}


def _api_of(file: str, *table: str) -> Mapping[str, object]:
    try:
        content: Any = tomllib.loads(Path(file).read_text(encoding="utf-8"))
        for key in (*table, "api"):
            content = content[key]
    except (OSError, ValueError, LookupError, TypeError):
        return {}
    return cast("dict[str, object]", content) if isinstance(content, dict) else {}


#: Variables by which a process takes programs, modules or settings from elsewhere.
_GUIDING = re.compile(r"(BENCHYARD|PREFECT|PYTHON|LD|GIT|DYLD)_.*|PYTHON.*|PATH|HOME|ENV|BASH_ENV")


#: Fields of a request that name folders.
_FOLDERS = ("case", "cases", "root", "results", "resources")


def refuse_request_beyond_reach(request: object) -> None:
    """Refuse a request that names folders which the testbed's user has not allowed.

    Raises:
        InputError: If it does.
    """
    refuse_beyond_reach(**{name: getattr(request, name, None) for name in _FOLDERS})


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
    # The lab's own case is executed on each testbed, wherever the lab's folder is.
    folders = [*allowed.split(os.pathsep), str(control())]
    bases = [os.path.realpath(folder) for folder in folders if folder]
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
