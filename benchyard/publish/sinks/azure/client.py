"""Azure's client library: typed, with timeouts, and with its errors explained."""

import errno
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from http.client import HTTPException
from importlib import import_module
from typing import Any, Protocol, cast

from azure.core.exceptions import (
    AzureError,
    ClientAuthenticationError,
    HttpResponseError,
    ResourceExistsError,
    ServiceRequestError,
)

from benchyard.core.errors import (
    BenchyardError,
    DocumentRejectedError,
    InputError,
    SinkError,
    SinkUnavailableError,
    UnreachableError,
)
from benchyard.publish.sinks.azure.credentials import Access

#: In which a living server answers a question that costs it nothing.
_CONNECT_SECONDS = 4
_READ_SECONDS = 60
#: What a call can raise. An answer that the library cannot read is an HTTPException.
FAILURES = (AzureError, HTTPException, OSError, ValueError)
#: Source: Azure Tables, "Status and error codes"; azure-core's own policy of trying again.
_LATER = (408, 429, 500, 502, 503, 504)
#: What is the document's fault: each names a row or a request. Any other refusal is more likely one
#: of the settings, or of what stands between, and must not send all that waits among the rejected.
_NEVER = (
    "EntityTooLarge",
    "PropertyValueTooLarge",
    "TooManyProperties",
    "RequestBodyTooLarge",
    "InvalidDuplicateRow",
)
_REFUSED = (401, 403)
#: The document's fault, or the settings', or a proxy's.
_DOUBTFUL = (400, 413)
#: Longest time that a server may ask to wait for within one call.
_LONGEST_PAUSE_SECONDS = 30.0


class ItemPages(Protocol):
    """``azure.core.paging.ItemPaged``."""

    def by_page(self) -> Iterator[Iterable[Mapping[str, Any]]]:
        """Return the pages; one that could not be read is read again by the next ``next``."""
        ...


class AzureTable(Protocol):
    """``azure.data.tables.TableClient``."""

    def submit_transaction(
        self, operations: Iterable[tuple[str, Mapping[str, Any], Mapping[str, Any]]]
    ) -> Sequence[Mapping[str, Any]]:
        """Do all of the operations or none; at most 100, of one partition."""
        ...

    def query_entities(
        self,
        query_filter: str,
        *,
        parameters: Mapping[str, Any] | None = None,
        select: Sequence[str] | None = None,
        results_per_page: int | None = None,
    ) -> ItemPages:
        """Return the rows of a filter, by partition and row key."""
        ...


class Tables(Protocol):
    """``azure.data.tables.TableServiceClient``."""

    def get_table_client(self, table_name: str) -> AzureTable:
        """Return a table, there or not."""
        ...

    def create_table_if_not_exists(self, table_name: str) -> AzureTable:
        """Make a table unless it is there."""
        ...

    def close(self) -> None:
        """Give connections back."""
        ...


def service(found: Access) -> Tables:
    """Return a client of the storage account's tables; nothing is connected. Close it.

    No request waits longer than 4 s for a connection and 60 s for an answer; Azure's own library
    would wait five minutes each. The library asks once: see ``benchyard.publish.sinks.sending``.
    """
    from azure.data.tables import TableServiceClient  # noqa: PLC0415 - takes 0.4 s

    client = TableServiceClient(
        endpoint=found.url,
        credential=_credential(found),
        retry_total=0,
        connection_timeout=_CONNECT_SECONDS,
        read_timeout=_READ_SECONDS,
    )
    return cast("Tables", client)


def refuse_silent(found: Access) -> None:
    """Refuse a server that accepts connections and does not answer.

    The request needs no rights and no table, so a server that is only slow to write passes.

    Raises:
        ServiceRequestError: If it does not answer.
    """
    import requests  # noqa: PLC0415 - takes 0.2 s

    try:
        requests.head(found.url, timeout=_CONNECT_SECONDS, allow_redirects=False).close()
    except requests.exceptions.Timeout:
        late = TimeoutError(errno.ETIMEDOUT, f"nothing within {_CONNECT_SECONDS:g} s")
        raise ServiceRequestError(str(late), error=late) from None
    except requests.RequestException:
        pass  # what is wrong, the first real request tells


def _credential(found: Access) -> Any:
    from azure.core.credentials import (  # noqa: PLC0415
        AzureNamedKeyCredential,
        AzureSasCredential,
    )

    if found.key:
        return AzureNamedKeyCredential(found.storage_account, found.key)
    if found.sas:
        # At this level it tells of every request with its URL, and there the signature stands.
        logging.getLogger("urllib3.connectionpool").setLevel(logging.INFO)
        return AzureSasCredential(found.sas)
    # By its name: it is not among what the project installs.
    identity: Any = import_module("azure.identity")
    return identity.DefaultAzureCredential()


class NoTableError(InputError):
    """The table is not there."""


class ExistsError(InputError):
    """A row that was to be created is there already."""


def explained(error: Exception, access: Access) -> BenchyardError:
    """Return the error that a sink or a reader raises for one of the library.

    The library's own text is not passed on: it can quote a request with its signature.
    """
    where = f"Azure Tables at {access.host}"
    if isinstance(error, HttpResponseError) and error.status_code is not None:
        return _of_status(error, where, access)
    if isinstance(error, ClientAuthenticationError):
        return InputError(f"{where} cannot be asked: {_bad_credentials(access)}")
    if isinstance(error, ValueError | HTTPException):
        # Somebody else listens there, unless it was Azure before.
        return UnreachableError(f"{where} answers what cannot be read")
    kind = UnreachableError if isinstance(error, ServiceRequestError) else SinkUnavailableError
    return kind(f"{where} does not answer ({_reason(error)})")


def _of_status(error: HttpResponseError, where: str, access: Access) -> BenchyardError:
    status, code = error.status_code or 0, _code(error)
    said = f"({status} {code})" if code else f"({status})"
    if status in _REFUSED:
        return InputError(f"{where} refuses the credentials {said}: {_bad_credentials(access)}")
    if status == 404:
        return _missing(code, where, access)
    if isinstance(error, ResourceExistsError) or code.endswith("AlreadyExists"):
        return ExistsError(f"{where} has it already {said}")
    if status in _LATER:
        return SinkUnavailableError(f"{where} asks to come back later {said}", _pause(error))
    if code in _NEVER:
        return DocumentRejectedError(f"{where} refuses what it is sent {said}")
    kind = SinkError if status in _DOUBTFUL else InputError
    return kind(f"{where} refuses {said}; check {access.origin}")


def _missing(code: str, where: str, access: Access) -> InputError:
    if code == "TableNotFound":
        return NoTableError(f"{where} has no table '{access.table}'")
    return InputError(
        f"{where} knows no account '{access.storage_account}' (404); check {access.origin}"
    )


def _bad_credentials(access: Access) -> str:
    return f"check {access.origin}, and that it may read and write table '{access.table}'"


def _code(error: HttpResponseError) -> str:
    code: Any = getattr(error, "error_code", None)
    return str(code.value if isinstance(code, Enum) else code or "")


def _pause(error: HttpResponseError) -> float | None:
    headers: Any = getattr(error.response, "headers", None) or {}
    try:
        return min(max(float(headers.get("Retry-After")), 0.0), _LONGEST_PAUSE_SECONDS)
    except (TypeError, ValueError):
        return None


def _reason(error: BaseException | None) -> str:
    """Return the operating system's text if there is one, for that holds no secret."""
    outermost = type(error).__name__
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        if isinstance(error, OSError) and error.strerror:
            return error.strerror
        seen.append(error)
        error = getattr(error, "inner_exception", None) or error.__cause__ or error.__context__
    return outermost
