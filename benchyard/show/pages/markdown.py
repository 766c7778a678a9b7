"""Texts as Markdown: links and markup in texts from outside are escaped.

The UI's renderer follows links of any scheme and passes raw HTML on to a sanitizer, so a text from
outside must not be able to become either.
"""

import base64
import hashlib
import re

from benchyard.core.quantity import shorten
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
_CLEAN = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_DIGEST = re.compile(r"-[0-9a-f]{8}$")
_LONGEST_KEY = 100


def cell(text: object, longest: int = LONGEST) -> str:
    """Return a text escaped for Markdown, on one line.

    Args:
        longest: Characters; what is longer is cut off.
    """
    line = printable(" ".join(str(text).split()))
    escaped = _INSIDE.sub("_", _ACTIVE.sub(r"\\\g<0>", shorten(line, longest)))
    return _WWW.sub(r"\g<0>\\", _start(escaped))


def _start(text: str) -> str:
    found = _AT_START.match(text)
    if found is None:
        return text
    # Of a number the dot behind it is what makes a list.
    at = found.end() if found[0].isdigit() else 0
    return f"{text[:at]}\\{text[at:]}"


def link(text: str, address: str | None) -> str:
    """Return a link, or the text alone if there is no address.

    Args:
        address: Ours; it must hold no blank and no bracket.
    """
    shown = cell(text)
    return f"[{shown}]({address})" if address and shown else shown


def embedded(svg: str, what: str) -> str:
    """Return a picture that is part of the page.

    Args:
        what: It says what is to be seen, for those who cannot.
    """
    data = base64.b64encode(svg.encode()).decode()
    return f"![{cell(what)}](data:image/svg+xml;base64,{data})\n"


def key_of(kind: str, title: str) -> str:
    """Return the key of a case's artifact: lower-case letters, digits and dashes.

    Two titles never share one: what is not written so anyway gets a piece of its digest.

    Args:
        kind: What it shows, such as ``result``; a word.
        title: Of the case.
    """
    clean = _CLEAN.fullmatch(title) and not _DIGEST.search(title) and len(title) <= _LONGEST_KEY
    if clean:
        return f"{kind}-{title}"
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:_LONGEST_KEY]
    digest = hashlib.sha256(title.encode(errors="surrogateescape")).hexdigest()[:8]
    return "-".join(part for part in (kind, words.strip("-"), digest) if part)
