"""The page of a case's results, and texts as the UI takes them: links and markup are escaped.

The UI's renderer follows links of any scheme and passes raw HTML on to a sanitizer, so a text from
outside must not be able to become either.
"""

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from benchyard.analysis.failure_tables import place_of
from benchyard.core.model import Json
from benchyard.core.wording import cell, named_runs
from benchyard.results.reasons import why_failed
from benchyard.results.record import RunRecord
from benchyard.results.subject import about
from benchyard.show.summary_tables import USUAL, Document

_CLEAN = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_DIGEST = re.compile(r"-[0-9a-f]{8}$")
_LONGEST_KEY = 100


def link(text: str, address: str | None) -> str:
    """Return a link, or the text alone if there is no address.

    Args:
        address: Ours; it must hold no blank and no bracket.
    """
    shown = cell(text)
    return f"[{shown}]({address})" if address and shown else shown


def embedded(svg: str, what: str) -> str:
    """Return a picture that is part of the page.

    Args:
        what: It says what is to be seen, for those who cannot.
    """
    data = base64.b64encode(svg.encode()).decode()
    return f"![{cell(what)}](data:image/svg+xml;base64,{data})\n"


def key_of(kind: str, title: str) -> str:
    """Return the key of a case's artifact: lower-case letters, digits and dashes.

    Two titles never share one: what is not written so anyway gets a piece of its digest.

    Args:
        kind: What it shows, such as ``result``; a word.
        title: Of the case.
    """
    clean = _CLEAN.fullmatch(title) and not _DIGEST.search(title) and len(title) <= _LONGEST_KEY
    if clean:
        return f"{kind}-{title}"
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:_LONGEST_KEY]
    digest = hashlib.sha256(title.encode(errors="surrogateescape")).hexdigest()[:8]
    return "-".join(part for part in (kind, words.strip("-"), digest) if part)


# -- a case's results


#: So many steps a page lists; summary.json has all.
_MOST_STEPS = 200
_MOST_WARNINGS = 20
_MOST_FAILURES = 20


def result_page(
    title: str,
    summary: Document,
    failed: Sequence[int],
    results: Path,
    drawn: tuple[int, str] | None,
    broken: Sequence[RunRecord] = (),
) -> str:
    """Return the page.

    Args:
        summary: The document of summary.json.
        failed: Numbers of the runs that were tried and are not done.
        results: Folder with the runs.
        drawn: A run and its curves, SVG; None if there are none.
        broken: Records of failed runs.
    """
    steps: list[Document] = summary.get("steps") or []
    parts = [f"# {cell(title)}\n", f"{state_of(summary, failed)}.\n"]
    parts += [f"- {_failure(record)}" for record in broken[:_MOST_FAILURES]]
    if broken:
        parts.append("")
    if steps:
        parts.append(USUAL.table(steps[:_MOST_STEPS]).markdown())
    if len(steps) > _MOST_STEPS:
        parts.append(f"{len(steps) - _MOST_STEPS} more steps are in summary.json.\n")
    parts += [f"- {line}" for line in _remarks(summary)]
    if summary.get("subject"):
        parts.append(f"- measured {cell(about(summary['subject']))}")
    if drawn is not None:
        run, picture = drawn
        which = ", the median one" if run == summary.get("median_run") else ""
        parts += [f"\n## Curves of run {run}{which}\n", embedded(picture, f"run {run}")]
    parts.append(f"\nResults: `{str(results).replace('`', chr(39))}`\n")
    return "\n".join(parts)


def _failure(record: RunRecord) -> str:
    """Return run, flow run and host of a failure, and its reason."""
    name = record.flow_run.get("name")
    where = [f"run {record.run}"]
    where += [f"flow run {link(str(name), place_of(record.flow_run))}"] if name else []
    where += [f"host {cell(host)}"] if (host := record.environment.get("host")) else []
    return f"{', '.join(where)}: {cell(why_failed(record))}"


def state_of(summary: Document, failed: Sequence[int]) -> str:
    """Say how many runs are done, and which failed."""
    count = int(summary.get("n_runs") or 0)
    done = f"{count} run{'s' * (count != 1)} done"
    return f"{done}, {named_runs(failed)} failed" if failed else done


def _remarks(summary: Document) -> Iterator[str]:
    warnings: list[object] = summary.get("warnings") or []
    yield from (f"warning: {cell(text)}" for text in warnings[:_MOST_WARNINGS])
    if len(warnings) > _MOST_WARNINGS:
        yield f"{len(warnings) - _MOST_WARNINGS} more warnings are in summary.json"
    precision: Document = summary.get("adaptive") or {}
    if precision.get("why"):
        yield f"precision: {cell(precision['why'])}"


def suite_table(rows: Iterable[Mapping[str, object]]) -> list[Json]:
    """Return the rows of a suite as a table artifact holds them: escaped, floats rounded.

    Args:
        rows: One for each case; a row's keys are the columns, the same in all of them.
    """
    return [{cell(name): _shown(value) for name, value in row.items()} for row in rows]


def _shown(value: object) -> Json:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return value
    return f"{value:.4g}" if isinstance(value, float) else cell(value)
