"""What may be written: keys, properties, sizes, and the sentences that others are refused with.

Sources: https://cloud.google.com/datastore/docs/concepts/limits for the numbers,
https://cloud.google.com/datastore/docs/concepts/storage-size for how bytes are counted, and
https://cloud.google.com/datastore/docs/troubleshooting for the sentences on properties.
All functions raise RefusedError.
"""

import re

from tests.emulators.datastore.protocol import Message, invalid, only

MAX_REQUEST = 10 * 1024 * 1024
MAX_KEY = 6_144
MAX_ENTITY = 1_048_572
MAX_UNINDEXED = 1_048_487
#: Of an indexed text, a kind, the name of a key or a property.
MAX_INDEXED = 1_500
MAX_LOOKUP = 1_000
#: Of a legacy Cloud Datastore only; gone from Firestore in Datastore mode since 2023-03-29.
MAX_LEGACY_MUTATIONS = 500
_RESERVED = re.compile(r"__.*__", re.DOTALL)


def check_request(raw: bytes) -> None:
    """Refuse a request that is too large."""
    if len(raw) > MAX_REQUEST:
        invalid(f"Request payload size exceeds the limit: {MAX_REQUEST} bytes.")


def complete(key: Message, request: Message) -> bool:
    """Write into a key what it leaves to its request, and check it.

    Returns:
        Whether its last element lacks both id and name.
    """
    partition = key.partition_id
    project, database = request.project_id, request.database_id
    for given, wanted in ((partition.project_id, project), (partition.database_id, database)):
        if given not in ("", wanted):
            invalid(f"mismatched databases within request: '{wanted}' vs. '{given}'")
    partition.project_id, partition.database_id = project, database
    if not key.path:
        invalid("Key path is empty.")
    if not all(element.kind for element in key.path):
        invalid("The kind is the empty string.")
    if not all(element.id or element.name for element in key.path[:-1]):
        invalid("Key path element must not be incomplete.")
    _check_names(key)
    if _key_size(key) > MAX_KEY:
        invalid(f"The key is longer than {MAX_KEY} bytes.")
    return not (key.path[-1].id or key.path[-1].name)


def _check_names(key: Message) -> None:
    for element in key.path:
        for what, text in (("kind", element.kind), ("key path element name", element.name)):
            if _RESERVED.fullmatch(text):
                invalid(f'The {what} "{text}" is reserved.')
            if len(text) > MAX_INDEXED // 4 and len(text.encode()) > MAX_INDEXED:
                invalid(f"The {what} is longer than {MAX_INDEXED} bytes.")


def check_entity(entity: Message) -> None:
    """Refuse an entity that is too large or holds something that is.

    The real service does not say which of two counts is limited: the one that it bills, or the
    message's length. Both are limited here.
    """
    size = 32 + _key_size(entity.key)
    for name, value in entity.properties.items():
        if not name:
            invalid("The property.name is the empty string.")
        if _RESERVED.fullmatch(name):
            invalid(f'The property.name "{name}" is reserved.')
        size += len(name.encode()) + 1 + _value_size(name, value)
    if max(entity.ByteSize(), size) > MAX_ENTITY:
        invalid(f"maximum entity size is {MAX_ENTITY} bytes")


def _key_size(key: Message) -> int:
    namespace = key.partition_id.namespace_id
    size = 16 + (len(namespace.encode()) + 1 if namespace else 0)
    for element in key.path:
        size += len(element.kind.encode()) + 1
        size += len(element.name.encode()) + 1 if element.name else 8
    return size


def _value_size(name: str, value: Message) -> int:
    if value.WhichOneof("value_type") != "string_value":
        numbers = ("null_value", "boolean_value", "integer_value", "double_value")
        only(value, *numbers, "timestamp_value", "exclude_from_indexes", "meaning")
        return 8
    size = len(value.string_value.encode())
    limit = MAX_UNINDEXED if value.exclude_from_indexes else MAX_INDEXED
    if size > limit:
        invalid(f'The value of property "{name}" is longer than {limit} bytes.')
    return size + 1
