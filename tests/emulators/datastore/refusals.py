"""How the server says no: a status of gRPC and the sentence that the real service sends."""

from typing import NoReturn

import grpc


class RefusedError(Exception):
    """A call that is answered with an error.

    Args:
        status: The status.
        text: What the client's exception will say.
    """

    def __init__(self, status: grpc.StatusCode, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


def invalid(text: str) -> NoReturn:
    """Refuse a call that can never succeed."""
    raise RefusedError(grpc.StatusCode.INVALID_ARGUMENT, text)


def aborted() -> NoReturn:
    """Refuse a transaction that another one was faster than."""
    raise RefusedError(
        grpc.StatusCode.ABORTED,
        "Aborted due to cross-transaction contention. This occurs when multiple transactions "
        "attempt to access the same data, requiring Datastore mode to abort at least one in order "
        "to enforce serializability.",
    )
