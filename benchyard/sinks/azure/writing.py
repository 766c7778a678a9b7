"""Sending rows: as few requests as may be, again where it helps, each row once in the end."""

import logging
import random
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from azure.core.exceptions import HttpResponseError

from benchyard.sinks.azure.answers import FAILURES, Answer, Meaning, understood
from benchyard.sinks.azure.client import Table, Tables
from benchyard.sinks.azure.credentials import Access, service
from benchyard.sinks.azure.rows import Row, transactions

logger = logging.getLogger(__name__)

T = TypeVar("T")

#: Seconds between the attempts of one request; a server's own wish goes first.
PAUSES = (0.2, 0.8, 2.0)


class Writer:
    """Writes rows into the table, and makes the table when it is not there.

    May be used by several threads at once.

    Args:
        pauses: Seconds between the attempts of one request.
        sleep: Waits so many seconds.
    """

    def __init__(
        self,
        access: Access,
        *,
        pauses: Sequence[float] = PAUSES,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._access = access
        self._pauses = pauses
        self._sleep = sleep
        self._opening = threading.Lock()
        self._service: Tables | None = None

    def upsert(self, rows: Iterable[Row]) -> None:
        """Write rows; one that is there already is replaced.

        Raises:
            DocumentRejectedError: If Azure will never take them.
            SinkUnavailableError: If it may take them later. Some may be there by then.
        """
        for batch in transactions(rows):
            operations = [("upsert", one, {"mode": "replace"}) for one in batch]
            self.insisting(lambda table, made=operations: table.submit_transaction(made))

    def insert(self, row: Row) -> bool:
        """Add a row; tell whether its key was free.

        Raises:
            DocumentRejectedError: If Azure will never take it.
            SinkUnavailableError: If it may take it later.
        """

        def add(table: Table) -> bool:
            try:
                # Alone, a row would come back without the code that tells why it was refused.
                table.submit_transaction([("create", row, {})])
            except HttpResponseError as error:
                if understood(error, self._access).meaning is Meaning.EXISTS:
                    return False
                raise
            return True

        return self.insisting(add)

    def insisting(self, call: Callable[[Table], T]) -> T:
        """Do something with the table that may be done twice; again if it may succeed.

        The library itself does not try again what it posts, and every transaction is posted.

        Raises:
            DocumentRejectedError: If Azure will never do it.
            SinkUnavailableError: If it may do it later.
        """
        pauses = iter(self._pauses)
        while True:
            answer = self._with_table(call)
            if not isinstance(answer, Answer):
                return answer
            pause = next(pauses, None)
            if answer.meaning is not Meaning.AGAIN or pause is None:
                raise answer.to_error()
            self._wait(answer, pause)

    def _wait(self, answer: Answer, pause: float) -> None:
        # Spread, or all who were turned away together would come back together.
        spread = pause * random.uniform(0.75, 1.25)  # noqa: S311
        seconds = spread if answer.pause is None else answer.pause
        logger.debug("%s; again in %.1f s", answer.sentence, seconds)
        self._sleep(seconds)

    def _with_table(self, call: Callable[[Table], T]) -> T | Answer:
        answer = self._tried(call)
        if isinstance(answer, Answer) and answer.meaning is Meaning.NO_TABLE:
            return self._make_table() or self._tried(call)
        return answer

    def _tried(self, call: Callable[[Table], T]) -> T | Answer:
        try:
            return call(self._open().get_table_client(self._access.table))
        except FAILURES as error:
            return understood(error, self._access)

    def _make_table(self) -> Answer | None:
        try:
            self._open().create_table_if_not_exists(self._access.table)
        except FAILURES as error:
            return understood(error, self._access)
        return None

    def _open(self) -> Tables:
        with self._opening:
            if self._service is None:
                self._service = service(self._access, retries=0)
            return self._service

    def close(self) -> None:
        """Give connections back; what is written afterwards opens new ones."""
        with self._opening:
            opened, self._service = self._service, None
        if opened is not None:
            opened.close()
