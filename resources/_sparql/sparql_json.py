"""JSON that is read from one end to the other and never held whole, however large it is."""

import codecs
import json
from collections.abc import Iterator
from typing import IO, Any

#: Bytes that are read at once.
_CHUNK = 1 << 20
#: A single value may have so many characters; in an answer that is one solution.
_LARGEST = 1 << 26
_BLANK = " \t\n\r"


class MalformedError(Exception):
    """An answer is not what its content type says; the text says where."""


class JsonStream:
    """A cursor in a JSON text.

    Args:
        stream: UTF-8, open for reading.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self._scan = json.JSONDecoder().raw_decode
        self._text = ""
        self._at = 0
        self._before = 0
        self._over = False

    def peek(self) -> str:
        """Return the next character that is no blank; empty at the end."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in _BLANK:
                    return self._text[self._at]
                self._at += 1
            if not self._more():
                return ""

    def take(self, wanted: str) -> None:
        """Step over one character.

        Raises:
            MalformedError: If another one stands there.
        """
        found = self.peek()
        if found != wanted:
            raise self._malformed(f"'{wanted}' is missing" if found else "the text ends too early")
        self._at += 1

    def value(self) -> Any:
        """Return the next value, whole.

        Raises:
            MalformedError: If there is none.
        """
        self.peek()
        while True:
            try:
                found, end = self._scan(self._text, self._at)
            except (json.JSONDecodeError, RecursionError) as error:
                if not self._more():
                    raise self._malformed("here is no whole value") from error
                continue
            # A value at the end of the text may go on: 12 may be the begin of 125.
            if end == len(self._text) and self._more():
                continue
            self._at = end
            return found

    def members(self) -> Iterator[str]:
        """Yield the names of an object's members; the caller must step over each value."""
        self.take("{")
        if self.peek() == "}":
            self._at += 1
            return
        while True:
            name = self.value()
            if not isinstance(name, str):
                raise self._malformed("a member has no name")
            self.take(":")
            yield name
            if self._last("}"):
                return

    def elements(self) -> Iterator[None]:
        """Yield once for each element of a list; the caller must step over it."""
        self.take("[")
        if self.peek() == "]":
            self._at += 1
            return
        while True:
            yield None
            if self._last("]"):
                return

    def end(self) -> None:
        """See that nothing follows.

        Raises:
            MalformedError: If something does.
        """
        if self.peek():
            raise self._malformed("something follows the end")

    def _last(self, closing: str) -> bool:
        if self.peek() == closing:
            self._at += 1
            return True
        self.take(",")
        return False

    def _more(self) -> bool:
        """Read on; what is behind the cursor is forgotten."""
        if self._over:
            return False
        rest = self._text[self._at :]
        if len(rest) > _LARGEST:
            raise self._malformed("a value is too large")
        self._before += self._at
        # As much again as there is: a large value is not scanned anew for each small piece.
        piece = self._stream.read(max(_CHUNK, len(rest)))
        self._over = not piece
        try:
            self._text, self._at = rest + self._decode(piece, self._over), 0
        except UnicodeDecodeError as error:
            raise self._malformed("this is not UTF-8") from error
        return not self._over

    def _malformed(self, what: str) -> MalformedError:
        return MalformedError(f"at character {self._before + self._at}: {what}")
