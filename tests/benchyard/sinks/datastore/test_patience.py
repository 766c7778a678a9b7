import pickle
import threading
import time
from collections.abc import Callable, Sequence

import pytest
from google.api_core import exceptions

from benchyard.errors import DocumentRejectedError, SinkUnavailableError
from benchyard.sinks.datastore.patience import Caller, Patience, shown

QUICK = Patience(attempt_s=9.0, trying_s=60.0, first_pause_s=0.001, longest_pause_s=0.01)
SHORT = Patience(attempt_s=9.0, trying_s=0.2, first_pause_s=0.001, longest_pause_s=0.01)
ENDLESS = [exceptions.ServiceUnavailable("down")] * 10_000


def caller(patience: Patience = QUICK) -> Caller:
    return Caller("Datastore at 127.0.0.1:8081", patience)


class Attempts:
    def __init__(self, errors: Sequence[Exception]) -> None:
        self.errors = list(errors)
        self.given: list[float] = []

    def __call__(self, seconds: float) -> str:
        self.given.append(seconds)
        if self.errors:
            raise self.errors.pop(0)
        return "done"


@pytest.mark.parametrize(
    "error",
    [
        exceptions.ServiceUnavailable("down"),
        exceptions.Aborted("contention"),
        exceptions.DeadlineExceeded("slow"),
        exceptions.ResourceExhausted("quota"),
    ],
)
def test_tries_again_after_what_may_pass(error: Exception) -> None:
    attempts = Attempts([error] * 4)
    assert caller().call(attempts) == "done"
    assert len(attempts.given) == 5


@pytest.mark.parametrize("kind", [exceptions.InternalServerError, exceptions.Unknown])
def test_tries_once_more_after_an_internal_error(kind: Callable[[str], Exception]) -> None:
    assert caller().call(Attempts([kind("oops")])) == "done"
    with pytest.raises(SinkUnavailableError, match="oops"):
        caller().call(Attempts([kind("oops"), kind("oops")]))


def test_an_internal_error_among_others_counts_once() -> None:
    down, broken = exceptions.ServiceUnavailable("down"), exceptions.InternalServerError("oops")
    assert caller().call(Attempts([down, broken, down])) == "done"
    with pytest.raises(SinkUnavailableError):
        caller().call(Attempts([broken, down, broken]))


def test_gives_up_at_the_deadline() -> None:
    attempts = Attempts(ENDLESS)
    with pytest.raises(SinkUnavailableError) as caught:
        caller(SHORT).call(attempts)
    times = len(attempts.given)
    assert f"tried {'once' if times == 1 else f'{times} times'}" in str(caught.value)
    assert "Datastore at 127.0.0.1:8081" in str(caught.value)
    assert "UNAVAILABLE: down" in str(caught.value)


def test_each_attempt_is_given_its_time() -> None:
    attempts = Attempts([exceptions.DeadlineExceeded("slow")])
    caller().call(attempts)
    assert attempts.given == [9.0, 9.0]


@pytest.mark.parametrize(
    "error", [exceptions.InvalidArgument("too long"), exceptions.OutOfRange("")]
)
def test_what_is_wrong_with_the_document_is_not_tried_again(error: Exception) -> None:
    attempts = Attempts([error])
    with pytest.raises(DocumentRejectedError, match="refuses it"):
        caller().call(attempts)
    assert len(attempts.given) == 1


@pytest.mark.parametrize(
    "error", [exceptions.PermissionDenied("no"), exceptions.Unauthenticated("")]
)
def test_credentials_that_are_not_let_in_are_no_fault_of_the_document(error: Exception) -> None:
    with pytest.raises(SinkUnavailableError, match=r"roles/datastore\.user"):
        caller().call(Attempts([error]))


@pytest.mark.parametrize(
    "error", [exceptions.NotFound("no database"), exceptions.FailedPrecondition("")]
)
def test_a_missing_database_is_no_fault_of_the_document(error: Exception) -> None:
    with pytest.raises(SinkUnavailableError, match="look at project and database"):
        caller().call(Attempts([error]))


def test_other_errors_pass() -> None:
    with pytest.raises(ZeroDivisionError):
        caller().call(Attempts([ZeroDivisionError()]))


def test_stopping_ends_a_pause() -> None:
    patient = caller(Patience(10.0, 600.0, 300.0, 300.0))
    began = time.monotonic()
    threading.Timer(0.05, patient.stop).start()
    with pytest.raises(SinkUnavailableError, match="tried once"):
        patient.call(Attempts(ENDLESS))
    assert time.monotonic() - began < 100


def test_pauses_grow_to_a_limit_and_differ() -> None:
    pauses = Patience(first_pause_s=1.0, longest_pause_s=4.0).pauses()
    for most in (1.0, 2.0, 4.0, 4.0):
        assert most / 2 <= next(pauses) <= most


def test_errors_are_one_line_survive_pickling_and_are_not_endless() -> None:
    error = exceptions.ServiceUnavailable("a\n  b" * 500)
    assert shown(error).startswith("UNAVAILABLE: a ba ba")
    assert len(shown(error)) < 350
    with pytest.raises(SinkUnavailableError) as caught:
        caller(SHORT).call(Attempts(ENDLESS))
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # noqa: S301
