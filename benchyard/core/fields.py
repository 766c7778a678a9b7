"""What the fields of a dataclass say: type, bounds, default and, in the docstring, meaning."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, ClassVar, Literal, get_type_hints


@dataclass(frozen=True, slots=True)
class Within:
    """The least and the most that an amount may be, and its unit.

    It is a group of metadata as annotated-types has them, whose import few commands wait for.
    """

    least: float
    most: float
    unit: str = ""
    __is_annotated_types_grouped_metadata__: ClassVar[Literal[True]] = True

    def __iter__(self) -> Iterator[object]:
        """Iterate over what pydantic makes a form's bounds of."""
        from annotated_types import Ge, Le  # noqa: PLC0415 - only a form asks

        return iter((Ge(self.least), Le(self.most)))


@dataclass(frozen=True, slots=True)
class Share:
    """Marks a number between 0 and 1, both excluded; on the command line it is a percentage."""


@dataclass(frozen=True, slots=True)
class Described:
    """What there is to say of a field.

    Args:
        hint: Its type, with annotations.
        default: ``dataclasses.MISSING`` if it has none.
        meaning: A sentence or more.
    """

    hint: Any
    default: Any
    meaning: str

    @property
    def annotations(self) -> list[Any]:
        """The annotations of the type, or of the members of a union."""
        return _annotations(self.hint)

    @property
    def bounds(self) -> Within | None:
        """The bounds, if there are any."""
        return next((one for one in self.annotations if isinstance(one, Within)), None)


@cache
def described(kind: type) -> dict[str, Described]:
    """Return what the annotations and the docstrings of a dataclass say of each field."""
    hints, meanings = get_type_hints(kind, include_extras=True), _meanings(kind)
    return {
        field.name: Described(hints[field.name], field.default, meanings.get(field.name, ""))
        for field in fields(kind)
    }


def _annotations(hint: Any) -> list[Any]:
    parts = [one for part in getattr(hint, "__args__", ()) for one in _annotations(part)]
    return [*getattr(hint, "__metadata__", ()), *parts]


def _meanings(kind: type) -> dict[str, str]:
    meanings: dict[str, str] = {}
    for base in reversed(kind.__mro__[:-1]):
        name = ""
        for line in (base.__doc__ or "").partition("Args:\n")[2].splitlines():
            text = line.strip()
            if line.startswith(" " * 12):
                meanings[name] += f" {text}"
            elif text:
                name, _, meanings[name] = text.partition(": ")
    return meanings
