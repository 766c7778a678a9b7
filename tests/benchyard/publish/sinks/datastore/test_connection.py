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


def test_what_may_pass() -> None:
    for error in (exceptions.ServiceUnavailable("x"), exceptions.Unknown("x")):
        with pytest.raises(SinkUnavailableError, match="it may answer later") as caught:
            failing(error)
        assert PLACE in str(caught.value)
        assert not isinstance(caught.value, UnreachableError)
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # noqa: S301


def test_errors_are_one_line_and_not_endless() -> None:
    error = exceptions.ServiceUnavailable("a\n  b" * 500)
    assert shown(error).startswith("UNAVAILABLE: a ba ba")
    assert len(shown(error)) < 350


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            exceptions.ServiceUnavailable("Getting metadata from plugin failed: invalid_grant"),
            r"roles/datastore\.user",
        ),
        (exceptions.FailedPrecondition("native mode"), "look at project and database"),
        (
            exceptions.MethodNotImplemented("Received http2 header with status: 404"),
            "look at project and database",
        ),
    ],
)
def test_settings_that_cannot_be_used(error: Exception, words: str) -> None:
    with pytest.raises(InputError, match=words):
        failing(error)


@pytest.mark.parametrize("error", [exceptions.InvalidArgument("long"), ZeroDivisionError()])
def test_others_are_for_the_caller_to_judge(error: Exception) -> None:
    with pytest.raises(type(error)):
        failing(error)
