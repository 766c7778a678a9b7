"""Say in a sentence that a Prefect server wants a password, or has trouble."""

import base64
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
    # What executes without Prefect imports this module, too: Prefect costs 0.4 s, these 15 ms.
    import http.client  # noqa: PLC0415
    import urllib.error  # noqa: PLC0415
    import urllib.request  # noqa: PLC0415

    from prefect.settings import get_current_settings  # noqa: PLC0415

    settings = get_current_settings().api
    if settings.key is not None:
        return  # Prefect's own cloud
    headers: dict[str, str] = {}
    if settings.auth_string is not None:
        encoded = base64.b64encode(settings.auth_string.get_secret_value().encode())
        headers["Authorization"] = f"Basic {encoded.decode()}"
    request = urllib.request.Request(f"{api.rstrip('/')}/admin/version", headers=headers)  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310
            if answer.headers.get_content_type() == "application/json":
                return
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == _UNAUTHORIZED:
            raise BenchyardError(wrong_password(api)) from None
        if error.code >= _SERVERS_FAULT:
            return
    except (OSError, http.client.HTTPException):
        return  # whoever asks next tells what is wrong
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
