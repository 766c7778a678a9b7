"""A run that is shown: its entry, and its record as far as it can be read."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends

from benchyard.catalogue.entry import RUNS, Entry
from benchyard.core.errors import NotFoundError, RecordError
from benchyard.results.folders import RunFolder
from benchyard.results.krown import has_only_samples, read_results
from benchyard.results.record import RunRecord, read_record
from benchyard.web.explorer import Current


@dataclass(frozen=True, slots=True)
class ShownRun:
    """A run.

    Args:
        record: None if there is none that can be read.
        reason: Why there is none.
        notes: What a reader of its figures should know, beside the record's own warnings.
    """

    entry: Entry
    record: RunRecord | None
    reason: str = ""
    notes: tuple[str, ...] = ()

    @property
    def folder(self) -> RunFolder:
        """Its folder."""
        return RunFolder(self.entry.place)

    @property
    def title(self) -> str:
        """Case, and number of the run."""
        case = self.record.case.get("title") if self.record else None
        number = self.record.run if self.record else self.entry.run
        name = str(case or self.entry.title or self.entry.case or self.entry.path)
        return name if number is None else f"{name}, run {number}"

    @property
    def under_way(self) -> bool:
        """Whether it goes on, as far as its folder tells."""
        return self.record is None and (self.entry.under_way or self.folder.raw.is_file())


def shown_run(explorer: Current, run_id: str) -> ShownRun:
    """Find a run and read its record.

    Raises:
        NotFoundError: If there is no run with this id.
    """
    entry = explorer.catalogue.entry(run_id)
    if entry.format not in RUNS:
        raise NotFoundError(f"{entry.path} is no run; it is at /entry/{entry.id}")
    return shown_of(entry)


def shown_of(entry: Entry) -> ShownRun:
    """Read the record of a run."""
    try:
        return ShownRun(entry, read_record(entry.place))
    except RecordError as error:
        if has_only_samples(RunFolder(entry.place)):
            return _krowns(entry)
        return ShownRun(entry, None, entry.broken or str(error))


def _krowns(entry: Entry) -> ShownRun:
    """Return a run that KROWN made, of which there are only samples."""
    found = read_results(entry.title or entry.place.parent.parent.name, entry.place.parent)
    records = [*(record for _, record in found.runs), *found.unfinished]
    number = RunFolder(entry.place).number
    record = next((one for one in records if one.run == number), None)
    reason = str(found.unreadable.get(number, "KROWN left no samples that can be read"))
    return ShownRun(entry, record, "" if record else reason, found.warnings)


#: As an argument of an endpoint with ``run_id`` in its path: the run.
Shown = Annotated[ShownRun, Depends(shown_run)]
