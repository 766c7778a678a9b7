"""Keys: made whole, checked, and named by bytes."""

import re
from collections.abc import Iterator
from typing import NamedTuple, NoReturn

from tests.emulators.datastore.messages import Message
from tests.emulators.datastore.refusals import invalid

#: Bytes of a kind or a name. Source: https://cloud.google.com/datastore/docs/concepts/limits
MAX_NAME = 1500
#: Bytes of a whole key, counted as below. Source: as above.
MAX_KEY = 6144
_RESERVED = re.compile(r"__.*__", re.DOTALL)


class Partition(NamedTuple):
    """Where keys and queries are.

    Args:
        project: The project's id.
        database: Empty for the default one.
        namespace: Empty for the default one.
    """

    project: str
    database: str
    namespace: str


def partition_of(request: Message) -> Partition:
    """Return where a query looks; what its partition leaves open, its request says."""
    given = request.partition_id
    return Partition(
        given.project_id or request.project_id,
        given.database_id or request.database_id,
        given.namespace_id,
    )


def complete(key: Message, project: str, database: str) -> None:
    """Write into a key what it leaves to its request.

    Raises:
        RefusedError: If it is of another project or database than its request.
    """
    partition = key.partition_id
    given = partition.project_id
    if given != project:
        if given:
            invalid(f"mismatched databases within request: {project} vs. {given}")
        partition.project_id = project
    given = partition.database_id
    if given != database:
        if given:
            invalid(f"mismatched databases within request: '{database}' vs. '{given}'")
        partition.database_id = database


def check(key: Message, *, incomplete: bool = False, reserved: bool = False) -> bool:
    """Look whether a key is one.

    Args:
        incomplete: Whether its last element may lack both id and name.
        reserved: Whether names such as ``__x__`` may be read.

    Returns:
        Whether it is incomplete.

    Raises:
        RefusedError: If it is none.
    """
    characters = 0
    lacking = False
    for element in key.path:
        kind, name = element.kind, element.name
        if lacking or not kind:
            _refuse(key)
        lacking = not name and not element.id
        characters += len(kind) + len(name) + 1
        if not reserved and (kind[:2] == "__" or name[:2] == "__"):
            _refuse_reserved(kind, name)
    if not characters or (lacking and not incomplete):
        _refuse(key)
    if characters > MAX_NAME // 4:
        _check_lengths(key)
    return lacking


def described(key: Message) -> str:
    """Return a key for an error's text."""
    return ", ".join(_described(key))


def size_of(key: Message) -> int:
    """Return the bytes that a key is counted with.

    Source: https://cloud.google.com/datastore/docs/concepts/storage-size
    """
    namespace = key.partition_id.namespace_id
    counted = 16 + (len(namespace.encode()) + 1 if namespace else 0)
    for element in key.path:
        counted += len(element.kind.encode()) + 1
        counted += len(element.name.encode()) + 1 if element.name else 8
    return counted


def _described(key: Message) -> Iterator[str]:
    for element in key.path:
        yield f"{element.kind}: {element.name or element.id or ''}"


def _refuse(key: Message) -> NoReturn:
    if not key.path:
        invalid("Key path is empty.")
    if not all(element.kind for element in key.path):
        invalid("The kind is the empty string.")
    invalid(f"Key path element must not be incomplete: [{described(key)}]")


def _refuse_reserved(kind: str, name: str) -> None:
    if _RESERVED.fullmatch(kind):
        invalid(f'The kind "{kind}" is reserved.')
    if _RESERVED.fullmatch(name):
        invalid(f'The key path element name "{name}" is reserved.')


def _check_lengths(key: Message) -> None:
    for element in key.path:
        if len(element.kind.encode()) > MAX_NAME:
            invalid(f"The kind is longer than {MAX_NAME} bytes.")
        if len(element.name.encode()) > MAX_NAME:
            invalid(f"The key path element name is longer than {MAX_NAME} bytes.")
    if size_of(key) > MAX_KEY:
        invalid(f"The key is longer than {MAX_KEY} bytes.")
