"""What an error of Datastore means."""

import pickle
from typing import NoReturn

import pytest
from google.api_core import exceptions

from benchyard.core.errors import InputError, SinkUnavailableError, UnreachableError
from benchyard.publish.sinks.datastore.connection import asked, shown

PLACE = "Datastore at 127.0.0.1:8081"


def failing(error: Exception) -> None:
    def attempt() -> NoReturn:
        raise error

    asked(PLACE, attempt)


@pytest.mark.parametrize(
    "error",
    [
        exceptions.ServiceUnavailable("down"),
        exceptions.Unknown("oops"),
        exceptions.Cancelled("gone"),
    ],
)
def test_what_may_pass(error: Exception) -> None:
    with pytest.raises(SinkUnavailableError, match="it may answer later") as caught:
        failing(error)
    assert PLACE in str(caught.value)
    assert not isinstance(caught.value, UnreachableError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # noqa: S301


@pytest.mark.parametrize(
    "error",
    [
        exceptions.ServiceUnavailable(
            "Getting metadata from plugin failed with error: ('invalid_grant: gone', {})"
        ),
    ],
)
def test_credentials_that_are_not_let_in(error: Exception) -> None:
    with pytest.raises(InputError, match=r"roles/datastore\.user"):
        failing(error)


@pytest.mark.parametrize(
    "error",
    [
        exceptions.NotFound("no database"),
        exceptions.FailedPrecondition("native mode"),
        exceptions.MethodNotImplemented("Received http2 header with status: 404"),
    ],
)
def test_a_project_or_database_that_cannot_be_used(error: Exception) -> None:
    with pytest.raises(InputError, match="look at project and database"):
        failing(error)


@pytest.mark.parametrize("kind", [exceptions.InvalidArgument, exceptions.OutOfRange])
def test_a_request_that_is_refused_is_for_the_caller_to_judge(kind: type[Exception]) -> None:
    with pytest.raises(kind):
        failing(kind("too long"))


def test_other_errors_pass() -> None:
    with pytest.raises(ZeroDivisionError):
        failing(ZeroDivisionError())


def test_errors_are_one_line_and_not_endless() -> None:
    error = exceptions.ServiceUnavailable("a\n  b" * 500)
    assert shown(error).startswith("UNAVAILABLE: a ba ba")
    assert len(shown(error)) < 350
