"""What an error of Datastore means: later, not with these settings, or perhaps the document."""

from collections.abc import Callable
from typing import TypeVar, cast

from google.api_core.exceptions import GoogleAPICallError
from grpc import StatusCode

from benchyard.core.errors import BenchyardError, InputError, SinkUnavailableError, UnreachableError

T = TypeVar("T")

#: Source: https://cloud.google.com/datastore/docs/concepts/errors; UNKNOWN and CANCELLED are what
#: gRPC makes of a connection that broke on the way.
_LATER = {
    StatusCode.UNAVAILABLE,
    StatusCode.ABORTED,
    StatusCode.DEADLINE_EXCEEDED,
    StatusCode.RESOURCE_EXHAUSTED,
    StatusCode.INTERNAL,
    StatusCode.UNKNOWN,
    StatusCode.CANCELLED,
}
_ACCESS = {StatusCode.PERMISSION_DENIED, StatusCode.UNAUTHENTICATED}
#: Perhaps the document's fault; as often the project's id, or the database's.
REFUSED = {StatusCode.INVALID_ARGUMENT, StatusCode.OUT_OF_RANGE}
#: What gRPC itself says where no connection came about; no server says so.
_NOBODY = ("failed to connect to all addresses", "DNS resolution failed")
#: The same where Google's credentials could not be turned into a token.
_NO_TOKEN = "metadata from plugin failed"  # noqa: S105 - a text of an error


def asked(place: str, attempt: Callable[[], T]) -> T:
    """Return what a call returns; it is made once.

    Args:
        place: What the other side is called in a sentence.

    Raises:
        UnreachableError: If nobody is there.
        SinkUnavailableError: If it may succeed later.
        InputError: If it cannot without other settings, or somebody's help.
        GoogleAPICallError: If the request was refused as such: see ``REFUSED``.
    """
    try:
        return attempt()
    except GoogleAPICallError as error:
        if status(error) in REFUSED:
            raise
        raise _meaning(place, error) from error


def _meaning(place: str, error: GoogleAPICallError) -> BenchyardError:
    code, told = status(error), shown(error)
    if code in _ACCESS or _NO_TOKEN in told:
        return InputError(
            f"{place} does not let these credentials in: {told}; give their account the role "
            "Cloud Datastore User (roles/datastore.user) in that project, or use others"
        )
    if any(text in told for text in _NOBODY):
        return UnreachableError(f"nobody answers at {place}: {told}")
    if code in _LATER:
        return SinkUnavailableError(
            f"{place} does not answer as it should: {told}; it may answer later"
        )
    return InputError(f"{place} cannot be used: {told}; look at project and database")


def status(error: GoogleAPICallError) -> StatusCode:
    """Return the code of an error; UNKNOWN if it has none."""
    code = cast("object", error.grpc_status_code)  # pyright: ignore[reportUnknownMemberType] # not typed
    return code if isinstance(code, StatusCode) else StatusCode.UNKNOWN


def shown(error: GoogleAPICallError) -> str:
    """Return code and text of an error in one line that is not too long."""
    text = " ".join(str(cast("object", error.message)).split())
    return f"{status(error).name}: {text if len(text) <= 300 else text[:299] + '…'}"
