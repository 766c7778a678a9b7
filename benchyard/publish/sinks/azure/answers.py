"""What an answer of Azure Tables means: later, never, or not with these settings."""

from dataclasses import dataclass
from enum import Enum
from http.client import HTTPException
from typing import Any

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


class Meaning(Enum):
    """What to do after an answer."""

    AGAIN = "the same may succeed soon"
    NOBODY = "nobody is there"
    NEVER = "it can never succeed"
    DOUBT = "it is refused, whosever fault that is"
    SETTINGS = "nothing succeeds with these settings"
    NO_TABLE = "the table is not there"
    EXISTS = "the row or table is there already"


@dataclass(frozen=True, slots=True)
class Answer:
    """An error, understood.

    Args:
        sentence: For people; holds nothing of a request, and so no secret.
        pause: Seconds that the server asked to wait, if it did.
    """

    meaning: Meaning
    sentence: str
    pause: float | None = None

    def to_error(self) -> BenchyardError:
        """Return what a sink or a reader raises of it."""
        match self.meaning:
            case Meaning.NEVER:
                return DocumentRejectedError(self.sentence)
            case Meaning.NOBODY:
                return UnreachableError(self.sentence)
            case Meaning.AGAIN:
                return SinkUnavailableError(self.sentence, self.pause)
            case Meaning.DOUBT:
                return SinkError(self.sentence)
            case Meaning.SETTINGS | Meaning.NO_TABLE | Meaning.EXISTS:
                return InputError(self.sentence)


def understood(error: Exception, access: Access) -> Answer:
    """Return what an error of the library means.

    The library's own text is not passed on: it can quote a request with its signature.
    """
    where = f"Azure Tables at {access.host}"
    if isinstance(error, HttpResponseError) and error.status_code is not None:
        return _of_status(error, where, access)
    if isinstance(error, ClientAuthenticationError):
        return Answer(Meaning.SETTINGS, f"{where} cannot be asked: {_bad_credentials(access)}")
    if isinstance(error, ValueError | HTTPException):
        # Somebody else listens there, unless it was Azure before.
        return Answer(Meaning.NOBODY, f"{where} answers what cannot be read")
    nobody = isinstance(error, ServiceRequestError)
    meaning = Meaning.NOBODY if nobody else Meaning.AGAIN
    return Answer(meaning, f"{where} does not answer ({_reason(error)})")


def _of_status(error: HttpResponseError, where: str, access: Access) -> Answer:
    status, code = error.status_code or 0, _code(error)
    said = f"({status} {code})" if code else f"({status})"
    if status in _REFUSED:
        return Answer(Meaning.SETTINGS, f"{where} {_refusal(said, access)}")
    if status == 404:
        return _missing(code, where, access)
    if isinstance(error, ResourceExistsError) or code.endswith("AlreadyExists"):
        return Answer(Meaning.EXISTS, f"{where} has it already {said}")
    if status in _LATER:
        return Answer(Meaning.AGAIN, f"{where} asks to come back later {said}", _pause(error))
    if code in _NEVER:
        return Answer(Meaning.NEVER, f"{where} refuses what it is sent {said}")
    meaning = Meaning.DOUBT if status in _DOUBTFUL else Meaning.SETTINGS
    return Answer(meaning, f"{where} refuses {said}; check {access.origin}")


def _missing(code: str, where: str, access: Access) -> Answer:
    if code == "TableNotFound":
        return Answer(Meaning.NO_TABLE, f"{where} has no table '{access.table}'")
    return Answer(
        Meaning.SETTINGS,
        f"{where} knows no account '{access.storage_account}' (404); check {access.origin}",
    )


def _refusal(said: str, access: Access) -> str:
    return f"refuses the credentials {said}: {_bad_credentials(access)}"


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
    """Say what the operating system said, if it did; it knows of no secret."""
    outermost = type(error).__name__
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        if isinstance(error, OSError) and error.strerror:
            return error.strerror
        seen.append(error)
        error = getattr(error, "inner_exception", None) or error.__cause__ or error.__context__
    return outermost
