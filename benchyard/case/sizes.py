"""Sizes of memory as people write them."""

import re

from benchyard.core.wording import quote

_SIZE = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?) ?([kmgtp]?)(?:i?b)?", re.IGNORECASE)
_POWERS = {letter: power for power, letter in enumerate(("", "k", "m", "g", "t", "p"))}
#: No host has more: 2^57 bytes is all that five levels of page tables reach.
#: Source: Linux, Documentation/arch/x86/x86_64/5level-paging.rst.
_MOST_BYTES = 2**57


def size(given: str | float) -> int:
    """Return the bytes of a number of them, or of a size such as ``512MB`` or ``1.5 GiB``.

    Letters count in powers of 1,024, as they do in the settings of containers.

    Raises:
        ValueError: If it is none, none at all, or more than any host has; the text is a finding.
    """
    if isinstance(given, str):
        found = _SIZE.fullmatch(given.strip()) if given.isascii() else None
        if found is None:
            raise ValueError(f"'{quote(given)}' is no size; write it like 512MB or 16GiB")
        made = round(float(found[1]) * 1024 ** _POWERS[found[2].lower()])
    else:
        made = int(given)
    if not 1 <= made <= _MOST_BYTES:
        what = "nothing" if made < 1 else "more than any host has"
        raise ValueError(f"{quote(given)} is {what}; write what the case needs, such as 16GiB")
    return made
