"""Keep files of the current folder from deciding what is executed.

Prefect takes its settings from ``.env``, ``prefect.toml`` and ``pyproject.toml`` of the current
folder too, and one of them names a logging configuration, which calls whatever it names. So it is
imported where nobody can put a file. Which server to use is all that the current folder may say.
"""

import os
import sys
import tomllib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any, cast

#: A folder in which nobody can make a file, on every Linux.
_NOWHERE = "/proc"
_SERVER = {
    "url": "PREFECT_API_URL",
    "key": "PREFECT_API_KEY",
    "auth_string": "PREFECT_API_AUTH_STRING",
}
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
        sys.meta_path.insert(0, _Finder())


class _Finder:
    """Finds Prefect alone."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        del path, target
        spec = PathFinder.find_spec(name) if name == "prefect" else None
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


class _Loader(SourceFileLoader):
    """Imports Prefect until its settings and its logging stand."""

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
    for found in (
        _of_dotenv(),
        _of_toml("prefect.toml"),
        _of_toml("pyproject.toml", "tool", "prefect"),
    ):
        for name, value in found:
            os.environ.setdefault(name, value)


def _of_dotenv() -> Iterator[tuple[str, str]]:
    if not Path(".env").is_file():
        return
    from dotenv import dotenv_values  # noqa: PLC0415 - most folders have none

    for name, value in dotenv_values(".env").items():
        if value and name.upper() in _SERVER.values():
            yield name.upper(), value


def _of_toml(file: str, *table: str) -> Iterator[tuple[str, str]]:
    try:
        content: Any = tomllib.loads(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return
    for key in (*table, "api"):
        content = cast("dict[str, Any]", content).get(key) if isinstance(content, dict) else None
    for key, name in _SERVER.items():
        value = cast("dict[str, Any]", content).get(key) if isinstance(content, dict) else None
        if value and isinstance(value, str):
            yield name, value
