"""Which resource classes there are: found in folders and entry points, checked, named."""

import importlib.metadata
import importlib.util
import inspect
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from benchyard.case.parameters import signature_of
from benchyard.case.resource import Resource, commands_of
from benchyard.core.errors import InputError
from benchyard.core.files import content, shown

ENTRY_POINTS = "benchyard.resources"
#: Begin of the module names that files outside of a package are given.
_PRIVATE = "benchyard_resources_"
#: A class with bases in a file that cannot be imported.
_CLASS = re.compile(r"^class\s+(\w+)\s*\(", re.MULTILINE)


@dataclass(frozen=True)
class Registry:
    """The resource classes of this installation.

    Args:
        classes: Class name to class.
        origins: Class name to the file or entry point that it comes from.
        unavailable: Class name to the reason why it cannot be used.
    """

    classes: dict[str, type[Resource[Any]]]
    origins: dict[str, str] = field(default_factory=dict[str, str])
    unavailable: dict[str, str] = field(default_factory=dict[str, str])

    @cached_property
    def folders(self) -> frozenset[str]:
        """The real paths of the folders that classes come from."""
        return frozenset(str(Path(file).resolve().parent) for file in self.origins.values())


def _add(found: Registry, resource: type[Resource[Any]], origin: str) -> None:
    """Add a class, and refuse two of one name."""
    name = resource.__name__
    wrong = _unreadable(resource)
    if wrong:
        found.unavailable[name] = f"{origin}: {wrong}"
        return
    if found.classes.setdefault(name, resource) is not resource:
        raise InputError(
            f"two resource classes are named '{name}': one in {found.origins[name]}, one in "
            f"{origin}; rename one of them"
        )
    found.origins[name] = origin


def find(package: ModuleType, extra: Iterable[Path] = ()) -> Registry:
    """Find the classes of a package, of the installed entry points and of further folders.

    A module that cannot be imported makes its classes unavailable, with the reason; the others
    stay usable.

    Args:
        package: The package whose modules hold the shipped classes.
        extra: Folders with modules of the user's own.

    Raises:
        InputError: If a folder is not there or two classes have one name.
    """
    found = Registry({})
    for folder in package.__path__:
        for file in _modules(Path(folder)):
            _load(found, file, f"{package.__name__}.{file.stem}")
    shipped = {str(Path(origin).resolve()) for origin in found.origins.values()}
    _load_entry_points(found)
    for folder in extra:
        if not folder.is_dir():
            raise InputError(f"there is no folder '{folder}'; give --resources a folder of modules")
        for file in _modules(folder):
            if str(file.resolve()) not in shipped:
                _load(found, file, f"{_PRIVATE}{abs(hash(file.resolve().parent)):x}_{file.stem}")
    for name in found.classes:
        found.unavailable.pop(name, None)
    return found


def _modules(folder: Path) -> list[Path]:
    return sorted(f for f in folder.glob("*.py") if not f.name.startswith("_"))


def _load(found: Registry, file: Path, name: str) -> None:
    try:
        module = sys.modules.get(name) or _import(file, name)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it raises is the reason
        reason = f"{file}: {type(error).__name__}: {error}"
        found.unavailable.update(dict.fromkeys(_class_names(file), reason))
        return
    for value in list(vars(module).values()):
        if _is_resource(value) and value.__module__ == name:
            _add(found, value, str(file))
        elif name.startswith(_PRIVATE) and _lacks(value) and value.__module__ == name:
            found.unavailable[value.__name__] = f"{file}: lacks {_lacks(value)}"


def _import(file: Path, name: str) -> ModuleType:
    if "." in name:
        return importlib.import_module(name)
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is not a Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _load_entry_points(found: Registry) -> None:
    for point in importlib.metadata.entry_points(group=ENTRY_POINTS):
        try:
            value = point.load()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - as above
            found.unavailable[point.name] = f"{point.value}: {type(error).__name__}: {error}"
            continue
        if _is_resource(value):
            _add(found, value, f"entry point {point.value}")
        else:
            found.unavailable[point.name] = f"{point.value} is not a resource class"


def _is_resource(value: object) -> bool:
    """Tell a usable class from bases: those are abstract or private."""
    return (
        isinstance(value, type)
        and issubclass(value, Resource)
        and not value.__name__.startswith("_")
        and not inspect.isabstract(cast("object", value))
    )


def _unreadable(found: type[Resource[Any]]) -> str | None:
    """Say why the annotations of a class cannot be read, if so: nothing could be checked then."""
    try:
        signature_of(found.Settings).schema()
        for method in commands_of(found).values():
            signature_of(method).schema()
    except Exception as error:  # noqa: BLE001 - annotations are code of others too
        return f"{type(error).__name__}: {error}"
    return None


def _lacks(value: Any) -> str:
    """Return the methods that a would-be resource class must still define."""
    if not (isinstance(value, type) and issubclass(value, Resource)) or value.__name__[0] == "_":
        return ""
    missing = frozenset[str](getattr(cast("Any", value), "__abstractmethods__", ()))
    # One with abstract methods of its own is a base for others, and meant to be.
    return ", ".join(sorted(missing)) if missing <= Resource.__abstractmethods__ else ""


def _class_names(file: Path) -> list[str]:
    """Read the public class names of a module that cannot be imported."""
    try:
        text = file.read_bytes().decode(errors="replace")
    except OSError:
        text = ""
    return [name for name in _CLASS.findall(text) or [file.stem] if not name.startswith("_")]


_FOLDER = "resources"


def hint_at_class(name: str, case: Path, registry: Registry) -> str | None:
    """Say how a class becomes known that stands in a folder ``resources`` in or above a case.

    Args:
        case: The case's folder.
        registry: The classes that are known; others in their folders need no hint.

    Returns:
        The end of a sentence; None if no such folder has the class.
    """
    if not name.isidentifier():
        return None
    begin = re.compile(rb"^class\s+" + name.encode() + rb"\s*\(", re.MULTILINE)
    for folder in dict.fromkeys(_folders(case)):
        if os.path.realpath(folder) not in registry.folders:
            for file in sorted(folder.glob("[!_]*.py")):
                with suppress(OSError):
                    if begin.search(content(file)):
                        return _told(name, file)
    return None


def _folders(case: Path) -> Iterator[Path]:
    """Yield folders that may hold classes: in the case, above it up to its repository, and here."""
    for place in (case, *case.parents):
        yield place / _FOLDER
        if (place / ".git").exists():
            break
    with suppress(OSError):
        yield Path.cwd() / _FOLDER


def _told(name: str, file: Path) -> str:
    folder = shown(file.parent)
    return (
        f"; class {name} is in {shown(file)}: add --resources {folder}, or "
        f'resources = ["{folder}"] to benchyard.toml'
    )
