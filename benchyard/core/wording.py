"""Texts of messages: quoted, shortened and escaped values, suggestions for misspelt names.

In Markdown nothing in a text of a user becomes markup, a link, or another line.
"""

import json
import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import Self

from benchyard.core.errors import InputError
from benchyard.core.quantity import shorten

#: The largest number of a run that a set may name.
_MAX_RUN = 100_000
_SET = re.compile(r"[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*")

#: Similarity from which a name counts as a slip of the pen (``difflib`` ratio, 0 to 1).
NEAR = 0.8
#: Similarity from which a name is worth suggesting when the given one is certainly wrong.
WORTH_SUGGESTING = 0.5
#: Longest piece of a user's value that a message quotes.
_QUOTE = 60
#: Most names that a message lists.
_LISTED = 20
#: Of so many names none is suggested: to compare each costs more than the suggestion is worth.
_MOST_NAMES = 200
#: Longer words are no slips of a pen, and comparing them takes the square of their length.
_LONGEST_WORD = 200
#: So many suggestions are remembered: the same slip often stands in each step.
_REMEMBERED = 4_096


def printable(text: str, but: str = "") -> str:
    """Escape every character that is not printable.

    Args:
        but: Characters that are left.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in but else repr(c)[1:-1] for c in text)


class Sentence(str):
    """A message with its form: the text without the user's values.

    Args:
        form: The message with ``{}`` for each value, and ``{name}`` for what ``others`` hold.
        values: As they stand in the message.
        others: What depends on no value, such as a folder.
    """

    form: str

    def __new__(cls, form: str, *values: object, **others: object) -> Self:
        """Fill the form."""
        made = super().__new__(cls, form.format(*values, **others))
        made.form = form
        return made

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """Become plain text where it is copied or pickled."""
        return str, (str(self),)


def quote(value: object) -> str:
    """Escape and shorten a user's value for a message."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return shorten(printable(text[: _QUOTE + 1]), _QUOTE)


def near_miss(word: str, known: Iterable[str], similarity: float = NEAR) -> str | None:
    """Return the known name that ``word`` was most likely meant to be, or None."""
    return _nearest(word, frozenset(known), similarity)


def hint(word: str, known: Collection[str], most: int = _MOST_NAMES) -> str:
    """Return what to write instead of an unknown name, with a leading space.

    Args:
        most: Among more names none is looked for.
    """
    if len(known) > most:
        return _listed(sorted(islice(known, _LISTED)), len(known))
    found = near_miss(word, known, WORTH_SUGGESTING)
    if found:
        return f"; did you mean '{found}'?"
    return _listed(sorted(known)[:_LISTED], len(known)) if known else ""


def _listed(names: Iterable[str], number: int) -> str:
    more = f" and {number - _LISTED:,} more" if number > _LISTED else ""
    return f"; known: {', '.join(map(quote, names))}{more}"


@lru_cache(_REMEMBERED)
def _nearest(word: str, known: frozenset[str], similarity: float) -> str | None:
    if len(word) > _LONGEST_WORD:
        return None
    from difflib import get_close_matches  # noqa: PLC0415 - only for a slip of the pen

    short = sorted(name for name in known if len(name) <= _LONGEST_WORD)
    lower = {name.lower(): name for name in short}
    found = get_close_matches(word.lower(), list(lower), n=1, cutoff=similarity)
    return lower[found[0]] if found else None


def some(names: Collection[str], most: int = 3) -> str:
    """Return the first of some names, and how many more there are: ``a, b and 7 more``."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(islice(names, most)) + more


def in_short(runs: Sequence[int]) -> str:
    """Write ascending numbers of runs as ``1-5,8``."""
    parts: list[list[int]] = []
    for run in runs:
        if parts and run == parts[-1][-1] + 1:
            parts[-1][1:] = [run]
        else:
            parts.append([run])
    return ",".join("-".join(map(str, part)) for part in parts)


def runs_and(numbers: Sequence[int], one: str, more: str) -> str:
    """Return ``run 3 was`` or ``runs 1-3, 5 were``.

    Args:
        one: The verb for one run.
        more: The verb for several.
    """
    return f"{named_runs(numbers)} {one if len(numbers) == 1 else more}"


def named_runs(numbers: Sequence[int]) -> str:
    """Return ``run 3`` or ``runs 1-3, 5``."""
    listed = in_short(numbers).replace(",", ", ")
    return f"run {listed}" if len(numbers) == 1 else f"runs {listed}"


def parse_runs(text: str) -> tuple[int, ...]:
    """Read a set of runs such as ``1-5,8``.

    Returns:
        The numbers, ascending, each once.

    Raises:
        InputError: If it is not written so, or a number is out of range.
    """
    if not (text.isascii() and _SET.fullmatch(text)):
        raise InputError(f"{text!r} is no set of runs; write numbers and ranges such as 1-5,8")
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        found.update(_range(text, first, last or first))
    return tuple(sorted(found))


def _range(text: str, first: str, last: str) -> range:
    longest = len(str(_MAX_RUN))
    # Python refuses to convert numbers of thousands of digits, with another exception.
    low, high = (int(end) if len(end) <= longest else _MAX_RUN + 1 for end in (first, last))
    if not 1 <= low <= high <= _MAX_RUN:
        raise InputError(f"{text!r}: runs are numbered from 1 to {_MAX_RUN:,}, and a range goes up")
    return range(low, high + 1)


#: What begins something in Markdown or HTML wherever it stands, and what is part of an address.
_ACTIVE = re.compile(r"[\\`*_\[\]<>|~&@]|:(?=/)")
#: What begins something only where a line does; a number with a dot there would be a list.
_AT_START = re.compile(r"[#+=!-]|\d+(?=[.)](?:\s|$))")
_WWW = re.compile(r"(?i)www(?=\.)")
#: A backslash inside of a word is not needed, and ugly where a text is shown as it is.
_INSIDE = re.compile(r"(?<=[A-Za-z0-9])\\_(?=[A-Za-z0-9])")
#: Longest text of one cell.
LONGEST = 300
_BACKTICKS = re.compile(r"`+")


def inline(text: object, longest: int = LONGEST) -> str:
    """Return a text escaped for a cell of a table, or behind the beginning of a line.

    Args:
        text: What it is written of; blanks and line ends become one blank.
        longest: Characters; what is longer is cut off.
    """
    line = printable(" ".join(str(text).split()))
    line = line if len(line) <= longest else f"{line[: longest - 1]}…"
    return _WWW.sub(r"\g<0>\\", _INSIDE.sub("_", _ACTIVE.sub(r"\\\g<0>", line)))


def cell(text: object, longest: int = LONGEST) -> str:
    """Return a text escaped for Markdown, wherever it stands; see ``inline``."""
    return _start(inline(text, longest))


def item(text: str) -> str:
    """Return a text escaped for an item of a list, of any length; a bar is no markup there."""
    return inline(text, len(text) + 1).replace(r"\|", "|")


def code(text: str) -> str:
    """Return a text as a code span, for a cell of a table too; control characters are escaped."""
    line = printable(text).replace("|", r"\|")
    fence = "`" * (1 + max(map(len, _BACKTICKS.findall(line)), default=0))
    blank = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{blank}{line}{blank}{fence}"


def _start(text: str) -> str:
    found = _AT_START.match(text)
    if found is None:
        return text
    # Of a number the dot behind it is what makes a list.
    at = found.end() if found[0].isdigit() else 0
    return f"{text[:at]}\\{text[at:]}"
