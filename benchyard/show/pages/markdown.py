"""Texts as Markdown: links and markup in texts from outside are escaped.

The UI's renderer follows links of any scheme and passes raw HTML on to a sanitizer, so a text from
outside must not be able to become either.
"""

import base64
import hashlib
import re

from benchyard.core.markup import cell

_CLEAN = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_DIGEST = re.compile(r"-[0-9a-f]{8}$")
_LONGEST_KEY = 100


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
