"""Which runs are meant by ``FOLDER`` or ``FOLDER@1-5,8``; cases in their order."""

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os.path import isdir, isfile
from pathlib import Path
from typing import Any, TypeAlias, cast

from benchyard.core.errors import InputError, RecordError
from benchyard.core.files import shown
from benchyard.core.model import Json, Outcome, plain
from benchyard.core.wording import in_short, parse_runs, printable, some
from benchyard.results.campaigns import campaigns_before, is_earlier
from benchyard.results.folders import RUN_FILE, Results, RunFolder, run_number
from benchyard.results.record import RunRecord, StepRecord, read_record
from benchyard.results.subject import Subject, differences, subject_of

#: How a record is read from the folder of a run; an excerpt serves where little of it is needed.
Reader: TypeAlias = Callable[[Path], RunRecord]


@dataclass(frozen=True, slots=True)
class RunSelection:
    """What one side of a comparison was said to be.

    Args:
        folder: Results of a case, a case, a folder with several of them, or a file with results.
        runs: Numbers of the runs, ascending; None takes all finished ones.
    """

    folder: Path
    runs: tuple[int, ...] | None = None

    def __str__(self) -> str:
        """Write it as the user would, runs in short."""
        numbers = "" if self.runs is None else f"@{in_short(self.runs)}"
        return shown(self.folder) + numbers


@dataclass(frozen=True, slots=True)
class RunSet:
    """The runs of one case on one side.

    Args:
        title: Of the case, with the point of its matrix.
        folder: The results folder.
        records: Of the finished runs, in order.
        failed: Of the runs that failed; interrupted ones are in neither.
        others: Finished runs of another subject than the newest one's, left out.
        compared_as: Id of each step that takes part to the id that it is paired by; None lets all
            take part, by their own.
        one_process: Whether all runs are of one process, as rounds in a file of another tool.
        in_turns: Of steps whose runs do not belong together, whether these took turns; else None.
    """

    title: str
    folder: Path
    records: tuple[RunRecord, ...]
    failed: tuple[RunRecord, ...] = ()
    others: tuple[RunRecord, ...] = ()
    compared_as: Mapping[str, str] | None = None
    one_process: bool = False
    in_turns: bool | None = None

    @property
    def everything(self) -> tuple[RunRecord, ...]:
        """All records, of finished and of failed runs."""
        return self.records + self.failed

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of the finished runs."""
        return tuple(record.run for record in self.records)

    @property
    def has_values(self) -> bool:
        """Whether a step of a finished run was measured, and completed."""
        return any(step.durations_s for record in self.records for step in record.steps)

    def steps(self, records: Iterable[RunRecord]) -> dict[str, dict[int, StepRecord]]:
        """Return each step's records over some of the runs, by number.

        Args:
            records: Of this set.

        Returns:
            By the id that the step is paired by, in the case's order.
        """
        found: dict[str, dict[int, StepRecord]] = {}
        for record in records:
            for step in record.steps:
                paired_by = step.id if self.compared_as is None else self.compared_as.get(step.id)
                if paired_by is not None:
                    found.setdefault(paired_by, {})[record.run] = step
        return found

    @property
    def step_ids(self) -> tuple[str, ...]:
        """Ids of all steps, in the case's order."""
        return tuple(dict.fromkeys(step.id for record in self.everything for step in record.steps))

    def is_of_same_runs(self, other: "RunSet") -> bool:
        """Tell whether the other one takes other steps of the very same runs."""
        apart = None not in (self.compared_as, other.compared_as)
        apart = apart and self.compared_as != other.compared_as
        # The folders last: to look where they lead takes by far the longest.
        return (
            apart
            and self.numbers == other.numbers
            and self.folder.resolve() == other.folder.resolve()
        )


def parse_selection(text: str) -> RunSelection:
    """Read ``PLACE`` or ``PLACE@1-5,8``, a folder or a file; one of the whole name is preferred.

    Raises:
        InputError: If there is no such place, or the runs are not written as numbers.
    """
    if is_place(text):
        return RunSelection(Path(text))
    folder, separator, numbers = text.rpartition("@")
    if not separator:
        raise InputError(f"{text!r} is no folder; give results, a case, or FOLDER@1-5,8")
    if not is_place(folder):
        raise InputError(f"{folder!r} is no folder (from {text!r})")
    return RunSelection(Path(folder), parse_runs(numbers))


def is_place(text: str) -> bool:
    """Tell whether a text names a folder, or a file by a name with an ending."""
    return isdir(text) or (Path(text).suffix != "" and isfile(text))  # noqa: PTH112, PTH113 - Path raises for a name that is too long


def read_run_sets(selection: RunSelection, read: Reader = read_record) -> dict[str, RunSet]:
    """Read the runs of every case in a selection, by title.

    Raises:
        InputError: If there is nothing to read, a run is not there or its record is damaged, or
            two folders hold the results of one case.
    """
    found: dict[str, RunSet] = {}
    for folder in results_folders(selection.folder):
        run_set = read_run_set(folder, selection.runs, read)
        if run_set is None:
            continue
        if run_set.title in found:
            both = f"{shown(found[run_set.title].folder)} and in {shown(folder)}"
            raise InputError(f"{printable(run_set.title)} has results in {both}; name one of them")
        found[run_set.title] = run_set
    if not found:
        raise InputError(_nothing(selection))
    places = {title: place_of(one.everything[-1].case, one.folder) for title, one in found.items()}
    return {title: found[title] for title in sorted(found, key=places.__getitem__)}


def results_folders(folder: Path) -> list[Path]:
    """Return every folder at or below ``folder`` that holds runs, sorted."""
    return sorted(_walk(folder))


def results_below(*roots: Path | None) -> Iterator[Path]:
    """Yield what ``results_folders`` returns of each folder."""
    for root in roots:
        yield from () if root is None else results_folders(root)


def _walk(folder: Path) -> Iterator[Path]:
    for parent, folders, _ in os.walk(folder):
        if any(map(run_number, folders)):
            yield Path(parent)
        others = [name for name in folders if not name.startswith((".", "run_"))]
        # Earlier campaigns are looked into only where they are asked for.
        folders[:] = [name for name in others if not is_earlier(Path(parent, name))]


def _nothing(selection: RunSelection) -> str:
    folder = selection.folder
    number = run_number(folder.resolve().name)
    if number is not None and RunFolder(folder).record.is_file():
        return f"{shown(folder)} is a single run; write {shown(folder.resolve().parent)}@{number}"
    return (
        f"{selection}: no finished run with a record ({RUN_FILE}), so no baseline yet; benchyard "
        "run makes them (results of KROWN itself have none)"
    )


def read_run_set(
    results: Path, wanted: Sequence[int] | None, read: Reader = read_record
) -> RunSet | None:
    """Read one case's runs; None if nothing there has a record."""
    chosen = _recorded(results, wanted)
    records = [_record(run.path, read) for run in chosen if run.is_marked and run.record.is_file()]
    broken = [_record(run.path, read) for run in chosen if run.has_failed]
    if not records and not broken:
        return None
    # Runs that were named are wanted as they are: the check of comparability speaks of them.
    newest = max([*records, *broken], key=lambda record: record.began)
    subject = None if wanted is not None else subject_of(newest)
    return RunSet(
        title=str((records or broken)[-1].case.get("title")),
        folder=results,
        records=tuple(record for record in records if _is_of(record, subject)),
        failed=tuple(
            record
            for record in broken
            if record.outcome is not Outcome.CANCELLED and _is_of(record, subject)
        ),
        others=tuple(record for record in records if not _is_of(record, subject)),
    )


def _recorded(results: Path, wanted: Sequence[int] | None) -> list[RunFolder]:
    """Return the runs that are wanted, by number; None wants all there are."""
    there = Results(results)
    if wanted is None:
        return list(there.recorded().values())
    named = {number: there.run(number) for number in wanted}
    if not all(run.is_recorded and not run.path.is_symlink() for run in named.values()):
        refuse_missing(results, wanted, there.recorded())
    return list(named.values())


def refuse_missing(results: Path, wanted: Sequence[int], there: Collection[int]) -> None:
    """Refuse runs that are wanted and not there.

    Raises:
        InputError: With all of them.
    """
    missing = [run for run in wanted if run not in there]
    if missing:
        has = f"it has {in_short(sorted(there))}" if there else "it has none"
        raise InputError(f"{shown(results)} has no run {in_short(missing)}; {has}")


def _record(folder: Path, read: Reader) -> RunRecord:
    try:
        return read(folder)
    except RecordError as error:
        raise InputError(str(error)) from error


def _is_of(record: RunRecord, subject: Subject | None) -> bool:
    return subject is None or not differences(subject_of(record), subject)


def read_before(candidate: Mapping[str, RunSet]) -> dict[str, RunSet]:
    """Read of each case the campaign before the one that is in its results folder.

    Raises:
        InputError: If no case has one, or a record is damaged.
    """
    found: dict[str, RunSet] = {}
    for title, run_set in candidate.items():
        earlier = (read_run_set(place, None) for place in campaigns_before(run_set.folder))
        before = next((one for one in earlier if one is not None), None)
        if before is not None:
            found[title] = before
    if not found:
        raise InputError(
            f"{printable(some(candidate, 5))}: no earlier campaign to compare with; give a "
            "CANDIDATE, compare two steps (PLACE:STEP), or make one with benchyard run --new"
        )
    return found


def previous_of_host(candidate: RunSet) -> RunSet | None:
    """Return the newest earlier campaign with values of the same host; None without one.

    Raises:
        InputError: If a record is damaged.
    """
    host = host_of(candidate)
    for place in campaigns_before(candidate.folder):
        before = read_run_set(place, None)
        if before is not None and before.has_values and host_of(before) == host:
            return before
    return None


def host_of(run_set: RunSet) -> Json:
    """Return the name of the host that the runs were measured on."""
    return subject_of(run_set.everything[-1]).get("host")


def place_of(about: Mapping[str, Json], results: Path) -> tuple[object, ...]:
    """Return what cases are sorted by; values that the matrix lacks come last, numbers by size.

    Args:
        about: ``case`` of a record.
        results: Folder of its runs.
    """
    point = cast("dict[str, Any]", about.get("point") or {})
    matrix = _matrix(str(about.get("folder"))) if point else {}
    names = sorted(point, key=lambda name: _index(matrix, name))
    folder = results.parent if point else results
    return str(folder), [_rank(matrix.get(name), point[name]) for name in names]


def _rank(values: Any, value: Any) -> tuple[object, ...]:
    number = value if isinstance(value, int | float) else float("inf")
    return _index(values, value), number, plain(value)


def _index(values: Any, value: object) -> int:
    known = [*cast("list[object]", values or ())]
    return known.index(value) if value in known else len(known)


def _matrix(folder: str) -> dict[str, Any]:
    """Return the matrix that a case has now; empty if it is not there any more."""
    try:
        declared: dict[str, dict[str, Any]] = json.loads(Path(folder, "metadata.json").read_bytes())
        return dict(declared["matrix"])
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return {}
