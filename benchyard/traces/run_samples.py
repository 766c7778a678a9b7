"""The samples of a run as columns: ``metrics.csv`` and ``resources.csv``, read once."""

import csv
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from benchyard.core.files import opened
from benchyard.traces.model import Loss, Numbers, Times

Values = NDArray[np.float64]
#: Rows that are texts at the same time: more leave the processor's caches, and take longer.
_ROWS = 512
#: No run lasts longer (s, 30 years).
_LATEST = 1e9
#: No counter is larger: sums would leave the floats.
_LARGEST = 1e100
_TIME = "timestamp"


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Rows in the order of time.

    Args:
        times: When each was taken, in nanoseconds from the run's start.
        values: Shape (columns, rows); NaN is not known.
        key: Which of ``keys`` each row is of.
        keys: What the rows are of: the texts in the columns that were asked for.
        losses: Which rows were left out.
    """

    times: Times
    values: Values
    key: Numbers
    keys: Sequence[tuple[str, ...]]
    losses: Sequence[Loss] = ()


def read_samples(file: Path, columns: Sequence[str], texts: Sequence[str] = ()) -> Samples:
    """Read a file of samples; of one that is cut off or damaged all rows that can be read.

    Args:
        file: With a header; its column ``timestamp`` has seconds from the run's start.
        columns: Names of those with numbers; one that is not there is unknown in each row.
        texts: Names of those that tell what a row is of.

    Raises:
        OSError: If it cannot be opened or read.
    """
    reading = _Reading(file.name, columns, texts)
    # A line end inside of quotes is none: csv takes care of it if nobody else does.
    with TextIOWrapper(opened(file), encoding="utf-8", errors="replace", newline="") as stream:
        rows = reading.rows(stream)
        reading.begin(next(rows, list[str]()))
        while chunk := list(islice(rows, _ROWS)):
            reading.take(chunk)
    return reading.samples()


class _Reading:
    def __init__(self, file: str, columns: Sequence[str], texts: Sequence[str]) -> None:
        self._file = file
        self._columns, self._texts = (_TIME, *columns), texts
        self._places: list[int | None] = []
        self._named: list[int | None] = []
        self._width = 0
        self._rows = 1
        self._parts: list[Values] = []
        self._keys: dict[tuple[str, ...], int] = {}
        self._key: list[int] = []
        self._damaged: tuple[int, int] = (0, 0)
        self._losses: list[Loss] = []

    def rows(self, stream: TextIO) -> Iterator[list[str]]:
        """Yield the rows as far as there are any."""
        reader = csv.reader(stream)
        try:
            yield from reader
        except csv.Error as error:
            self.lose(f"{self._file} is no table from there on: {error}", reader.line_num)

    def begin(self, header: Sequence[str]) -> None:
        """Take the header."""
        where = {name: place for place, name in enumerate(header)}
        self._width = len(header)
        self._places = [where.get(name) for name in self._columns]
        self._named = [where.get(name) for name in self._texts]
        if _TIME not in where:
            self._width = -1
            self.lose(f"{self._file} has no header with 'timestamp'", 1)

    def take(self, chunk: list[list[str]]) -> None:
        """Take rows that follow each other."""
        whole = [row for row in chunk if len(row) == self._width]
        first, self._rows = self._rows + 1, self._rows + len(chunk)
        if whole:
            cells = list(zip(*whole, strict=True))
            unknown = ("",) * len(whole)
            found = np.array([_numbers(unknown if p is None else cells[p]) for p in self._places])
            good = (found[0] >= 0) & (found[0] <= _LATEST)
            self._parts.append(found[:, good])
            names = zip(*(unknown if p is None else cells[p] for p in self._named), strict=True)
            self._book(names if self._named else iter([()] * len(whole)), good)
            whole = [row for row, kept in zip(whole, good.tolist(), strict=True) if kept]
        if len(whole) < len(chunk) and self._width > 0:
            count, earliest = self._damaged
            self._damaged = count + len(chunk) - len(whole), earliest or first

    def _book(self, names: Iterator[tuple[str, ...]], good: NDArray[np.bool_]) -> None:
        keys = self._keys
        key = [keys.setdefault(name, len(keys)) for name in names]
        self._key.extend(key if good.all() else np.array(key)[good].tolist())

    def lose(self, reason: str, line: int) -> None:
        """Note what is missing."""
        self._losses.append(Loss(reason, 1, f"line {line:,}"))

    def samples(self) -> Samples:
        """Return all that was taken."""
        none = np.empty((len(self._columns), 0))
        values = np.concatenate([none, *self._parts], axis=1)
        key = np.array(self._key, np.int32)
        times = np.rint(values[0] * 1e9).astype(np.int64)
        if (np.diff(times) < 0).any():
            order = np.argsort(times, kind="stable")
            times, values, key = times[order], values[:, order], key[order]
        count, first = self._damaged
        if count:
            why = f"rows of {self._file} that are cut off or no numbers"
            self._losses.append(Loss(why, count, f"line {first:,} or soon after"))
        return Samples(times, values[1:], key, list(self._keys), self._losses)


def _numbers(texts: Sequence[str]) -> Values:
    """Return a column's numbers; NaN for what is none."""
    if not any(texts):
        return np.full(len(texts), math.nan)
    try:
        found = np.array([*map(float, texts)])
    except ValueError:
        found = np.array([*map(_number, texts)])
    found[~(np.abs(found) <= _LARGEST)] = math.nan
    return found


def _number(text: str) -> float:
    try:
        return float(text) if text else math.nan
    except ValueError:
        return math.nan
