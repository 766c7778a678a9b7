"""Azure's client library with timeouts and its errors explained, and a table that is written to.

Rows are sent in transactions, each once; writing a row twice leaves one.
"""

import errno
import logging
import threading
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from http.client import HTTPException
from typing import Any, TypeAlias, TypeVar

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
from benchyard.publish.sinks.azure.rows import Row, transactions

T = TypeVar("T")
#: A client of the library, of an account or of a table: its types are known in parts only.
Client: TypeAlias = Any
#: In which a living server answers a question that costs it nothing.
_CONNECT_SECONDS = 4
_READ_SECONDS = 60
#: What a call can raise. An answer that the library cannot read is an HTTPException.
_FAILURES = (AzureError, HTTPException, OSError, ValueError)
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


def service(found: Access) -> Client:
    """Return a client of the storage account's tables; nothing is connected. Close it.

    No request waits longer than 4 s for a connection and 60 s for an answer; Azure's own library
    would wait five minutes each. The library asks once: see ``benchyard.publish.sinks.sending``.
    """
    from azure.data.tables import TableServiceClient  # noqa: PLC0415 - takes 0.4 s

    return TableServiceClient(
        endpoint=found.url,
        credential=_credential(found),
        retry_total=0,
        connection_timeout=_CONNECT_SECONDS,
        read_timeout=_READ_SECONDS,
    )


@contextmanager
def explaining(access: Access) -> Generator[None]:
    """Raise what a sink or a reader raises in place of the library's errors."""
    try:
        yield
    except _FAILURES as error:
        raise _explained(error, access) from None


def refuse_silent(found: Access) -> None:
    """Refuse a server that accepts connections and does not answer.

    The request needs no rights and no table, so a server that is only slow to write passes.

    Raises:
        UnreachableError: If it does not answer.
    """
    import requests  # noqa: PLC0415 - takes 0.2 s

    try:
        requests.head(found.url, timeout=_CONNECT_SECONDS, allow_redirects=False).close()
    except requests.exceptions.Timeout:
        late = TimeoutError(errno.ETIMEDOUT, f"nothing within {_CONNECT_SECONDS:g} s")
        raise _explained(ServiceRequestError(str(late), error=late), found) from None
    except requests.RequestException:
        pass  # what is wrong, the first real request tells


def _credential(found: Access) -> Any:
    from azure.core.credentials import AzureNamedKeyCredential, AzureSasCredential  # noqa: PLC0415

    if found.key:
        return AzureNamedKeyCredential(found.storage_account, found.key)
    if found.sas:
        # At this level it tells of every request with its URL, and there the signature stands.
        logging.getLogger("urllib3.connectionpool").setLevel(logging.INFO)
        return AzureSasCredential(found.sas)
    from azure.identity import DefaultAzureCredential  # noqa: PLC0415 - only the extra azure installs it

    return DefaultAzureCredential()


class NoTableError(InputError):
    """The table is not there."""


class ExistsError(InputError):
    """A row that was to be created is there already."""


def _explained(error: Exception, access: Access) -> BenchyardError:
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
    if code == "TableNotFound":
        return NoTableError(f"{where} has no table '{access.table}'")
    if status == 404:
        account = access.storage_account
        return InputError(f"{where} knows no account '{account}' (404); check {access.origin}")
    if isinstance(error, ResourceExistsError) or code.endswith("AlreadyExists"):
        return ExistsError(f"{where} has it already {said}")
    if status in _LATER:
        return SinkUnavailableError(f"{where} asks to come back later {said}", _pause(error))
    if code in _NEVER:
        return DocumentRejectedError(f"{where} refuses what it is sent {said}")
    kind = SinkError if status in _DOUBTFUL else InputError
    return kind(f"{where} refuses {said}; check {access.origin}")


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


class EventTable:
    """The table that events are written to; it is made if it is not there.

    Several threads may share it. What its methods raise is said in ``contract.Sink``.
    """

    def __init__(self, access: Access) -> None:
        self._access = access
        self._opening = threading.Lock()
        self._service: Client = None

    def upsert(self, rows: Iterable[Row]) -> None:
        """Write rows; one that is there already is replaced. After an error some may be there."""
        self._send(rows, "upsert", {"mode": "replace"})

    def create(self, rows: Iterable[Row]) -> bool:
        """Add rows; tell whether all keys were free. If not, some rows may be there."""
        try:
            self._send(rows, "create", {})
        except ExistsError:
            return False
        return True

    def _send(self, rows: Iterable[Row], what: str, how: Mapping[str, str]) -> None:
        for batch in transactions(rows):
            operations = [(what, one, how) for one in batch]
            self._asked(lambda table, sent=operations: table.submit_transaction(sent))

    def read(
        self, query: str, parameters: Mapping[str, str], select: Sequence[str]
    ) -> list[Mapping[str, Any]]:
        """Return the rows of a filter."""
        return self._asked(
            lambda table: list(table.query_entities(query, parameters=parameters, select=select))
        )

    def _asked(self, call: Callable[[Client], T]) -> T:
        """Make a call; if it is refused, find out whether anything else is accepted."""
        try:
            return self._with_table(call)
        except SinkError as error:
            # A plain one: it is not known whether the document or the settings are wrong.
            if type(error) is SinkError and not self._are_settings_right():
                raise InputError(str(error)) from None
            raise

    def _are_settings_right(self) -> bool:
        """Tell whether a row can be read, or could be later."""
        try:
            self._tried(
                lambda table: next(
                    table.query_entities(
                        "PartitionKey eq @partition",
                        parameters={"partition": self._access.partition},
                        select=["RowKey"],
                        results_per_page=1,
                    ).by_page(),
                    None,
                )
            )
        except BenchyardError as error:
            return type(error) is SinkUnavailableError
        return True

    def _with_table(self, call: Callable[[Client], T]) -> T:
        try:
            return self._tried(call)
        except NoTableError:
            with explaining(self._access):
                self._open().create_table_if_not_exists(self._access.table)
            return self._tried(call)

    def _tried(self, call: Callable[[Client], T]) -> T:
        with explaining(self._access):
            return call(self._open().get_table_client(self._access.table))

    def _open(self) -> Client:
        with self._opening:
            if self._service is None:
                refuse_silent(self._access)
                self._service = service(self._access)
            return self._service

    def close(self) -> None:
        """Give connections back; what is written afterwards opens new ones."""
        with self._opening:
            opened, self._service = self._service, None
        if opened is not None:
            opened.close()
