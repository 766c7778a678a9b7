"""Files that engines are handed: configurations with passwords, mappings in their own words.

What reads and writes mappings is loaded late: listing cases must not wait for it, and commands
should not either.
"""

import importlib
import os
import uuid
from collections.abc import Mapping
from pathlib import Path

from benchyard.core.errors import CommandFailedError
from resources._mapping.commands import Database

#: Who may read and write what holds a password.
PRIVATE = 0o600


def write_private(path: Path, text: str) -> None:
    """Write a file that no other user can read at any moment.

    Raises:
        OSError: If the disk is full or not writable.
    """
    beside = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def ini(sections: Mapping[str, Mapping[str, str]], delimiter: str = " = ") -> str:
    """Return a file of sections for Python's ``configparser`` with its extended interpolation.

    Raises:
        CommandFailedError: If a value cannot stand in such a file.
    """
    blocks = [
        "".join([f"[{section}]\n", *(_ini_line(n, v, delimiter) for n, v in values.items())])
        for section, values in sections.items()
    ]
    return "\n".join(blocks)


def _ini_line(name: str, value: str, delimiter: str) -> str:
    if value != value.strip() or len(value.splitlines()) > 1:
        raise _unwritable(name)
    return f"{name}{delimiter}{value.replace('$', '$$')}\n"


#: Source: java.util.Properties.load.
_ESCAPED = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f"}


def properties(values: Mapping[str, str]) -> str:
    """Return a file for Java's ``Properties``, in ASCII."""
    return "".join(f"{name}={_property(value)}\n" for name, value in values.items())


def _property(value: str) -> str:
    # Java takes spaces after the '=' for no part of the value, unless they are escaped.
    spaces = len(value) - len(value.lstrip(" "))
    rest = "".join(_ESCAPED.get(letter) or _ascii(letter) for letter in value[spaces:])
    return "\\ " * spaces + rest


def _ascii(letter: str) -> str:
    if letter.isascii():
        return letter
    units = letter.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _unwritable(name: str) -> CommandFailedError:
    return CommandFailedError(
        f"the value of '{name}' has line breaks, or spaces at an end, which the program's "
        "configuration file cannot hold; change it"
    )


def load() -> None:
    """Load what converts, where nothing is measured."""
    importlib.import_module("resources._mapping.mappings")


def in_rml(mapping: Path, name: str, database: Database, *, formulations: bool = False) -> str:
    """Return a mapping as RML that names its database.

    Args:
        name: Of the file, for errors.
        formulations: Whether it tells how databases are referred to.

    Raises:
        CommandFailedError: If it is not well-formed.
    """
    from resources._mapping import mappings  # noqa: PLC0415 - see above

    graph = mappings.read_mapping(mapping, name)
    mappings.connect(graph, database)
    if formulations:
        mappings.name_formulations(graph)
    return mappings.turtle(graph)


def with_classes(mapping: Path, name: str) -> str:
    """Return a mapping with ``rr:class`` in the place of what maps to a constant ``rdf:type``.

    Args:
        name: Of the file, for errors.

    Raises:
        CommandFailedError: If it is not well-formed, or a type is no constant.
    """
    from resources._mapping import mappings  # noqa: PLC0415 - see above

    graph = mappings.read_mapping(mapping, name)
    mappings.name_classes(graph, name)
    return mappings.turtle(graph)


def with_moved_sources(mapping: Path, name: str, old: str, new: str) -> str:
    """Return a mapping whose sources begin with ``new`` where they begin with ``old``.

    Args:
        name: Of the file, for errors.

    Raises:
        CommandFailedError: If it is not well-formed.
    """
    from resources._mapping import mappings  # noqa: PLC0415 - see above

    graph = mappings.read_mapping(mapping, name)
    mappings.move_sources(graph, old, new)
    return mappings.turtle(graph)
