"""Values as bytes that sort as Datastore sorts them.

Everything that is compared becomes bytes: an entry of an index is the bytes of its values and of
its key, one after the other, and no value's bytes are the beginning of another one's. So sorting,
ranges, cursors and DISTINCT ON are all plain comparisons of bytes.

The order of the types: null, integers and timestamps (as microseconds), booleans, blobs and
strings (which an index cannot tell apart), doubles (-0.0 before 0.0, NaN last), points, keys.
Source: Google's emulators of 2025-06, of Datastore and of Firestore in Datastore mode, by trying.
"""

import math
import struct
from collections.abc import Callable, Iterator, Sequence

from tests.emulators.datastore.messages import Message, Value, micros_of

#: What sorts the other way round: the same bytes, each turned over.
_TURNED = bytes(range(255, -1, -1))
_NULL, _NUMBER, _BOOLEAN, _TEXT, _DOUBLE, _POINT, _KEY, _ENTITY = (
    bytes([tag]) for tag in range(1, 9)
)
#: Bytes of a value with its tag, of those that are always as long.
_LENGTHS = {_NULL: 1, _NUMBER: 9, _BOOLEAN: 2, _DOUBLE: 9, _POINT: 17}
_ID, _NAME, _END = b"\x01", b"\x02", b"\x00"
#: Names and ids are compared as unsigned numbers, values as signed ones.
_SIGN = 1 << 63


def encoded(value: Message) -> bytes:
    """Return the bytes of a value that is no array."""
    encode = _ENCODERS.get(value.WhichOneof("value_type"))
    return encode(value) if encode else _NULL


def encoded_key(key: Message) -> bytes:
    """Return the bytes of a key: ancestors first, ids before names."""
    return _KEY + b"".join(map(_element, key.path)) + _END


def beginning_below(key: Message) -> bytes:
    """Return what the bytes of all keys below this one, and of itself, begin with."""
    return encoded_key(key)[: -len(_END)]


def decoded(content: bytes) -> Message:
    """Return the value that an index has for one that went in: for a timestamp, a number."""
    decode = _DECODERS.get(content[:1])
    return decode(content[1:]) if decode else Value(null_value=0)


def split(place: bytes, descending: Sequence[bool]) -> list[bytes]:
    """Take an entry of an index apart.

    Args:
        place: The entry's bytes.
        descending: Of each column from the first, whether it is turned over.

    Returns:
        Each column's bytes, none of them turned over.
    """
    found: list[bytes] = []
    for is_turned in descending:
        length = _length(turned(place) if is_turned else place)
        column, place = place[:length], place[length:]
        found.append(turned(column) if is_turned else column)
    return found


def turned(ascending: bytes) -> bytes:
    """Return the bytes that sort the other way round."""
    return ascending.translate(_TURNED)


def successor(beginning: bytes) -> bytes:
    """Return the least bytes that are greater than all that begin so; ``b""`` if there are none."""
    kept = beginning.rstrip(b"\xff")
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else b""


def indexed(value: Message) -> Iterator[Message]:
    """Yield the values of a property that are in indexes; an empty array is in none."""
    if value.exclude_from_indexes:
        return
    kind = value.WhichOneof("value_type")
    if kind != "array_value":
        yield from () if kind == "entity_value" else (value,)
        return
    for each in value.array_value.values:
        yield from indexed(each)


def _element(element: Message) -> bytes:
    kind = b"\x01" + _text(element.kind.encode())
    if element.name:
        return kind + _NAME + _text(element.name.encode())
    return kind + _ID + struct.pack(">q", element.id)


def _text(content: bytes) -> bytes:
    return content.replace(b"\x00", b"\x00\xff") + b"\x00\x01"


def _untext(content: bytes) -> bytes:
    return content[:-2].replace(b"\x00\xff", b"\x00")


def _length(place: bytes) -> int:
    """Return how many bytes the first value has."""
    if place[:1] in _LENGTHS:
        return _LENGTHS[place[:1]]
    if place[:1] != _KEY:
        return place.index(b"\x00\x01") + 2
    return sum(map(len, _elements(place[1:]))) + 2


def _integer(number: int) -> bytes:
    return struct.pack(">Q", number + _SIGN)


def _double(number: float) -> bytes:
    known = math.nan if math.isnan(number) else number
    (bits,) = struct.unpack(">Q", struct.pack(">d", known))
    return struct.pack(">Q", bits ^ 0xFFFF_FFFF_FFFF_FFFF if bits & _SIGN else bits | _SIGN)


def _undouble(content: bytes) -> float:
    (bits,) = struct.unpack(">Q", content)
    bits = bits ^ _SIGN if bits & _SIGN else bits ^ 0xFFFF_FFFF_FFFF_FFFF
    return struct.unpack(">d", struct.pack(">Q", bits))[0]


def _encoded_entity(value: Message) -> bytes:
    return _ENTITY + _text(value.entity_value.SerializeToString(deterministic=True))


def _encoded_point(value: Message) -> bytes:
    point = value.geo_point_value
    return _POINT + _double(point.latitude) + _double(point.longitude)


_ENCODERS: dict[str, Callable[[Message], bytes]] = {
    "boolean_value": lambda value: _BOOLEAN + bytes([value.boolean_value]),
    "integer_value": lambda value: _NUMBER + _integer(value.integer_value),
    "timestamp_value": lambda value: _NUMBER + _integer(micros_of(value.timestamp_value)),
    "blob_value": lambda value: _TEXT + _text(value.blob_value),
    "string_value": lambda value: _TEXT + _text(value.string_value.encode()),
    "double_value": lambda value: _DOUBLE + _double(value.double_value),
    "key_value": lambda value: encoded_key(value.key_value),
    "geo_point_value": _encoded_point,
    "entity_value": _encoded_entity,
}


def _elements(content: bytes) -> Iterator[bytes]:
    """Yield the bytes of a key's elements."""
    while content[:1] != _END:
        end = content.index(b"\x00\x01") + 2
        end = end + 9 if content[end : end + 1] == _ID else content.index(b"\x00\x01", end) + 2
        yield content[:end]
        content = content[end:]


def _decoded_key(content: bytes) -> Message:
    value = Value()
    for each in _elements(content):
        end = each.index(b"\x00\x01") + 2
        element = value.key_value.path.add(kind=_untext(each[1:end]).decode())
        if each[end : end + 1] == _ID:
            (element.id,) = struct.unpack(">q", each[end + 1 :])
        else:
            element.name = _untext(each[end + 1 :]).decode()
    return value


def _decoded_point(content: bytes) -> Message:
    latitude, longitude = _undouble(content[:8]), _undouble(content[8:])
    return Value(geo_point_value={"latitude": latitude, "longitude": longitude})


_DECODERS: dict[bytes, Callable[[bytes], Message]] = {
    _NUMBER: lambda rest: Value(integer_value=struct.unpack(">Q", rest)[0] - _SIGN),
    _BOOLEAN: lambda rest: Value(boolean_value=bool(rest[0])),
    _TEXT: lambda rest: Value(string_value=_untext(rest).decode(errors="replace")),
    _DOUBLE: lambda rest: Value(double_value=_undouble(rest)),
    _POINT: _decoded_point,
    _KEY: _decoded_key,
}
