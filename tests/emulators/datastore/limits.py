"""The limits on what is written, and the sentences they are told with.

Sources: https://cloud.google.com/datastore/docs/concepts/limits for the numbers,
https://cloud.google.com/datastore/docs/concepts/storage-size for how bytes are counted, and
https://cloud.google.com/datastore/docs/troubleshooting for the sentences on properties.
"""

from collections.abc import Iterable, Iterator

from tests.emulators.datastore.keys import size_of
from tests.emulators.datastore.messages import Message
from tests.emulators.datastore.refusals import invalid

MAX_REQUEST = 10 * 1024 * 1024
MAX_ENTITY = 1_048_572
MAX_UNINDEXED = 1_048_487
MAX_INDEXED = 1_500
MAX_INDEX_ENTRIES = 20_000
MAX_DEPTH = 20
MAX_LOOKUP = 1_000
#: Of a legacy Cloud Datastore only; gone from Firestore in Datastore mode since 2023-03-29.
MAX_LEGACY_MUTATIONS = 500
#: What the values that hold others begin with: field 9 and field 6 of a Value, with a length.
_ARRAY, _ENTITY = b"\x4a", b"\x32"


def check_request(raw: bytes) -> None:
    """Refuse a request that is too large.

    Raises:
        RefusedError: If it is; so below.
    """
    if len(raw) > MAX_REQUEST:
        invalid(f"Request payload size exceeds the limit: {MAX_REQUEST} bytes.")


def check_entity(entity: Message, raw: bytes) -> None:
    """Refuse an entity that is too large or holds something that is.

    The real service counts an entity's bytes in one way for its bill and tells no other; that
    count and the message's length both must keep the limit, so that nothing passes here that may
    be refused there.
    """
    if len(raw) <= MAX_INDEXED and not _is_suspect(entity, raw):
        return
    for name, value in entity.properties.items():
        _check_name(name)
        _check_value(name, value, unindexed=False, depth=1)
    if max(len(raw), _size(entity)) > MAX_ENTITY:
        invalid(f"maximum entity size is {MAX_ENTITY} bytes")
    if sum(1 for _ in _indexed(entity)) > MAX_INDEX_ENTRIES:
        invalid("Too many indexed properties")


def check_lookup(keys: int) -> None:
    """Refuse to look up too many keys at once."""
    if keys > MAX_LOOKUP:
        invalid("cannot get more than 1000 keys in a single call")


def check_legacy(mutations: int) -> None:
    """Refuse what a legacy database refuses."""
    if mutations > MAX_LEGACY_MUTATIONS:
        invalid("cannot write more than 500 entities in a single call")


def _is_suspect(entity: Message, raw: bytes) -> bool:
    """Tell whether a small entity may be wrong, from its bytes, as looking inside takes longer.

    What is wrong with a small one is a name, an array in an array, or many entities in each other.
    """
    arrays, entities = raw.count(_ARRAY), raw.count(_ENTITY)
    return b"__" in raw or arrays > 1 or entities > MAX_DEPTH or "" in entity.properties


def _check_name(name: str) -> None:
    if not name:
        invalid("The property.name is the empty string.")
    if name[:2] == name[-2:] == "__":
        invalid(f'The property.name "{name}" is reserved.')
    if len(name) > MAX_INDEXED // 4 and len(name.encode()) > MAX_INDEXED:
        invalid(f"The property.name is longer than {MAX_INDEXED} bytes.")


def _check_value(name: str, value: Message, *, unindexed: bool, depth: int) -> None:
    unindexed = unindexed or value.exclude_from_indexes
    match value.WhichOneof("value_type"):
        case "string_value":
            _check_length(name, len(value.string_value.encode()), unindexed=unindexed)
        case "blob_value":
            _check_length(name, len(value.blob_value), unindexed=unindexed)
        case "array_value":
            _check_array(name, value.array_value.values, unindexed=unindexed, depth=depth)
        case "entity_value":
            if depth > MAX_DEPTH:
                invalid(f"At most {MAX_DEPTH} nested entity values are supported.")
            for inner, each in value.entity_value.properties.items():
                _check_value(f"{name}.{inner}", each, unindexed=unindexed, depth=depth + 1)
        case _:
            pass


def _check_array(name: str, values: Iterable[Message], *, unindexed: bool, depth: int) -> None:
    for each in values:
        if each.WhichOneof("value_type") == "array_value":
            invalid("list_value cannot contain a Value containing another list_value.")
        _check_value(name, each, unindexed=unindexed, depth=depth)


def _check_length(name: str, length: int, *, unindexed: bool) -> None:
    limit = MAX_UNINDEXED if unindexed else MAX_INDEXED
    if length > limit:
        invalid(f'The value of property "{name}" is longer than {limit} bytes.')


def _size(entity: Message) -> int:
    properties = entity.properties.items()
    return (
        32 + size_of(entity.key) + sum(len(n.encode()) + 1 + _value_size(v) for n, v in properties)
    )


def _value_size(value: Message) -> int:
    match value.WhichOneof("value_type"):
        case "string_value":
            return len(value.string_value.encode()) + 1
        case "blob_value":
            return len(value.blob_value)
        case "array_value":
            return sum(map(_value_size, value.array_value.values))
        case "entity_value":
            return _size(value.entity_value)
        case "key_value":
            return size_of(value.key_value)
        case "geo_point_value":
            return 16
        case "boolean_value" | "null_value":
            return 1
        case _:
            return 8


def _indexed(entity: Message) -> Iterator[Message]:
    for value in entity.properties.values():
        if value.exclude_from_indexes:
            continue
        if value.WhichOneof("value_type") == "array_value":
            yield from (each for each in value.array_value.values if not each.exclude_from_indexes)
        else:
            yield value
