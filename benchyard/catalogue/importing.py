"""Files of other benchmark tools, kept as campaigns in the results of a case."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchyard.catalogue.formats import read_measurements
from benchyard.catalogue.formats.as_runs import campaign_of
from benchyard.catalogue.formats.contract import LOADED_BYTES, content_of
from benchyard.catalogue.formats.csv_tools import parse_columns, read_csv
from benchyard.catalogue.formats.measurements import REPEATED, Measurements
from benchyard.core.errors import InputError
from benchyard.core.files import files_below, shown
from benchyard.core.model import JsonObject
from benchyard.core.quantity import plural
from benchyard.core.wording import quote
from benchyard.host.testbed import hold_results
from benchyard.results.adding import add_campaigns
from benchyard.results.record import RunRecord

#: Reads a file; returns the name of its format, and what it holds.
Opener = Callable[[Path], tuple[str, Measurements] | None]


@dataclass(slots=True)
class Imported:
    """What was kept for one case.

    Args:
        case: Its name.
        results: Its results folder.
        files: How many files it came from.
        added: Campaigns that were not there before.
        left_out: A sentence for all that could not be mapped.
    """

    case: str
    results: Path
    files: int = 0
    added: int = 0
    campaigns: list[list[RunRecord]] = field(default_factory=list[list[RunRecord]])
    left_out: list[str] = field(default_factory=list[str])

    def to_json(self) -> JsonObject:
        """Return it for a document."""
        return {
            "case": self.case,
            "results": str(self.results),
            "files": self.files,
            "campaigns": len(self.campaigns),
            "added": self.added,
            "left_out": [*self.left_out],
        }


def read_known(place: Path) -> tuple[str, Measurements] | None:
    """Read a file of a known tool, as ``read_measurements``."""
    found = read_measurements(place)
    return (found[0].name, found[1]) if found else None


def csv_reader(columns: str) -> Opener:
    """Return what reads CSV with columns as ``parse_columns`` has them.

    Raises:
        InputError: If they are not written so.
    """
    parsed = parse_columns(columns)

    def read(place: Path) -> tuple[str, Measurements]:
        try:
            return "csv", read_csv(content_of(place, LOADED_BYTES), parsed)
        except InputError as error:
            raise InputError(f"{shown(place)}: {error}") from error

    return read


def import_files(
    places: Sequence[Path], case: str, home: Callable[[str], Path], read: Opener
) -> tuple[list[Imported], list[str]]:
    """Keep what files hold; what is there already is not added again.

    Args:
        places: Files, or folders with files of known tools.
        case: Name of the case; empty takes that of the format.
        home: Returns the results folder of a case by its name.
        read: ``read_known``, or what ``csv_reader`` returns.

    Returns:
        What was kept for each case, and a sentence for each file that could not be read.

    Raises:
        InputError: If a file is of no known format, or another uses the results.
    """
    kept: dict[str, Imported] = {}
    damaged: list[str] = []
    for place in places:
        for file in [place] if place.is_file() else files_below(place):
            try:
                found = read(file)
            except InputError as error:
                damaged.append(str(error))
                continue
            if found is not None:
                name = case or found[0]
                into = kept.setdefault(name, Imported(name, home(name)))
                _take(into, file, found[1])
            elif file == place:
                raise InputError(f"{shown(file)} is of no known format; --columns reads any CSV")
    for one in kept.values():
        with hold_results(one.results, "import", wait=False):
            one.added = add_campaigns(one.results, one.campaigns)
    return list(kept.values()), damaged


def _take(into: Imported, file: Path, measured: Measurements) -> None:
    into.files += 1
    began = file.stat().st_mtime
    made = [campaign_of(into.case, one, began) for one in (*measured.earlier, measured)]
    into.campaigns += [records for records in made if records]
    into.left_out += _left_out(file, [*measured.earlier, measured])


def _left_out(file: Path, measured: Sequence[Measurements]) -> Iterator[str]:
    """Say what is not kept: benchmarks without a time, and all but the last of repeated keys."""
    if names := measured[-1].about.get(REPEATED):
        yield f"{shown(file)}: all but the last values of repeated keys: {names}"
    timed = {row.name for one in measured for row in one.rows if row.metric in ("wall", "latency")}
    others = {row.name for one in measured for row in one.rows} - timed
    if others:
        count = plural(len(others), "benchmark")
        yield f"{shown(file)}: {count} without a time, such as {quote(min(others))}"
