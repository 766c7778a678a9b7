r"""The keys of a row: made of any text, sorted by time, the same each time.

A key must not hold ``/ \ # ?`` or a control character, and 1 KiB of UTF-16 is its limit.
Source: Azure Tables, "Understanding the Table service data model".
"""

import hashlib
import re
from datetime import UTC, datetime, timedelta

#: With our own separators, the sign of our escapes, and what has a meaning in a URL or a filter.
_FORBIDDEN = re.compile(r"[/\\#?%'|$~\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: From then on seconds have eleven digits, and no text of them sorts by time any more.
_LAST = 10_000_000_000 * 1_000_000

#: Longest key in characters of UTF-16.
LONGEST = 512
#: So much of a node's or an event's name goes into a key; the row has the whole of it.
_NAME = 100


def partition_key(account: str, pool: str) -> str:
    """Return the key of a pool's events, ``account$pool``, as Batch Shipyard has it."""
    return f"{escape(account)}${escape(pool)}"


def partition_of(key: str) -> tuple[str, str]:
    """Return account and pool of a partition's key."""
    account, _, pool = key.partition("$")
    return unescape(account), unescape(pool)


def row_key(at: datetime, node: str, event: str, sequence: str) -> str:
    """Return a row's key, ``seconds|node|event|sequence``: as text it sorts by time.

    Raises:
        ValueError: If the time is before 1970 or after 2286, where texts do not sort by time.
    """
    return f"{seconds(at)}|{_short(node)}|{_short(event)}|{sequence}"


def seconds(at: datetime) -> str:
    """Return seconds since 1970 with microseconds, ten digits before the point.

    Raises:
        ValueError: If the time is before 1970 or after 2286.
    """
    passed = microseconds(at)
    if not 0 <= passed < _LAST:
        raise ValueError(f"{at.isoformat()} is not between 1970 and 2286")
    return f"{passed // 1_000_000:010d}.{passed % 1_000_000:06d}"


def microseconds(at: datetime) -> int:
    """Return whole microseconds since 1970."""
    return (at - _EPOCH) // timedelta(microseconds=1)


def time_of(key: str) -> datetime:
    """Return the time in a row's key, ours or Batch Shipyard's, which is seconds alone.

    Raises:
        ValueError: If there is none.
    """
    text = key.partition("|")[0]
    try:
        if "|" not in key:
            return datetime.fromtimestamp(float(text), UTC)
        whole, _, part = text.partition(".")
        return _EPOCH + timedelta(seconds=int(whole), microseconds=int(part))
    except (ValueError, OverflowError, OSError) as error:
        raise ValueError(f"'{key[:60]}' is no key with a time") from error


def is_ours(key: str) -> bool:
    """Whether a row's key is of our form; Batch Shipyard's is a number alone."""
    return "|" in key


def escape(text: str) -> str:
    """Return a text with what no key may hold as ``~`` and two hexadecimal digits a byte."""
    return _FORBIDDEN.sub(
        lambda match: "".join(f"~{byte:02x}" for byte in match[0].encode(errors="surrogatepass")),
        text,
    )


def unescape(text: str) -> str:
    """Return what ``escape`` was given; any other text as it is, where it makes no sense."""
    raw = re.sub(
        rb"~([0-9a-f]{2})",
        lambda match: bytes.fromhex(match[1].decode()),
        text.encode(errors="surrogatepass"),
    )
    try:
        return raw.decode(errors="surrogatepass")
    except UnicodeDecodeError:
        return text


def _short(name: str) -> str:
    escaped = escape(name)
    if len(escaped) <= _NAME:
        return escaped
    digest = hashlib.sha256(escaped.encode()).hexdigest()[:16]
    return f"{escaped[: _NAME - 17]}-{digest}"
