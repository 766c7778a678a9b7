"""Takes in rows and events of every form, in any order, and tells what it could not read.

Rows come by the thousand. Those of a batch that are about images are read together, column by
column; the few others one by one. Where a batch cannot be read together its halves are tried, down
to single rows, so that one that is broken costs nothing but itself.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias, cast

import numpy as np

from benchyard.core.json_text import decoded
from benchyard.core.wording import printable, quote
from benchyard.results.events.message import read, read_plain
from benchyard.show.shipyard.ledger import Columns, Floats, Ledger, columns_of, image_of
from benchyard.show.shipyard.messages import read_fields, read_together
from benchyard.show.shipyard.sizes import NO_SIZE, Sizes
from benchyard.show.shipyard.tables import Told, end_of, name_of
from benchyard.show.shipyard.vocabulary import OLD_NAMES, EventNumbers, Use, use_of

Row: TypeAlias = Mapping[str, Any]
#: Event, number of the node, and time of what is about an image, for each row of a batch.
_Heads: TypeAlias = "tuple[list[int], list[int], Floats]"

#: The year 9999 ends; a time beyond it is none (seconds since 1970).
_LATEST = 253_402_300_800.0
#: So many rows are read together, and so few no more.
_MANY, _FEW = 16_384, 16
#: So many problems are kept in words; the rest is counted.
_TOLD = 20

_UNREADABLE = (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)


class _NodeNumbers(dict[str, int]):
    """Nodes of one partition to their places in a list of all."""

    def __init__(self, partition: str, nodes: list[Told]) -> None:
        super().__init__()
        self._partition, self._nodes = partition, nodes

    def __missing__(self, node: Any) -> int:
        """Make room for a node that is new.

        Raises:
            TypeError: If that is no name.
        """
        if not (isinstance(node, str) and node):
            raise TypeError(f"its node is {quote(node)}, and no name")
        self._nodes.append(Told(self._partition, node))
        number = self[node] = len(self._nodes) - 1
        return number


class Intake:
    """All that is read, before it is put together.

    Args:
        pool: Only rows of this pool are taken; None for all.
    """

    def __init__(self, pool: str | None = None) -> None:
        self.taken = 0
        self.unreadable = 0
        self.problems: list[str] = []
        self.unknown: Counter[str] = Counter()
        self.other_pools: Counter[str] = Counter()
        self.nodes: list[Told] = []
        self.runs: dict[tuple[str, str, str, int], Told] = {}
        self.ledger = Ledger()
        self._pool = pool
        self._of = ""
        self._numbers: dict[str, _NodeNumbers] = {}
        self._events, self._sizes = EventNumbers(), Sizes()

    def take(self, rows: Sequence[Any], where: str, first: int = 1, pool: str = "") -> None:
        """Take rows of a table, or events as ``events.jsonl`` has them.

        Args:
            where: What a problem's number is put behind: ``events.jsonl line``.
            first: Number of the first row.
            pool: What events are of; rows tell it themselves.
        """
        self._of = pool
        for place in range(0, len(rows), _MANY):
            self._take(rows[place : place + _MANY], where, first + place)
        self.taken += len(rows)

    def _take(self, rows: Sequence[Any], where: str, first: int) -> None:
        try:
            read, others = self._read_together(rows)
        except _UNREADABLE:
            self._take_parts(rows, where, first)
            return
        for event, columns in read:
            self.ledger.add(event, columns)
        for place in others:
            self._take_one(rows[place], f"{where} {first + place}")

    def _take_parts(self, rows: Sequence[Any], where: str, first: int) -> None:
        if len(rows) > _FEW:
            half = len(rows) // 2
            self._take(rows[:half], where, first)
            self._take(rows[half:], where, first + half)
        else:
            for number, row in enumerate(rows, first):
                self._take_one(row, f"{where} {number}")

    # -- many at once

    def _read_together(self, rows: Sequence[Row]) -> tuple[list[tuple[str, Columns]], list[int]]:
        """Return the columns of what is about images, and the places of all other rows."""
        is_table = "RowKey" in rows[0]
        events, nodes, at = self._table_heads(rows) if is_table else self._line_heads(rows)
        kinds, numbers = np.array(events), np.array(nodes)
        found = list[tuple[str, Columns]]()
        for number, event in enumerate(EventNumbers.IMAGES, 1):
            places = np.flatnonzero(kinds == number)
            if len(places):
                chosen = places.tolist()
                if is_table:
                    messages = [rows[place]["Message"] for place in chosen]
                    told = read_together(messages, self.ledger.images, self._sizes)
                else:
                    messages = [rows[place]["message"] for place in chosen]
                    told = read_fields(messages, self.ledger.images, self._sizes)
                image, length, size = told
                columns = columns_of(numbers[places], image, at[places], length, size)
                found.append((event, columns))
        return found, np.flatnonzero(kinds == 0).tolist()

    def _table_heads(self, rows: Sequence[Row]) -> _Heads:
        text = ",".join([row["RowKey"] for row in rows])
        at = np.array(decoded(f"[{text}]".encode(), exact=False), np.float64)
        # No word of JSON is a time, though some of them stand for numbers.
        if "e" in text or not _are_times(at, len(rows)):
            raise ValueError("times that are none")
        told = "PartitionKey" in rows[0]
        partitions = {row["PartitionKey"] for row in rows} if told else {None}
        if len(partitions) > 1:
            raise ValueError("several partitions")
        numbers = self._numbers_of(self._checked(partitions.pop()))
        events = [self._events[row["Event"]] for row in rows]
        return events, [numbers[row["NodeId"]] for row in rows], at

    def _line_heads(self, rows: Sequence[Row]) -> _Heads:
        texts = [row["at"] for row in rows]
        if not all(len(text) == 27 and text[-1] == "Z" for text in texts):
            raise ValueError("times in another form")
        when = np.array([text[:-1] for text in texts], "datetime64[us]")
        at = when.astype(np.int64) / 1e6
        if not _are_times(at, len(rows)):
            raise ValueError("times that are none")
        numbers = self._numbers_of(self._of)
        events = [self._events[row["event"]] for row in rows]
        return events, [numbers[row["node"]] for row in rows], at

    def _numbers_of(self, partition: str) -> _NodeNumbers:
        found = self._numbers.get(partition)
        if found is None:
            found = self._numbers[partition] = _NodeNumbers(partition, self.nodes)
        return found

    def _checked(self, partition: Any) -> str:
        """Return a row's partition.

        Raises:
            TypeError: If it is none.
            _OtherPoolError: If it is not asked for.
        """
        key = "" if partition is None else partition
        if not isinstance(key, str):
            raise TypeError(f"its PartitionKey is {quote(key)}, and no text")
        if key and self._pool is not None and key.partition("$")[2] != self._pool:
            raise _OtherPoolError(key)
        return key

    # -- one by one

    def _take_one(self, row: Any, where: str) -> None:
        try:
            if not isinstance(row, Mapping):
                raise TypeError("it is no object")
            self._take_row(cast("Row", row))
        except _OtherPoolError as error:
            self.other_pools[str(error)] += 1
        except KeyError as error:
            self.refuse(where, f"it has no {error.args[0]}")
        except _UNREADABLE as error:
            self.refuse(where, str(error))

    def refuse(self, where: str, why: str) -> None:
        """Note something that could not be read, and was left out."""
        self.unreadable += 1
        if len(self.problems) < _TOLD:
            self.problems.append(printable(f"{where}: {why}"))

    def _take_row(self, row: Row) -> None:
        if "RowKey" in row:
            partition = self._checked(row.get("PartitionKey"))
            at, node = _row_seconds(row["RowKey"]), row["NodeId"]
            event = _event_of(row["Event"])
            message = _message_of(event, row.get("Message"))
        else:
            partition = self._of
            at, node, event = _seconds(row["at"]), row["node"], _event_of(row["event"])
            message: Any = row.get("message") or {}
            if not isinstance(message, Mapping):
                raise TypeError(f"its message is {quote(message)}, and no object")
        self._keep(event, partition, node, at, cast("Row", message))

    def _keep(self, event: str, partition: str, node: Any, at: float, message: Row) -> None:
        numbers, use = self._numbers_of(partition), use_of(event)
        if use is Use.NONE:
            self.unknown[event] += 1
        elif use is Use.OURS:
            self._keep_ours(event, partition, node, at, message)
        elif use is Use.IMAGE:
            image = self.ledger.images.number(image_of(message))
            _, length, size = end_of(at, message, self._sizes)
            size = NO_SIZE if size is None else size
            length = np.nan if length is None else length
            self.ledger.add_one(event, (numbers[node], image, at, length, size))
        else:
            told = self.nodes[numbers[node]]
            told.note(message)
            if use is Use.START:
                told.begin(event, str(message.get("mode", "")), at)
            else:
                told.end(event, "", end_of(at, message, self._sizes))

    def _keep_ours(self, event: str, partition: str, node: Any, at: float, message: Row) -> None:
        case, run = message.get("case"), message.get("run")
        if not isinstance(case, str) or not isinstance(run, int) or not isinstance(node, str):
            raise ValueError("its message names no case and run")  # noqa: TRY004 - as all others
        told = self.runs.setdefault((partition, node, case, run), Told(partition, node, case, run))
        what, _, edge = event.partition(":")[2].rpartition("-")
        if what == "run":
            told.note(message)
        if edge == "start":
            told.begin(what, name_of(message), at)
        else:
            told.end(what, name_of(message), end_of(at, message, self._sizes))


class _OtherPoolError(ValueError):
    """A row is of a pool that was not asked for."""


def _are_times(at: Floats, count: int) -> bool:
    return at.shape == (count,) and bool(np.all((at >= 0.0) & (at < _LATEST)))


def _event_of(event: Any) -> str:
    if not isinstance(event, str):
        raise TypeError(f"its event is {quote(event)}, and no text")
    name = event.strip().lower()
    return OLD_NAMES.get(name, name)


def _message_of(event: str, message: Any) -> Row:
    if message is None:
        return {}
    if not isinstance(message, str):
        raise TypeError(f"its Message is {quote(message)}, and no text")
    return read(message) if use_of(event) is Use.OURS else read_plain(message)


def _row_seconds(key: Any) -> float:
    """Return the time that a row's key tells: all of it, or what is before the first ``|``."""
    text = key.partition("|")[0] if isinstance(key, str) else key
    try:
        at = float(text)
    except (TypeError, ValueError):
        at = -1.0
    if not 0.0 <= at < _LATEST:
        raise ValueError(f"its RowKey is {quote(key)}, and no time")
    return at


def _seconds(at: Any) -> float:
    when = datetime.fromisoformat(at)
    if when.tzinfo is None:
        raise ValueError(f"its time is {quote(at)}, without a time zone")
    return when.timestamp()
