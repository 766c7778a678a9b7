"""Alarms, and what else was said of changes of level; this host's account of alarms."""

from collections.abc import Iterator
from datetime import datetime

from fastapi import APIRouter, Request

from benchyard.catalogue.entry import CaseEntry
from benchyard.core.quantity import plural
from benchyard.core.table import LONG, MOMENT, TEXT, Cell, Field
from benchyard.results.account import read_account
from benchyard.results.annotations import Annotation, read_annotations
from benchyard.results.campaigns import is_earlier
from benchyard.web.cases import name_of
from benchyard.web.explorer import Current, keep_fresh
from benchyard.web.tables import DataTable, add_table, table_of

router = APIRouter()

_Noted = tuple[CaseEntry, Annotation]
_FIELDS: tuple[Field, ...] = (
    ("noted_s", "Noted (UTC)", MOMENT, lambda one: _seconds(one[1].noted_at)),
    ("case", "Case", TEXT, lambda one: Cell(name_of(one[0]), href=f"/case/{one[0].id}")),
    ("step", "Step", TEXT, lambda one: one[1].step),
    ("metric", "Metric", TEXT, lambda one: one[1].metric),
    ("since_s", "Changed (UTC)", MOMENT, lambda one: _seconds(one[1].since)),
    ("said", "What was said", LONG, lambda one: str(one[1])),
    ("host", "Host", TEXT, lambda one: one[1].host),
)


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def alarms_table(request: Request, explorer: Current) -> DataTable:
    """Return all that was said of changes, newest first."""
    keep_fresh(request)  # whoever annotates changes no run
    account = read_account()
    spent = plural(account.confirmations, "confirmation")
    resting = [f"{case} until {until}" for case, until in account.resting.items()]
    notes = [
        f"This host: {account.spent} of {spent} spent in {account.month or 'no month yet'}; an "
        f"e-value of {account.bound:.3g} raises an alarm.",
        *([f"Not confirmed, and at rest: {', '.join(resting)}."] if resting else []),
    ]
    found = sorted(_noted(explorer), key=lambda one: one[1].noted_at, reverse=True)
    empty = "Nothing was said of a change: benchyard alarms confirms, benchyard annotate accepts."
    return table_of("alarms", "Alarms", _FIELDS, found, "/alarms", notes=notes, empty=empty)


def _noted(explorer: Current) -> Iterator[_Noted]:
    for case in explorer.catalogue.cases():
        if not is_earlier(case.results):
            yield from ((case, one) for one in read_annotations(case.results)[0])


add_table(router, "/alarms", alarms_table)
