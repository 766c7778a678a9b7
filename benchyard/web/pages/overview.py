"""The first page: what changed, what got worse first."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request, Response

from benchyard.analysis.comparison.gate import Regression
from benchyard.analysis.comparison.wording import change, change_between
from benchyard.analysis.regressions import Looked
from benchyard.catalogue.entry import RUNS, CaseEntry, identified
from benchyard.catalogue.query import EntryQuery as Asked
from benchyard.core.model import Json, Outcome
from benchyard.core.quantity import plural
from benchyard.core.table import LONG, MOMENT, NUMBER, TEXT, Cell, Field
from benchyard.results.campaigns import is_earlier
from benchyard.web.explorer import Current, keep_fresh
from benchyard.web.pages.runs import RUN_FIELDS, entry_document
from benchyard.web.rendering import document_of, json_answer, render
from benchyard.web.searching import moment
from benchyard.web.tables import DataTable, table_of

router = APIRouter()

#: So many cases are looked at, the one with the newest run first.
MOST_CASES = 50
#: Seconds that a page waits for looks at cases; what is not known by then is told to follow.
_PATIENCE = 0.2
_BROKEN = (Outcome.FAILED.value, Outcome.TIMED_OUT.value)
_FAILURES, _NEWEST = 10, 20
_DEFAULT = "7d"
_PERIODS = ("24h", "7d", "30d", "52w")
Since = Annotated[str, Query(max_length=40, description="2026-11-01, or 30d, 12h, 2w ago")]


class Changes:
    """What changed since a time.

    Attributes:
        since: As it was written.
        cases: With new runs, those that are looked at; the one with the newest run first.
        left_out: How many more there are.
        looks: By ids of cases, as far as they are done.
        runs: New ones.
        failures: Among them.
    """

    def __init__(self, request: Request, explorer: Current, since: Since = "") -> None:
        catalogue = explorer.catalogue
        self.since = since or _DEFAULT
        self.since_s = moment(self.since) or 0
        new = Asked(since_s=self.since_s, formats=RUNS)
        found = catalogue.changed_since(self.since_s, limit=MOST_CASES)
        self.left_out = catalogue.count_cases(new) - len(found)
        self.cases = [case for case in found if not is_earlier(case.results)]
        self.looks = explorer.looks.of(self.cases, _PATIENCE)
        self.runs = catalogue.page(replace(new, limit=_NEWEST))
        self.failures = catalogue.page(replace(new, outcomes=_BROKEN, limit=_FAILURES))
        if self.pending:
            keep_fresh(request)

    @property
    def pending(self) -> int:
        """Number of cases that are still being looked at."""
        return len(self.cases) - len(self.looks)

    @property
    def compared(self) -> Sequence[Looked]:
        """The looks at cases that have something to be compared with."""
        return [one for one in self.looks.values() if one.against]

    def worse(self) -> Iterator[tuple[CaseEntry, Looked, Regression]]:
        """Yield what got worse."""
        for case in self.cases:
            if looked := self.looks.get(case.id):
                yield from ((case, looked, regression) for regression in looked.regressions)


_Changed = Annotated[Changes, Depends()]


@router.get(
    "/changes.json",
    summary="What changed, what got worse first",
    responses=document_of("regressions", "failures", "compared", "pending", "looking", "left_out"),
)
def changes_json(explorer: Current, changes: _Changed) -> Response:
    """Answer with regressions, failures, new runs, and the cases that were compared."""
    worse: list[Json] = [
        {**one.to_json(), "case_id": case.id, "compare": _compare(case, looked)}
        for case, looked, one in changes.worse()
    ]
    compared: list[Json] = [
        {"case_id": case.id, "case": case.title, "summary": looked.summary}
        for case in changes.cases
        if (looked := changes.looks.get(case.id))
    ]
    failures: list[Json] = [entry_document(entry) for entry in changes.failures.entries]
    return json_answer(
        {
            "since_s": changes.since_s,
            "runs": changes.runs.total,
            "failed": changes.failures.total,
            "regressions": worse,
            "failures": failures,
            "compared": compared,
            "pending": changes.pending,
            "looking": explorer.looks_first,
            "left_out": changes.left_out,
        }
    )


@router.get("/", include_in_schema=False)
def overview(request: Request, explorer: Current, changes: _Changed) -> Response:
    """Show what changed."""
    newest = (
        changes.runs
        if changes.runs.total
        else explorer.catalogue.page(Asked(formats=RUNS, limit=_NEWEST))
    )
    return render(
        request,
        "overview.html",
        title="What changed",
        roots=[str(root) for root in explorer.catalogue.roots],
        changes=changes,
        cards=_cards(changes),
        periods=[(text, f"/?since={text}", text == changes.since) for text in _PERIODS],
        worse=_worse(changes),
        failures=_failures(changes),
        cases=_cases(changes),
        newest=table_of("newest", "Newest runs", RUN_FIELDS, newest.entries),
    )


def _cards(changes: Changes) -> list[tuple[object, ...]]:
    worse, failed = len(list(changes.worse())), changes.failures.total
    since = urlencode({"since": changes.since})
    broken = urlencode([("outcome", one) for one in _BROKEN])
    compared = f"{len(changes.compared)} of {plural(len(changes.cases), 'case')} compared"
    return [
        ("Regressions", worse, compared, "#worse", "bad" if worse else ""),
        ("Failed runs", failed, "", f"/runs?{broken}&{since}", "bad" if failed else ""),
        ("New runs", f"{changes.runs.total:,}", "", f"/runs?{since}"),
        ("Cases with new runs", len(changes.cases) + changes.left_out, "", f"/cases?{since}"),
    ]


def _metric(one: Regression) -> Cell:
    return Cell(one.metric, one.metric if _interval(one) else one.text)


def _change(one: Regression) -> Cell:
    medians = one.baseline_median, one.candidate_median
    return Cell(one.ratio, change_between(one.ratio, *medians), mark="bad")


def _interval(one: Regression) -> str:
    if one.ratio is None or one.ratio_interval is None:
        return ""
    return " … ".join(map(change, one.ratio_interval))


#: A row is of a case, of what its comparison came to, and of a regression in that.
_WORSE: Sequence[Field] = (
    ("case", "Case", TEXT, lambda row: Cell(row[0].title, href=f"/case/{row[0].id}")),
    ("step", "Step", TEXT, lambda row: row[2].name or row[2].step),
    ("metric", "Metric", TEXT, lambda row: _metric(row[2])),
    ("before", "Before", NUMBER, lambda row: Cell.measured(row[2].baseline_median, row[2].unit)),
    ("now", "Now", NUMBER, lambda row: Cell.measured(row[2].candidate_median, row[2].unit)),
    ("change", "Change", NUMBER, lambda row: _change(row[2])),
    ("interval", "Interval", NUMBER, lambda row: Cell(None, _interval(row[2]) or "-")),
    ("runs", "Runs", NUMBER, lambda row: Cell(None, _runs(row[2]) or "-")),
    ("compare", "More", TEXT, lambda row: Cell(None, "compare", href=_compare(*row[:2]))),
)


def _runs(one: Regression) -> str:
    return " against ".join(map(str, reversed(one.runs or ())))


def _worse(changes: Changes) -> DataTable:
    empty, notes = _nothing_worse(changes), _bounds(changes)
    return table_of("worse", "Got worse", _WORSE, changes.worse(), empty=empty, notes=notes)


def _nothing_worse(changes: Changes) -> str:
    """Say of how many cases nothing is known to be worse, and of how much that says nothing."""
    if not changes.cases:
        return "There are no new runs to compare."
    if not changes.compared:
        return "No case was compared with a campaign before; the reasons are below."
    many = f"{len(changes.compared)} of {plural(len(changes.cases), 'case')} with new runs"
    untold = sum(one.untold for one in changes.compared)
    but = f", but of {plural(untold, 'step')} in them it cannot be told" if untold else ""
    return f"No step is shown to be worse in {many} that were compared{but}."


def _bounds(changes: Changes) -> list[str]:
    notes = [
        "Each case is compared with its campaign before on the same host, by the rule of "
        "benchyard compare, and judged on its own."
    ]
    if changes.pending:
        notes.append(f"{plural(changes.pending, 'case')} still being compared: look again soon.")
    if changes.left_out:
        notes.append(
            f"{plural(changes.left_out, 'case')} with older new runs not looked at: these are the "
            f"{MOST_CASES} with the newest runs. Choose a shorter time, or look at a case itself."
        )
    return notes


def _compare(case: CaseEntry, looked: Looked) -> str | None:
    """Return the address of the comparison of a case with what it was before."""
    if looked.before is None:
        return None
    sides = [("side", identified(looked.before)), ("side", case.id)]
    return f"/compare?{urlencode(sides)}"


def _failures(changes: Changes) -> DataTable:
    total = changes.failures.total
    more = [f"The newest {_FAILURES} of {total:,}."] if total > _FAILURES else []
    failed = changes.failures.entries
    return table_of("failed", "Failed runs", RUN_FIELDS, failed, empty="No run failed.", notes=more)


def _cases(changes: Changes) -> DataTable:
    def compared(case: CaseEntry) -> Cell:
        looked = changes.looks.get(case.id)
        return Cell(looked.summary if looked else "still being compared", mark=_mark(looked))

    def more(case: CaseEntry) -> Cell:
        looked = changes.looks.get(case.id)
        href = _compare(case, looked) if looked else None
        return Cell(None, "compare" if href else "", href=href)

    fields: Sequence[Field] = (
        ("case", "Case", TEXT, lambda one: Cell(one.title, href=f"/case/{one.id}")),
        ("runs", "Runs", NUMBER, lambda one: Cell(one.runs, href=f"/runs?results={one.id}")),
        ("newest_s", "Newest (UTC)", MOMENT, lambda one: one.newest_s),
        ("summary", "Against the campaign before", LONG, compared),
        ("compare", "More", TEXT, more),
    )
    title, empty = "Cases with new runs", "No case has new runs."
    return table_of("changed", title, fields, changes.cases, empty=empty)


def _mark(looked: Looked | None) -> str:
    if looked is None or looked.before is None:
        return "quiet"
    if looked.regressions:
        return "bad"
    return "doubtful" if looked.untold or not looked.against else ""
