"""The summary of a case, from the records of its finished runs."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from os.path import lexists
from pathlib import Path

from benchyard.core.errors import RecordError
from benchyard.core.model import JsonObject
from benchyard.core.wording import runs_and
from benchyard.results.folders import RUN_FILE, Results, RunFolder
from benchyard.results.krown import krown_runs, read_results, runs_without_record, surely_krowns
from benchyard.results.record import RunRecord, read_record
from benchyard.results.subject import Subject, by_subject, differences, in_words, subject_of
from benchyard.results.summary import summarize as describe
from benchyard.results.summary_files import Remarks, write_summary
from benchyard.results.trust import Suspect
from benchyard.run.adaptive import enough, rule_of, warnings_of

#: What to do about a run whose record cannot be used.
_AGAIN = "the next benchyard run does it again"


def summarize_if_older(title: str, results: Path, *, suspect: Suspect = Suspect.AUTO) -> None:
    """Write the summary files unless they are newer than every run: a lab may die in between.

    Args:
        suspect: What becomes of suspect executions; what is not usual is always written anew.
    """
    here = Results(results)
    written = here.summary.stat().st_mtime_ns if here.summary.is_file() else 0
    if suspect is not Suspect.AUTO or any(
        run.checkpoint.stat().st_mtime_ns > written for run in here.done().values()
    ):
        summarize(title, results, suspect=suspect)


def summarize(title: str, results: Path, *, suspect: Suspect = Suspect.AUTO) -> list[int]:
    """Write the summary files of a case from the records of its finished runs.

    Runs of another subject than the newest one's are never pooled with it: each subject is
    described for itself. Runs that cannot be read are left out, and named. Where there is no record
    at all, runs that KROWN made are summed up.

    Args:
        suspect: What becomes of executions that are not to be trusted.

    Returns:
        The numbers of the finished runs that cannot be read; the summary's warnings say why.
    """
    folders = [run.path for run in Results(results).marked().values()]
    recorded = [folder for folder in folders if lexists(folder / RUN_FILE)]
    if not recorded and krown_runs(results):
        return _summarize_krown(title, results, suspect=suspect)
    return _summarize_own(title, results, recorded, suspect=suspect)


def _summarize_own(
    title: str, results: Path, recorded: Sequence[Path], *, suspect: Suspect
) -> list[int]:
    runs, unreadable = _read(recorded)
    alike, *others = by_subject(runs) or [[]]
    subject: Subject = subject_of(alike[0][1]) if alike else {}
    foreign = krown_runs(results)
    krowns = [number for number, folder in foreign if surely_krowns(folder)]
    unsure = [number for number, _ in foreign if number not in krowns]
    unreadable |= _without_record(results)
    warnings = [
        *unreadable.values(),
        *warnings_of([record for _, record in alike]),
        *(_told_apart(subject, [record for _, record in group]) for group in others),
        *_left_out(krowns, "made by KROWN"),
        *_left_out(unsure, "without a record (run.json)"),
    ]
    adaptive = _adaptive([record for _, record in alike])
    apart = [describe(title, [r for _, r in group], suspect=suspect) for group in others]
    write_summary(
        results,
        title,
        alike,
        unfinished=[r for r in _unfinished(results) if not differences(subject_of(r), subject)],
        remarks=Remarks(warnings, sorted(unreadable), adaptive, dict(subject), apart),
        suspect=suspect,
    )
    return sorted(unreadable)


def _told_apart(subject: Subject, records: Sequence[RunRecord]) -> str:
    runs = runs_and([record.run for record in records], "measured", "measured")
    found = in_words(differences(subject_of(records[0]), subject))
    return f"{runs} something else, told apart: {found}"


def _read(folders: Sequence[Path]) -> tuple[list[tuple[Path, RunRecord]], dict[int, str]]:
    """Return the records that can be read, and of the other runs a sentence that says why not."""
    runs: list[tuple[Path, RunRecord]] = []
    unreadable: dict[int, str] = {}
    for folder in folders:
        try:
            runs.append((folder, read_record(folder)))
        except RecordError as error:
            number = RunFolder(folder).number
            unreadable[number] = f"run {number} is left out: {error}; {_AGAIN}"
    return runs, unreadable


def _without_record(results: Path) -> dict[int, str]:
    return {
        number: f"run {number} is left out: it has no record (run.json); {_AGAIN}"
        for number, _ in runs_without_record(results)
    }


def _adaptive(records: Sequence[RunRecord]) -> JsonObject | None:
    """Return by which rule there are so many runs, and what it came to; None without one."""
    newest = max(records, key=lambda record: record.began, default=None)
    rule = rule_of(newest.adaptive) if newest is not None else None
    if rule is None:
        return None
    return {"rule": rule.to_json(), **asdict(enough(rule, records))}


def _summarize_krown(title: str, results: Path, *, suspect: Suspect) -> list[int]:
    found = read_results(title, results)
    unread = {n: f"run {n} is left out: {error}" for n, error in found.unreadable.items()}
    unread |= _without_record(results)
    write_summary(
        results,
        title,
        found.runs,
        unfinished=found.unfinished,
        remarks=Remarks([*unread.values(), *found.warnings], sorted(unread)),
        suspect=suspect,
        foreign=True,
    )
    return sorted(unread)


def _unfinished(results: Path) -> Iterator[RunRecord]:
    """Yield the records of the runs that failed; who shows them says which cannot be read."""
    for run in Results(results).failed().values():
        with suppress(RecordError):
            yield read_record(run.path)


def _left_out(runs: Sequence[int], what: str) -> list[str]:
    return [f"{runs_and(runs, 'is', 'are')} {what} and left out"] if runs else []
