"""Taking credentials out of the error texts of libraries."""

import os
import re
from collections.abc import Iterator, Mapping
from urllib.parse import unquote

from benchyard.core.quantity import shorten

#: ``user:password@`` of an address, and its query, in which signatures and keys are.
_IN_ADDRESS = re.compile(r"(?<=://)[^/@\s]*@|\?\S*")
_PARTS = re.compile(r"[:@?&=;/]")
_TELLING = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|CONNECTION|SAS|SIGNATURE", re.IGNORECASE)
_MASK = "******"
#: Shorter values are no secrets, and masking them would spoil any text.
_SHORTEST = 5
_LONGEST = 300


def without_credentials(address: str) -> str:
    """Return an address without user, password and query."""
    return _IN_ADDRESS.sub("", address)


def scrubbed(text: str, address: str = "", environment: Mapping[str, str] | None = None) -> str:
    """Return a text in one line, shortened, without secrets.

    Args:
        text: The text.
        address: The address, with credentials, that the library was connecting to.
        environment: Variables; those with names such as ``…_KEY`` have secrets as values. By
            default those of this process.
    """
    secrets = {*_of_address(address), *_of(os.environ if environment is None else environment)}
    text = " ".join(text.split())
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, _MASK)
    text = without_credentials(text)
    return shorten(text, _LONGEST)


def _of_address(address: str) -> Iterator[str]:
    for found in _IN_ADDRESS.findall(address):
        for part in _PARTS.split(found):
            yield from (form for form in (part, unquote(part)) if len(form) >= _SHORTEST)


def _of(environment: Mapping[str, str]) -> Iterator[str]:
    for name, value in environment.items():
        if _TELLING.search(name):
            # A connection string is several values; a file's path is none.
            parts = (part.partition("=")[2] for part in value.split(";"))
            yield from (one for one in (value, *parts) if len(one) >= _SHORTEST)
