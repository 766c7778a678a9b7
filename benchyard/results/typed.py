"""Dataclasses out of decoded JSON, by the types of their fields.

A field may be a text, number, boolean, enumeration, dataclass, mapping or tuple of these, None, or
``Json``, which is taken as it is. What has a default may be missing.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from datetime import MAXYEAR, MINYEAR, datetime
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, TypeAlias, TypeVar, Union, cast, get_args, get_origin

from benchyard.core.quantity import shorten

T = TypeVar("T")
_Read: TypeAlias = Callable[[Any], Any]

#: No counter, size or length is larger: beyond it, sums and squares would leave the floats.
_LARGEST = 1e100


@dataclass(frozen=True, slots=True)
class Rule:
    """What a value must hold beside its type.

    Args:
        otherwise: What a value is that does not.
    """

    holds: Callable[[Any], bool]
    otherwise: str


def is_moment(text: str) -> bool:
    """Tell whether a text is a time with a zone that all other zones have, too.

    Raises:
        ValueError: If it is no time.
    """
    read = datetime.fromisoformat(text)
    return read.tzinfo is not None and MINYEAR < read.year < MAXYEAR


Length: TypeAlias = Annotated[float, Rule(lambda value: value >= 0, "no number from 0 on")]
Count: TypeAlias = Annotated[int, Rule(lambda value: 0 <= value <= 10**9, "no number of anything")]
Moment: TypeAlias = Annotated[str, Rule(is_moment, "no time with a time zone")]


class _OddError(ValueError):
    """What is wrong with the value of a member that is named by whoever catches it."""


def _odd(value: object, what: str) -> _OddError:
    text = f"'{value}'" if isinstance(value, str) else str(value)
    return _OddError(f"is {shorten(text, 41)}, and {what}")


def read_as(kind: type[T], document: object) -> T:
    """Make a dataclass out of an object.

    Raises:
        KeyError: If a member is missing.
        ValueError: If a member is not known, or its value is not of its type.
    """
    return cast("T", _reader(kind)(document))


@cache
def _reader(kind: Any) -> _Read:
    origin, args = get_origin(kind), get_args(kind)
    if isinstance(kind, str):  # Json, an alias that names itself
        return lambda value: value
    if is_dataclass(kind):
        return _members(cast("type[Any]", kind))
    if origin is Annotated:
        return _ruled(_reader(args[0]), args[1])
    if origin in (Union, UnionType):
        [inner] = [_reader(one) for one in args if one is not NoneType]
        return lambda value: None if value is None else inner(value)
    if origin is tuple:
        item = _reader(args[0])
        return lambda value: tuple(map(item, _checked(value, list, "no list")))
    if origin is Mapping:
        return _mapping(args[1])
    return _SIMPLE.get(kind) or _enumeration(kind)


def _members(kind: type[Any]) -> _Read:
    known = {field.name: _reader(field.type) for field in fields(kind)}
    needed = [f.name for f in fields(kind) if f.default is f.default_factory is MISSING]

    def read(value: Any) -> Any:
        made: dict[str, Any] = {}
        for name, inner in _checked(value, dict, "no object").items():
            if name not in known:
                raise ValueError(f"'{name}' is not known")
            try:
                made[name] = known[name](inner)
            except _OddError as error:
                raise ValueError(f"'{name}' {error}") from None
        missing = next((name for name in needed if name not in made), None)
        if missing is not None:
            raise KeyError(missing)
        return kind(**made)

    return read


def _ruled(read: _Read, rule: Rule) -> _Read:
    def ruled(value: Any) -> Any:
        made = read(value)
        if not rule.holds(made):
            raise _odd(value, rule.otherwise)
        return made

    return ruled


def _mapping(kind: Any) -> _Read:
    item = _reader(kind)

    def read(value: Any) -> Any:
        found = _checked(value, dict, "no object")
        if isinstance(kind, str):
            return found
        made: dict[str, Any] = {}
        for name, inner in found.items():
            try:
                made[name] = item(inner)
            except _OddError as error:
                raise _OddError(f"has '{name}', which {error}") from None
        return made

    return read


def _checked(value: Any, kind: type[Any], otherwise: str) -> Any:
    if type(value) is not kind:
        raise _odd(value, otherwise)
    return value


def _number(value: Any) -> Any:
    if type(value) not in (int, float) or not abs(value) <= _LARGEST:
        raise _odd(value, "no number")
    return value


def _enumeration(kind: Any) -> _Read:
    def read(value: Any) -> Any:
        try:
            return kind(value)
        except ValueError:
            raise _odd(value, f"none of {', '.join(kind)}") from None

    return read


_SIMPLE: dict[Any, _Read] = {
    str: lambda value: _checked(value, str, "no text"),
    bool: lambda value: _checked(value, bool, "neither true nor false"),
    int: lambda value: _checked(value, int, "no whole number"),
    float: _number,
}
