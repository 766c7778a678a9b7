"""A run of ours as a trace: its slices, and its samples as counters."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import TextIOWrapper
from itertools import islice
from pathlib import Path

from benchyard.core.errors import InputError, RecordError
from benchyard.core.files import opened, shown
from benchyard.core.quantity import shorten
from benchyard.results.attempts import RunAttempt, read_tries, try_of
from benchyard.results.folders import RAW_FILE, RunFolder, run_number
from benchyard.results.krown import has_only_samples, read_results
from benchyard.results.record import RunRecord, read_record
from benchyard.traces.building import TraceBuilder
from benchyard.traces.model import Details, Trace
from benchyard.traces.nesting import arranged
from benchyard.traces.run_counters import counters_of_run
from benchyard.traces.run_slices import LAB, RunTelling

#: The process where nobody knows which testbed it was.
UNKNOWN_HOST = "unknown testbed"
#: More lines than this are no log of a case; they would only fill the picture.
_MOST_LINES = 10_000
#: Longest name of an instant; its details have the whole line.
_LONGEST_NAME = 80
_LONGEST_LINE = 10_000
_LINE = re.compile(r"(\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2},\d{3}) ([A-Z]+) (.*)")
_FIRST = datetime(1970, 1, 1, tzinfo=UTC)


def trace_of_run(folder: Path) -> Trace:
    """Return the trace of one run; its zero is the run's start.

    Its process is the testbed. The thread ``lab`` holds the run with its set-up, its steps with the
    pauses between them, and its winding-up; each resource has a thread with its phases and steps,
    and in these their attempts, delays and executions. Of a run that has no record, since it broke
    off, still goes on or was made by KROWN, there is what else tells of it: its try, its log, its
    samples. What is missing is among the losses. The slices are arranged.

    Args:
        folder: Of the run, such as ``results/run_1``.

    Raises:
        InputError: If the folder is not there, or holds no run.
    """
    if not folder.is_dir():
        raise InputError(
            f"{shown(folder)}: there is no such folder; name one such as results/run_1"
        )
    builder = TraceBuilder()
    record = _record(folder, builder)
    tried = try_of(record) if record else _tried(folder, builder)
    process = (tried.host if tried else "") or UNKNOWN_HOST
    if record is not None:
        RunTelling(record, builder, process).tell()
    elif not _tell_unfinished(folder, tried, builder, process):
        raise InputError(
            f"{shown(folder)} holds no run: neither run.json nor samples nor a log; name a folder "
            "such as results/run_1"
        )
    builder.zero = _moment(tried)
    counters, losses = counters_of_run(folder, process, record)
    trace = builder.trace()
    whole = replace(trace, counters=counters, losses=[*trace.losses, *losses])
    return arranged(whole)


def _record(folder: Path, builder: TraceBuilder) -> RunRecord | None:
    try:
        if has_only_samples(RunFolder(folder)):
            return _krowns(folder, builder)
        return read_record(folder)
    except RecordError as error:
        builder.lose(str(error), RunFolder(folder).record.name)
        return None


def _krowns(folder: Path, builder: TraceBuilder) -> RunRecord | None:
    """Return the record that KROWN's samples make.

    Raises:
        RecordError: If they cannot be read.
    """
    results = folder.resolve().parent
    found = read_results(results.parent.name, results)
    number = run_number(folder.resolve().name)
    if number is not None and number in found.unreadable:
        raise found.unreadable[number]
    made = [*(record for _, record in found.runs), *found.unfinished]
    record = next((one for one in made if one.run == number), None)
    if record is not None:
        builder.lose("KROWN recorded samples alone: nothing of attempts and phases", folder.name)
    return record


def _tried(folder: Path, builder: TraceBuilder) -> RunAttempt | None:
    """Return the last try of a run that has no record."""
    number = run_number(folder.name)
    if number is None:
        return None
    tries, problems = read_tries(folder.parent, number)
    for problem in problems:
        builder.lose("lines of tries.jsonl that cannot be read", problem)
    return tries[-1] if tries else None


def _moment(tried: RunAttempt | None) -> int | None:
    began = tried.began if tried and tried.started_at else None
    if began is None or began.tzinfo is None:
        return None
    return (began - _FIRST) // timedelta(microseconds=1) * 1000


def _tell_unfinished(
    folder: Path, tried: RunAttempt | None, builder: TraceBuilder, process: str
) -> bool:
    """Add what there is of a run without a record; tell whether there is anything."""
    run = RunFolder(folder)
    track = builder.track(process, LAB)
    last = _tell_log(run.log, tried.began if tried else None, builder, track)
    if (folder / RAW_FILE).exists():
        builder.lose("the samples were never made into curves", RAW_FILE)
    if tried is not None:
        length = round((tried.duration_s or 0.0) * 1e9) if tried.outcome else last
        builder.slice(track, "run", 0, max(length, last), _about(tried))
    return tried is not None or run.log.is_file() or run.metrics.is_file()


def _about(tried: RunAttempt) -> Details:
    outcome = tried.outcome.value if tried.outcome else None
    state = "under way" if tried.under_way else "broken off"
    return {"case": tried.case, "run": tried.run, "outcome": outcome or state}


def _tell_log(log: Path, began: datetime | None, builder: TraceBuilder, track: int) -> int:
    """Add the lines of a log as instants; return when the last one was written.

    Args:
        log: Its lines have the local time of the testbed.
        began: The run's start, with the testbed's offset; the first line's time if not known.
        builder: It is added to.
        track: Where the instants go.

    Returns:
        Nanoseconds since the run's start; 0 if there is no line.
    """
    local = began.replace(tzinfo=None) if began else None
    last = 0
    try:
        with TextIOWrapper(opened(log), encoding="utf-8", errors="replace") as stream:
            for line in islice(stream, _MOST_LINES):
                found = _LINE.match(line[:_LONGEST_LINE].rstrip())
                at = _logged_at(found[1]) if found else None
                if found is None or at is None:
                    continue
                local = local or at
                last = round((at - local).total_seconds() * 1e9)
                details = {"level": found[2], "text": found[3]}
                builder.instant(track, shorten(found[3], _LONGEST_NAME), last, details)
            if next(stream, None) is not None:
                builder.lose("lines of the log that are too many", f"line {_MOST_LINES + 1:,}")
    except OSError as error:
        builder.lose(f"there is no log: {error.strerror or error}", log.name)
    return max(last, 0)


def _logged_at(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, "%Y-%m-%d %H:%M:%S,%f")  # noqa: DTZ007 - local, as logged
    except ValueError:
        return None
