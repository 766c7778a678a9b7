"""Say in a sentence that a Prefect server wants a password, or has trouble."""

import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from benchyard.core.errors import BenchyardError, InputError

_SECONDS = 5.0
_UNAUTHORIZED = 401
_SERVERS_FAULT = 500


def trouble_with_server(error: BaseException) -> str | None:
    """Return what a refusal by a Prefect server means; None for what is none."""
    # Prefect takes long to import, and whoever got an answer of its server has it.
    prefect = sys.modules.get("prefect.exceptions")
    if prefect is None:
        return None
    found = (one for one in _chain(error) if isinstance(one, prefect.PrefectHTTPStatusError))
    refusal: Any = next(found, None)
    if refusal is None:
        return None
    status, url = int(refusal.response.status_code), str(refusal.request.url)
    if status == _UNAUTHORIZED:
        return wrong_password(url)
    if status < _SERVERS_FAULT or isinstance(error, BenchyardError):
        return None
    return (
        f"the Prefect server at {_place(url)} has trouble (HTTP {status}); try again, and see "
        "its log"
    )


def wrong_password(url: str) -> str:
    """Return the sentence for a server that does not take our password."""
    return (
        f"wrong or missing password for the Prefect server at {_place(url)}; set "
        "PREFECT_API_AUTH_STRING to its user:password"
    )


def raise_if_refused(api: str) -> None:
    """Ask a server that answers whether it is Prefect's, and takes our password.

    Whether it is well, it tells everybody; what is no API of Prefect's may answer anything.

    Args:
        api: URL of its API.

    Raises:
        BenchyardError: If it does not take the password.
        InputError: If it is no Prefect API.
    """
    # Commands that execute without Prefect import this module, and neither of these.
    import httpx  # noqa: PLC0415 - takes 0.1 s
    from prefect.settings import get_current_settings  # noqa: PLC0415 - takes 0.4 s

    settings = get_current_settings().api
    if settings.key is not None:
        return  # Prefect's own cloud
    secret = settings.auth_string.get_secret_value() if settings.auth_string else ""
    user, _, password = secret.partition(":")
    url, auth = f"{api.rstrip('/')}/admin/version", (user, password) if secret else None
    try:
        answer = httpx.get(url, auth=auth, timeout=_SECONDS, follow_redirects=True)
    except httpx.RequestError:
        return  # whoever asks next tells what is wrong
    if answer.status_code == _UNAUTHORIZED:
        raise BenchyardError(wrong_password(api))
    is_json = answer.headers.get("Content-Type", "").partition(";")[0] == "application/json"
    if answer.status_code >= _SERVERS_FAULT or (answer.is_success and is_json):
        return
    raise InputError(
        f"PREFECT_API_URL: there is no Prefect API at {_place(api)}{urlsplit(api).path}; its "
        "address ends in /api, such as http://127.0.0.1:4200/api"
    )


def _place(url: str) -> str:
    """Return scheme, host and port of an address: what else it has may be a password."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
