"""Texts of users as Markdown: nothing in them becomes markup, a link, or another line."""

import re

from benchyard.core.wording import printable

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
