"""Deadlines and retries of a call, and what its errors mean to us.

Google's client does not retry commits at all, and retries queries for a minute whatever timeout is
given; so each call is made here, without the client's own retries, until a deadline that is ours.
Retrying a commit is safe because all keys are derived from what is stored.
"""

import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar, cast

from google.api_core.exceptions import GoogleAPICallError
from grpc import StatusCode

from benchyard.errors import BenchyardError, DocumentRejectedError, SinkUnavailableError

T = TypeVar("T")

#: Source: https://cloud.google.com/datastore/docs/concepts/errors
_AGAIN = {
    StatusCode.UNAVAILABLE,
    StatusCode.ABORTED,
    StatusCode.DEADLINE_EXCEEDED,
    StatusCode.RESOURCE_EXHAUSTED,
}
#: INTERNAL: "do not retry this request more than once", the same page; the others are what gRPC
#: makes of a connection that broke on the way.
_ONCE_MORE = {StatusCode.INTERNAL, StatusCode.UNKNOWN, StatusCode.CANCELLED}
_ACCESS = {StatusCode.PERMISSION_DENIED, StatusCode.UNAUTHENTICATED}
_REFUSED = {StatusCode.INVALID_ARGUMENT, StatusCode.OUT_OF_RANGE}


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a call may take, all in seconds.

    Publishing has a longer patience of its own above this one; this is for what passes at once.

    Args:
        attempt_s: One try; a commit of 4 MiB needs that long at 2.2 Mbit/s.
        trying_s: How long new tries are begun; so a call ends after both together at the latest.
        first_pause_s: Doubled after each try, ...
        longest_pause_s: ... up to this; half of each pause is chance.
    """

    attempt_s: float = 15.0
    trying_s: float = 10.0
    first_pause_s: float = 0.1
    longest_pause_s: float = 4.0

    def pauses(self) -> Iterator[float]:
        """Yield how long to wait before each further try."""
        pause = self.first_pause_s
        while True:
            yield pause * random.uniform(0.5, 1.0)  # noqa: S311
            pause = min(2 * pause, self.longest_pause_s)


class Caller:
    """Makes calls with patience; one for a connection, for any number of threads.

    Args:
        place: What the other side is called in a sentence.
    """

    def __init__(self, place: str, patience: Patience) -> None:
        self._place = place
        self._patience = patience
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Let no call wait any more; each gives up at its next pause."""
        self._stopped.set()

    def call(self, attempt: Callable[[float], T]) -> T:
        """Return what ``attempt`` returns once it succeeds.

        Args:
            attempt: Makes the call once, within the seconds that it is given.

        Raises:
            SinkUnavailableError: If it did not succeed in time, or cannot without someone's help.
            DocumentRejectedError: If the other side will never accept what is sent.
        """
        end = time.monotonic() + self._patience.trying_s
        seen: list[StatusCode] = []
        for pause in self._patience.pauses():
            try:
                return attempt(self._patience.attempt_s)
            except GoogleAPICallError as error:
                code = status(error)
                if code not in _AGAIN | _ONCE_MORE:
                    raise self._final(error) from error
                often = code in _ONCE_MORE and bool(_ONCE_MORE.intersection(seen))
                seen.append(code)
                if often or time.monotonic() + pause >= end or self._stopped.wait(pause):
                    raise self._gave_up(error, len(seen)) from error
        raise AssertionError("pauses never end")

    def _gave_up(self, error: GoogleAPICallError, tries: int) -> SinkUnavailableError:
        times = "once" if tries == 1 else f"{tries} times"
        return SinkUnavailableError(
            f"{self._place} does not answer as it should, tried {times}: {shown(error)}; "
            "it may answer later"
        )

    def _final(self, error: GoogleAPICallError) -> BenchyardError:
        code = status(error)
        if code in _REFUSED:
            return DocumentRejectedError(f"{self._place} refuses it: {shown(error)}")
        if code in _ACCESS:
            return SinkUnavailableError(
                f"{self._place} does not let these credentials in: {shown(error)}; give their "
                "account the role Cloud Datastore User (roles/datastore.user), or use others"
            )
        return SinkUnavailableError(
            f"{self._place} cannot be used: {shown(error)}; look at project and database"
        )


def status(error: GoogleAPICallError) -> StatusCode:
    """Return the code of an error; UNKNOWN if it has none."""
    code = cast("object", error.grpc_status_code)  # pyright: ignore[reportUnknownMemberType] # not typed
    return code if isinstance(code, StatusCode) else StatusCode.UNKNOWN


def shown(error: GoogleAPICallError) -> str:
    """Return code and text of an error in one line that is not too long."""
    text = " ".join(str(cast("object", error.message)).split())
    return f"{status(error).name}: {text if len(text) <= 300 else text[:299] + '…'}"
