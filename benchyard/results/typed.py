"""Dataclasses out of decoded JSON, by the annotations of their fields; what has a default may lack.

Members that a class does not have are ignored: a later version may write them.
"""

from datetime import MAXYEAR, MINYEAR, datetime
from typing import Annotated, TypeAlias, TypeVar

from msgspec import Meta, MsgspecError, convert

T = TypeVar("T")

#: No size or length is larger: beyond it, sums and squares would leave the floats. Integers stay
#: integers, for a counter is written as one.
Number: TypeAlias = (
    Annotated[float, Meta(ge=-1e100, le=1e100)] | Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
)
Length: TypeAlias = Annotated[float, Meta(ge=0, le=1e100)]
Count: TypeAlias = Annotated[int, Meta(ge=0, le=10**9)]


def read_as(kind: type[T], document: object) -> T:
    """Make a dataclass out of an object.

    Raises:
        ValueError: If a member is missing or not of its type; it names the place.
    """
    try:
        return convert(document, kind)
    except MsgspecError as error:
        raise ValueError(str(error).replace("`", "'")) from error


def is_moment(text: str) -> bool:
    """Tell whether a text is a time with a zone that all other zones have, too.

    Raises:
        ValueError: If it is no time.
    """
    read = datetime.fromisoformat(text)
    return read.tzinfo is not None and MINYEAR < read.year < MAXYEAR


def check_moments(*texts: str | None) -> None:
    """Refuse a time without a zone.

    Raises:
        ValueError: If a text is not None, and no such time.
    """
    for text in texts:
        if text is not None and not is_moment(text):
            raise ValueError(f"'{text}' is not a time with a time zone")
