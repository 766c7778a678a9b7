"""Keys of artifacts: the UI keeps a history of each."""

import hashlib
import re

_CLEAN = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_DIGEST = re.compile(r"-[0-9a-f]{8}$")
_LONGEST = 100


def key_of(kind: str, title: str) -> str:
    """Return the key of a case's artifact: lower-case letters, digits and dashes.

    Two titles never share one: what is not written so anyway gets a piece of its digest.

    Args:
        kind: What it shows, such as ``result``; a word.
        title: Of the case.
    """
    clean = _CLEAN.fullmatch(title) and not _DIGEST.search(title) and len(title) <= _LONGEST
    if clean:
        return f"{kind}-{title}"
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:_LONGEST]
    digest = hashlib.sha256(title.encode(errors="surrogateescape")).hexdigest()[:8]
    return "-".join(part for part in (kind, words.strip("-"), digest) if part)
