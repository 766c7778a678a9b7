"""A report: results of a case, a comparison or a suite as one HTML file.

The same results give the same file, byte for byte: it has no date of its own making unless
``SOURCE_DATE_EPOCH`` gives one (https://reproducible-builds.org/specs/source-date-epoch/).
"""

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from benchyard import __version__
from benchyard.analysis.comparison.run_sets import RunSet
from benchyard.analysis.comparison.verdicts import ALL_METRICS
from benchyard.core.errors import InputError
from benchyard.core.model import JsonObject
from benchyard.core.quantity import amount, moment, plural
from benchyard.core.wording import named_runs, printable
from benchyard.results.record import RunRecord
from benchyard.show.export.columns import Metrics
from benchyard.web.report.cases import CasePart, patterns
from benchyard.web.report.comparisons import (
    ComparisonPart,
    ReportRequest,
    doubts_table,
    environment,
    sides_of,
)
from benchyard.web.report.gallery import DrawnPicture, Planned, planned
from benchyard.web.report.records import Records, records_of

#: Bytes of a report: what a mail or an issue takes without a thought.
LIMIT = 500_000
#: Bytes that are kept free for what is said of pictures that were left out.
_RESERVE = 1000
#: Names in a title.
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Report:
    """A report, ready to be written.

    Args:
        records_digest: Over the digests of all records, ``sha256:`` before it.
        pictures: How many it has.
        left_out: How many pictures it has no room for.
        verdict: Its first line.
        regressions: How many its comparison calls.
    """

    html: str
    title: str
    runs: int
    records_digest: str
    pictures: int
    left_out: int
    verdict: str
    regressions: int = 0


def report_of(
    shown: Sequence[tuple[str, RunSet]] = (), request: ReportRequest | None = None
) -> Report:
    """Make a report.

    Args:
        shown: Each side's name with the runs of one of its cases, unless sides are compared.

    Raises:
        InputError: If a metric is not known, or there is more than a report has room for; the
            sentence says what to leave out.
    """
    request = request or ReportRequest()
    compared = None
    if request.answer:
        compared = ComparisonPart(request.answer.comparison, request.label)
        shown = sides_of(request.answer.comparison)
    asked = Metrics(patterns(request.rule.metrics))
    cases = [CasePart(request.label(side), runs, request.rule, asked) for side, runs in shown]
    if any(case.is_measured for case in cases):
        asked.refuse_unmatched()
    by_side: dict[str, list[tuple[str, RunSet]]] = {}
    for case in cases:
        by_side.setdefault(case.side if compared else "", []).append((case.title, case.runs))
    records = records_of(shown, request)
    title = request.title or _title(cases, compared)
    verdict = compared.verdict if compared else _lead(cases)
    values: dict[str, Any] = {
        "title": title,
        "verdict": verdict,
        "compared": compared,
        "cases": cases,
        "facts": environment(by_side),
        "doubts": doubts_table(records.records),
        "digests": records.listed,
        "records_digest": records.digest,
        "command": request.command,
        "version": __version__,
        "measured": _measured(records.records),
        "made": _made(),
        "rule": request.rule,
    }
    pictures = planned(cases, compared, request)
    html, drawn, left_out = _within_limit(values, pictures, request, records)
    runs, regressions = len(records.runs), compared.regressions if compared else 0
    return Report(html, title, runs, records.digest, drawn, left_out, verdict, regressions)


# -- contents


def _title(cases: Sequence[CasePart], compared: ComparisonPart | None) -> str:
    if compared:
        first, *others = dict.fromkeys(case.side for case in cases)
        many = f"{len(others)} sides" if len(others) > _MOST_NAMED else ", ".join(others)
        return f"{many} against {first}"
    titles = list(dict.fromkeys(case.title for case in cases))
    names = list(dict.fromkeys(title.partition("[")[0] for title in titles))
    if len(titles) == 1:
        return titles[0]
    more = " …" if len(names) > _MOST_NAMED else ""
    return f"{', '.join(names[:_MOST_NAMED])}{more}: {plural(len(titles), 'case')}"


def _lead(cases: Sequence[CasePart]) -> str:
    if len(cases) == 1:
        return cases[0].lead
    finished, failed = (
        sum(len(runs) for runs in (getattr(case.runs, name) for case in cases))
        for name in ("records", "failed")
    )
    suspect = sum(len(case.suspect) for case in cases)
    return (
        f"{plural(len(cases), 'case')}, {plural(finished, 'finished run')}; "
        f"{plural(failed, 'run')} failed; {plural(suspect, 'execution')} suspect"
    )


def _measured(records: Sequence[RunRecord]) -> str:
    """Say from when to when the runs took place."""
    known = sorted(record.began.astimezone(UTC) for record in records if record.started_at)
    if not known:
        return "not known"
    first, last = map(moment, (known[0], known[-1]))
    return first if first == last else f"{first} to {last}"


def _made() -> str:
    """Return the date that the environment gives; empty without one."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not epoch:
        return ""
    try:
        return moment(int(epoch))
    except (ValueError, OverflowError, OSError) as error:
        raise InputError(
            f"SOURCE_DATE_EPOCH={epoch!r} is no number of seconds since 1970; set it to one, "
            "or to nothing"
        ) from error


# -- within the limit


def in_script(document: JsonObject) -> str:
    """Write a document so that nothing in it ends the ``script`` element, or begins another."""
    return json.dumps(document, separators=(",", ":")).replace("<", "\\u003c")


def _within_limit(
    values: dict[str, Any], pictures: Iterable[Planned], request: ReportRequest, records: Records
) -> tuple[str, int, int]:
    """Render a report with as many pictures as it has room for."""
    document = records.document(request.kept)
    data = in_script(document)
    values = {**values, "data": data, "digest": document["digest"]}
    bare = len(_render(values, {}, 0))
    if bare > LIMIT:
        raise InputError(_too_large(bare, request, records, len(data)))
    room = LIMIT - bare - _RESERVE
    drawn: dict[int | None, list[DrawnPicture]] = {}
    left_out = 0
    for place, draw in pictures:
        # Nothing small is taken in once something did not fit: what is shown is the beginning.
        picture = draw() if not left_out else None
        if left_out:
            left_out += 1
        elif picture is not None and picture.size <= room:
            drawn.setdefault(place, []).append(picture)
            room -= picture.size
        elif picture is not None:
            left_out = 1
    html = _render(values, drawn, left_out)
    return html.decode(), sum(map(len, drawn.values())), left_out


def _visible(value: Any) -> Any:
    """Escape characters that turn the direction of text, or end it; markup of ours stays."""
    return printable(value, but="\n") if type(value) is str else value


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("benchyard.web.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    return environment.get_template("report.html")


def _render(
    values: dict[str, Any], pictures: dict[int | None, list[DrawnPicture]], left_out: int
) -> bytes:
    text = _template().render(**values, pictures=pictures, left_out=left_out)
    return text.encode(errors="backslashreplace")


def _too_large(size: int, request: ReportRequest, records: Records, data: int) -> str:
    """Say why a report does not fit, and what to leave out."""
    runs = named_runs(sorted({record.run for record in records.records}))
    text = (
        f"a report has room for {amount(LIMIT, 'B')}, and this one would have "
        f"{amount(size, 'B')}, {amount(data, 'B')} of it the data of "
        f"{plural(len(records.runs), 'run')} ({runs})"
    )
    lean = len(in_script(records.document(("duration_s",))))
    if tuple(request.kept) == (ALL_METRICS,) and size - data + lean <= LIMIT:
        kept = amount(size - data + lean, "B")
        return f"{text}; --data duration_s keeps the times alone: {kept}"
    return f"{text}; name fewer cases, or some of the runs (PLACE@1-50)"
