"""Mapping files in the words of one engine.

What reads and writes mappings is loaded late: listing cases must not wait for it, and commands
should not either.
"""

import importlib
from pathlib import Path

from resources._mapping.databases import Database


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
