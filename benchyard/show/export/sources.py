"""Where the runs to export lie, and what can be read there."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from benchyard.analysis.comparison.document import comparison_rows
from benchyard.analysis.comparison.request import compare_folders
from benchyard.analysis.comparison.run_sets import results_folders
from benchyard.core.errors import InputError, RecordError
from benchyard.core.model import Case, Json
from benchyard.results.campaigns import is_earlier, read_campaign
from benchyard.results.folders import Results, run_folder
from benchyard.results.krown import read_results
from benchyard.results.record import RunRecord, read_record
from benchyard.results.subject import by_subject
from benchyard.results.trust import Suspect
from benchyard.show.export.columns import Cell, ExportColumn, Rows, text


@dataclass(frozen=True, slots=True)
class CaseFolder:
    """A folder with runs of one case.

    Args:
        case: Its name, without the point of its matrix.
        title: Its name with it.
        point: Values of the matrix; empty without one.
        records: Of the runs, where they were read from a file; None reads the folder.
    """

    case: str
    title: str
    point: Mapping[str, Json]
    folder: Path
    records: Sequence[RunRecord] | None = None

    @property
    def campaign(self) -> str | None:
        """Name of the earlier campaign that the folder holds; None for the newest one."""
        return self.folder.name if is_earlier(self.folder) else None


def source_of(case: Case, folder: Path) -> CaseFolder:
    """Return where the runs of a case lie; an invalid one does not say which point it is."""
    known = None if case.steps else _newest(folder)
    if known:
        return _described(known, folder)
    return CaseFolder(case.name, case.title, case.point, folder)


def sources_at(folder: Path) -> list[CaseFolder]:
    """Return the folders with runs at or below a folder, by their records."""
    return [
        _described(record, place) if record else CaseFolder(place.name, place.name, {}, place)
        for place in results_folders(folder)
        for record in [_newest(place)]
    ]


def _newest(folder: Path) -> RunRecord | None:
    for run in reversed(Results(folder).recorded().values()):
        with suppress(RecordError):
            return read_record(run.path)
    return None


def _described(record: RunRecord, folder: Path) -> CaseFolder:
    title, point = str(record.case.get("title")), record.case.get("point")
    name = str(record.case.get("name") or title)
    return CaseFolder(name, title, point if isinstance(point, dict) else {}, folder)


@dataclass(frozen=True, slots=True)
class FolderRuns:
    """The runs in a folder.

    Args:
        groups: Records of the finished runs, those of one subject together, the newest first.
        unfinished: Records of the runs that are not done.
        unreadable: Why runs are left out that cannot be read.
    """

    groups: Sequence[Sequence[RunRecord]]
    unfinished: Sequence[RunRecord]
    unreadable: Sequence[str] = ()


def read(source: CaseFolder) -> FolderRuns:
    """Read the runs in a folder: ours, or KROWN's where there is none of ours."""
    if source.records is not None:
        return FolderRuns([source.records], [])
    campaign = read_campaign(source.folder)
    if campaign.krown and not campaign.records:
        found = read_results(source.title, source.folder)
        reasons = (*campaign.unreadable.values(), *map(str, found.unreadable.values()))
        return FolderRuns([[record for _, record in found.runs]], found.unfinished, reasons)
    runs = [(run_folder(source.folder, n), record) for n, record in campaign.records.items()]
    groups = [[record for _, record in group] for group in by_subject(runs)]
    return FolderRuns(groups, list(unfinished(source.folder)), [*campaign.unreadable.values()])


def unfinished(folder: Path) -> Iterator[RunRecord]:
    """Yield the records of the runs that were tried and are not done; none that is damaged."""
    for run in Results(folder).failed().values():
        with suppress(RecordError):
            yield read_record(run.path)


def compared(sources: Sequence[CaseFolder], metrics: Sequence[str], suspect: Suspect) -> Rows:
    """Compare all sources with the first one, or a single one with its campaign before.

    Raises:
        InputError: If nothing is comparable.
    """
    if any(one.records is not None for one in sources):
        raise InputError("benchyard compare judges files")
    folders = {" ".join(filter(None, (one.title, one.campaign))): one.folder for one in sources}
    names, *rows = comparison_rows(compare_folders(folders, metrics, suspect))
    columns = [ExportColumn(str(name)) for name in names]
    return Rows(columns, lambda: (tuple(map(_cell, row)) for row in rows))


def _cell(value: Json) -> Cell:
    return value if isinstance(value, int | float) else text(value)
