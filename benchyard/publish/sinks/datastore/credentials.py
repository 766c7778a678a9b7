"""Google's credentials by Google's usual ways, within a bounded time and with one sentence."""

import os
import time
from collections.abc import Mapping
from typing import Any, TypeAlias, cast

import google.auth
import google.auth.transport.requests
from google.auth.exceptions import DefaultCredentialsError, GoogleAuthError

from benchyard.core.errors import InputError

#: The narrowest scope that reads and writes entities.
SCOPE = "https://www.googleapis.com/auth/datastore"
KEY_VARIABLE = "GOOGLE_APPLICATION_CREDENTIALS"

Credentials: TypeAlias = Any


#: The library has no types that a checker could follow.
_AUTH: Any = google.auth
#: What the library raises for files that are JSON and of another shape.
_MALFORMED = (ValueError, TypeError, KeyError, AttributeError)


class BoundedRequest(google.auth.transport.requests.Request):
    """Requests that together take no longer than a given time.

    Google's library asks the metadata server of Compute Engine when nothing else is found, three
    times with three seconds each and pauses between; everywhere else nobody answers.

    Args:
        seconds: For all requests from now on.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__()  # pyright: ignore[reportUnknownMemberType] # google-auth has no types
        self._deadline = time.monotonic() + seconds

    def __call__(
        self,
        url: str,
        method: str = "GET",
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
        **more: Any,
    ) -> Any:
        """Send one request, as the base class does, if there is time left.

        Raises:
            DefaultCredentialsError: If no time is left; the library tries nothing more after it.
        """
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise DefaultCredentialsError("nobody answered in time")
        wanted = left if timeout is None else min(left, timeout)
        send = cast("Any", super())
        return send.__call__(url, method, body, headers, timeout=wanted, **more)


def find(seconds: float = 5.0) -> tuple[Credentials, str | None]:
    """Return the application default credentials, and the project that they are of.

    A key file or gcloud's own are read without the network.

    Args:
        seconds: How long the metadata server of Google's machines may take to answer.

    Raises:
        InputError: If there are none, or what is named is not usable.
    """
    try:
        return _AUTH.default(scopes=[SCOPE], request=BoundedRequest(seconds))
    except (GoogleAuthError, OSError, *_MALFORMED) as error:
        raise InputError(_sentence()) from error


def _sentence() -> str:
    path = os.environ.get(KEY_VARIABLE)
    if path and not os.path.isfile(path):  # noqa: PTH113
        return f"{KEY_VARIABLE} names {path}, and there is no such file"
    if path:
        return (
            f"{KEY_VARIABLE} names {path}, and that is no usable credentials file of Google; "
            "make a new key, or unset the variable"
        )
    return (
        "there are no credentials for Google Cloud Datastore; set "
        f"{KEY_VARIABLE} to a key file, run 'gcloud auth application-default login', or set "
        "DATASTORE_EMULATOR_HOST to use a local server"
    )
