"""Removes secrets from texts and streams, before these are shortened.

A secret is looked for in every form in which programs show it: as it is, each of its lines, quoted
as in Python and JSON, as part of an address, and in base64.
"""

import base64
import json
import re
import weakref
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, AnyStr
from urllib.parse import quote, quote_plus

MASK = "******"
#: A line of a secret that is shorter tells nothing, and would be found everywhere.
_SHORTEST_LINE = 4
#: Of a piece with so few bytes somebody waits for the end; more of a larger one may be held back.
_LITTLE = 4096
#: Shorter values are by chance in base64 of others.
_SHORTEST_ENCODED = 8
#: Every known set of secrets, while somebody holds it.
_known: "weakref.WeakSet[Redaction]" = weakref.WeakSet()


class Redaction:
    """The secrets of one run; grows, and is known to the whole process as long as it lives."""

    def __init__(self) -> None:
        self._forms: frozenset[str] = frozenset()
        self._text: re.Pattern[str] | None = None
        #: Programs on whose command lines one of them stood.
        self.exposing: set[str] = set()
        _known.add(self)

    @property
    def forms(self) -> frozenset[str]:
        """All forms of all secrets."""
        return self._forms

    def add(self, value: str) -> None:
        """Add a secret."""
        forms = self._forms | set(_forms_of(value))
        if forms != self._forms:
            self._forms, self._text = forms, re.compile(_alternatives(forms))

    def redact(self, text: str) -> str:
        """Return ``text`` without the secrets."""
        return self._text.sub(MASK, text) if self._text else text


def note_arguments(arguments: Sequence[str]) -> None:
    """Note programs that got a secret as an argument: any user can list these."""
    for one in list(_known):
        if any(form in word for form in one.forms for word in arguments):
            one.exposing.add(one.redact(arguments[0]))


class Stream:
    """A stream that comes in pieces, in constant memory.

    Args:
        forms: What is looked for.
    """

    def __init__(self, forms: Iterable[str]) -> None:
        encoded = {form.encode(errors="surrogateescape") for form in forms}
        self._forms = encoded
        self._longest = max(map(len, encoded))
        self._pattern = re.compile(_alternatives(encoded))
        self._held = b""
        #: Whether anything was taken out.
        self.found = False

    def feed(self, piece: bytes) -> bytes:
        """Take a piece, and return all that cannot be the beginning of a secret."""
        held = self._held + piece
        # Whatever begins before has its end in here, too.
        limit = max(0, len(held) - self._longest + 1)
        if len(piece) <= _LITTLE:
            limit = self._begin_of_a_secret(held, limit)
        parts: list[bytes] = []
        at = 0
        for found in self._pattern.finditer(held):
            if found.start() >= limit:
                break
            parts += held[at : found.start()], MASK.encode()
            at = found.end()
            self.found = True
        cut = max(at, limit)
        self._held = held[cut:]
        return b"".join([*parts, held[at:cut]])

    def _begin_of_a_secret(self, held: bytes, at: int) -> int:
        """Return where a possible beginning of a secret starts; the end if there is none."""
        for begin in range(at, len(held)):
            rest = held[begin:]
            if any(len(form) > len(rest) and form.startswith(rest) for form in self._forms):
                return begin
        return len(held)

    def finish(self) -> bytes:
        """Return the rest."""
        held, self._held = self._held, b""
        rest, number = self._pattern.subn(MASK.encode(), held)
        self.found = self.found or bool(number)
        return rest


def known_forms() -> frozenset[str]:
    """Return every form of every secret of this process."""
    return frozenset[str]().union(*(one.forms for one in list(_known)))


def redacted(text: str) -> str:
    """Return a text without the secrets of this process; call it before shortening."""
    forms = known_forms()
    return re.sub(_alternatives(forms), MASK, text) if forms else text


def redacted_end(content: bytes, unsure: int) -> bytes:
    """Return the end of a file without any secret that this process knows.

    Args:
        unsure: So many bytes at its begin may be the rest of a secret, and are left out.
    """
    forms = {form.encode(errors="surrogateescape") for form in known_forms()}
    parts: list[bytes] = []
    at = unsure
    for found in re.finditer(_alternatives(forms), content) if forms else ():
        if found.end() > unsure:
            parts += content[at : found.start()], MASK.encode()
            at = found.end()
    return b"".join([*parts, content[at:]])


def longest_known() -> int:
    """Return the length of the longest form of a secret (bytes)."""
    return max((len(form.encode(errors="surrogateescape")) for form in known_forms()), default=0)


def _alternatives(forms: Iterable[AnyStr]) -> AnyStr:
    """Return a pattern of all, the longest first."""
    ordered = [re.escape(form) for form in sorted(forms, key=len, reverse=True)]
    bar: Any = "|" if isinstance(ordered[0], str) else b"|"
    return bar.join(ordered)


def _forms_of(value: str) -> Iterator[str]:
    lines = [line.strip() for line in value.splitlines()]
    for part in (value, *(line for line in lines if len(line) >= _SHORTEST_LINE)):
        if part:
            yield from _quoted(part)
    if len(value) >= _SHORTEST_ENCODED:
        yield base64.b64encode(value.encode(errors="surrogateescape")).decode().rstrip("=")


def _quoted(part: str) -> Iterator[str]:
    encoded = part.encode(errors="surrogateescape")
    yield part
    yield repr(part)[1:-1]
    yield from (json.dumps(part, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False))
    yield from (quote(encoded, safe=""), quote(encoded), quote_plus(encoded))
