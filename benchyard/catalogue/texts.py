"""Texts and numbers as SQLite keeps them."""

from benchyard.core.json_text import encoded
from benchyard.core.model import Json, plain


def document_of(value: Json) -> bytes:
    """Return a value as JSON."""
    return encoded(value).encode("utf-8", "backslashreplace")


def raw(name: str) -> bytes:
    """Return a name of a file as the bytes that the file system has."""
    return name.encode("utf-8", "surrogateescape")


def text(value: str) -> str:
    """Return a text that SQLite keeps: what is no Unicode becomes escapes."""
    return value.encode("utf-8", "backslashreplace").decode()


def number_of(value: Json) -> float | None:
    """Return the number that a parameter is, or that its text is; None if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if abs(number) < float("inf") else None


def text_of(value: Json) -> str:
    """Return a parameter as a text; lists and objects as JSON."""
    return text(encoded(value) if isinstance(value, list | dict) else plain(value))
