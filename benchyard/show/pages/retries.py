"""The retry dashboard: of a case, and of all cases and testbeds of a lab together.

A board is what such a page is made of. It is kept in the table artifact of each case, so that the
lab's page can be made from the newest boards of all cases, whichever testbeds they come from. The
table's rows are for people. What they do not tell, how often each step was executed and how much
failed each day, is kept in the artifact's metadata: texts, of which none may be longer than 500
characters. What cannot be read back is left out: somebody else may have written it.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from operator import add
from typing import Any, TypeVar, cast

from benchyard.analysis.executions import WHOLE_RUN, Collected, StepTry, executions
from benchyard.analysis.failure_rates import (
    by_fragility,
    first_and_last,
    least_rate,
    outcome_word,
    troubled,
)
from benchyard.analysis.failure_tables import Link
from benchyard.core.json_text import encoded
from benchyard.core.model import Json
from benchyard.core.quantity import day_and_time, duration, percent, plural
from benchyard.core.table import MARKDOWN, Column, Table, text_table
from benchyard.core.wording import cell
from benchyard.show.pages.result import link

#: What began longer ago is not shown.
DAYS = 28
#: So many executions in trouble one board holds, the newest of the most fragile steps.
MOST_ROWS = 300
#: So many of them a page shows; the table has the rest.
_MOST_ON_PAGE = 60
_ERROR = 80
#: Columns of a row.
HEAD = (
    *("Step", "Case", "Run", "Ended", "Attempts", "Flow run", "Host", "First error", "Last error"),
    *("Took", "Started (UTC)"),
)
Row = Mapping[str, str]
KeyT = TypeVar("KeyT")
#: Longest cell that is taken over from what is kept.
_LONGEST_CELL = 2000


@dataclass(frozen=True, slots=True)
class Counts:
    """How much was executed, and how much of it failed."""

    executions: int = 0
    troubled: int = 0
    attempts: int = 0
    failed: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        """Return the sum."""
        return Counts(*map(add, astuple(self), astuple(other)))


@dataclass(frozen=True, slots=True)
class Board:
    """The data of a retry dashboard.

    Args:
        rows: Executions in trouble; cells are escaped.
        steps: Host, case and step to how often it failed there.
        days: Host and day (UTC) to how much failed there.
    """

    rows: tuple[Row, ...] = ()
    steps: Mapping[tuple[str, str, str], Counts] = field(
        default_factory=dict[tuple[str, str, str], Counts]
    )
    days: Mapping[tuple[str, str], Counts] = field(default_factory=dict[tuple[str, str], Counts])

    def without(self, hosts: Iterable[str]) -> "Board":
        """Return the board without the data of some hosts."""
        gone = set(hosts)
        shown = {cell(host) for host in gone}
        return Board(
            tuple(row for row in self.rows if row.get("Host") not in shown),
            {key: counts for key, counts in self.steps.items() if key[0] not in gone},
            {key: counts for key, counts in self.days.items() if key[0] not in gone},
        )


def board_of(collected: Collected, address: Link, now: datetime) -> Board:
    """Return the board of what was tried in the last ``DAYS``.

    Args:
        address: Returns the address of a flow run in the UI, which a link can hold.
    """
    recent = collected.since(now - timedelta(days=DAYS))
    found = list(executions(recent.tries))
    steps = _added(((one.host, one.case, one.step), _counts(one)) for one in found)
    days = _added(
        ((one.host, f"{one.began.astimezone(UTC):%Y-%m-%d}"), _counts(one)) for one in found
    )
    rows = [_row(one, address) for one in troubled(by_fragility(found))]
    return Board(tuple(rows[:MOST_ROWS]), _of_whole_runs(recent, steps), days)


def _added(parts: Iterable[tuple[KeyT, Counts]]) -> dict[KeyT, Counts]:
    """Return the sum of the counts of each key."""
    found: dict[KeyT, Counts] = {}
    for key, counts in parts:
        found[key] = found.get(key, Counts()) + counts
    return found


def _counts(one: StepTry) -> Counts:
    return Counts(1, int(one.in_trouble), one.attempts, len(one.failed))


def _of_whole_runs(
    collected: Collected, steps: Mapping[tuple[str, str, str], Counts]
) -> dict[tuple[str, str, str], Counts]:
    """Relate the failures of whole runs to the number of tries of a run."""
    tries = Counter((one.host, one.case) for one in collected.tries)
    return {
        key: Counts(tries[key[:2]], counts.troubled) if key[2] == WHOLE_RUN else counts
        for key, counts in steps.items()
    }


def _row(one: StepTry, address: Link) -> Row:
    cells = (
        cell(one.step),
        cell(one.case),
        str(one.run),
        outcome_word(one),
        str(one.attempts),
        link(str(one.flow_run.get("name") or ""), address(one.flow_run)),
        cell(one.host),
        *map(cell, first_and_last(one, _ERROR)),
        duration(one.duration_s),
        day_and_time(one.began),
    )
    return dict(zip(HEAD, cells, strict=True))


def merged(boards: Iterable[Board]) -> Board:
    """Merge boards."""
    every = list(boards)
    rows = [row for board in every for row in board.rows]
    steps = _added(pair for board in every for pair in board.steps.items())
    days = _added(pair for board in every for pair in board.days.items())
    rank = {key: place for place, (key, _) in enumerate(_ranked(steps))}
    shown = {(cell(case), cell(step)): place for (case, step), place in rank.items()}
    # Twice: of each step the newest first, since sorting keeps the order of equals.
    rows.sort(key=lambda row: row.get("Started (UTC)", ""), reverse=True)
    rows.sort(key=lambda row: shown.get((row.get("Case", ""), row.get("Step", "")), len(shown)))
    return Board(tuple(rows[:MOST_ROWS]), steps, days)


def _ranked(steps: Mapping[tuple[str, str, str], Counts]) -> list[tuple[tuple[str, str], Counts]]:
    """Return steps over all hosts, the most fragile first."""
    found = _added(((case, step), counts) for (_, case, step), counts in steps.items())
    return sorted(found.items(), key=lambda pair: (-_fragility(pair[1]), pair[0]))


def _fragility(counts: Counts) -> float:
    return least_rate(counts.troubled, counts.executions) if counts.executions else 0.0


# -- the page
def retries_page(board: Board, whose: str) -> str:
    """Return the page of a board.

    Args:
        whose: ``words``, or ``the lab``; escaped.
    """
    ranked = [(key, counts) for key, counts in _ranked(board.steps) if counts.troubled]
    parts = [f"# Failures and retries of {whose}\n", f"{_summary(board)}\n"]
    if ranked:
        parts += ["## The most fragile steps\n", _fragile_table(ranked[:_MOST_ON_PAGE])]
        parts += ["## What failed\n", _rows_table(board.rows)]
    if board.days:
        parts += ["## By the day\n", _days_table(board.days)]
    return "\n".join(parts)


def _summary(board: Board) -> str:
    real = [counts for key, counts in board.steps.items() if key[2] != WHOLE_RUN]
    total = sum(real, Counts())
    off = sum(counts.troubled for key, counts in board.steps.items() if key[2] == WHOLE_RUN)
    rest = f" {plural(off, 'run')} broke off outside of the steps." if off else ""
    share = f"{total.troubled:,} of {plural(total.executions, 'execution')} of steps had trouble"
    attempts = f"{total.failed:,} of {plural(total.attempts, 'attempt')} failed"
    return f"The last {DAYS} days: {share}, {attempts}.{rest}"


def _fragile_table(ranked: Sequence[tuple[tuple[str, str], Counts]]) -> str:
    rows = [
        (step, case, *_figures(counts.troubled, counts.executions), _failed(counts))
        for (case, step), counts in ranked
    ]
    figures = ("Trouble", "Rate", "Attempts failed")
    return text_table(("Step", "Case", *figures), rows, figures).markdown()


def _figures(some: int, of_all: int) -> tuple[str, str]:
    return f"{some:,} of {of_all:,}", percent(some / of_all) if of_all else "-"


def _failed(counts: Counts) -> str:
    return f"{counts.failed:,} of {counts.attempts:,}"


def _rows_table(rows: Sequence[Row]) -> str:
    several = len({row.get("Case") for row in rows[:_MOST_ON_PAGE]}) > 1
    cells = [[row.get(name, "") for name in HEAD] for row in rows]
    right = ("Run", "Attempts", "Took")
    columns = [Column(name, name, replace(MARKDOWN, right=name in right)) for name in HEAD]
    shown = Table("", "", columns, cells).first(_MOST_ON_PAGE, " are in the table.")
    return shown.without(() if several else ("Case",)).markdown()


def _days_table(days: Mapping[tuple[str, str], Counts]) -> str:
    found = _added((day, counts) for (_, day), counts in days.items())
    rows = [
        (day, f"{c.executions:,}", *_figures(c.troubled, c.executions), _failed(c))
        for day, c in sorted(found.items(), reverse=True)[:DAYS]
    ]
    figures = ("Executed", "Trouble", "Rate", "Attempts failed")
    return text_table(("Day (UTC)", *figures), rows, figures).markdown()


def table_of(board: Board) -> list[Json]:
    """Return the rows of the table artifact."""
    return [dict[str, Json](row) for row in board.rows]


def metadata_of(board: Board) -> dict[str, str]:
    """Return the metadata of the table artifact."""
    found: list[tuple[str, Mapping[Any, Counts]]] = [("step", board.steps), ("day", board.days)]
    return {
        encoded([kind, *key]): " ".join(map(str, astuple(counts)))
        for kind, counted in found
        for key, counts in counted.items()
    }


def board_from(rows: object, metadata: Mapping[str, str] | None, since: date) -> Board:
    """Return the board that an artifact holds.

    Args:
        rows: Its data: a list of rows, or the same as JSON.
        since: What is of days before it is left out.
    """
    steps: dict[tuple[str, str, str], Counts] = {}
    days: dict[tuple[str, str], Counts] = {}
    for name, value in (metadata or {}).items():
        try:
            kind, *key = map(str, json.loads(name))
            counts = Counts(*(max(0, int(number)) for number in value.split()))
        except (ValueError, TypeError):
            continue
        if kind == "step" and len(key) == 3:
            steps[key[0], key[1], key[2]] = counts
        elif kind == "day" and len(key) == 2 and key[1] >= since.isoformat():
            days[key[0], key[1]] = counts
    kept = tuple(row for row in _rows(rows) if row["Started (UTC)"] >= since.isoformat())
    return Board(kept, steps, days)


def _rows(data: object) -> list[Row]:
    try:
        found = json.loads(data) if isinstance(data, str) else data
    except ValueError:
        return []
    listed = cast("list[Any]", found) if isinstance(found, list) else []
    return [
        {name: str(row.get(name, ""))[:_LONGEST_CELL] for name in HEAD}
        for row in (cast("dict[str, Any]", one) for one in listed if isinstance(one, dict))
    ]
