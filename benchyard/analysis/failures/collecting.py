"""All tries of the cases in some results folders; what is damaged is named and left out."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from benchyard.core.errors import RecordError
from benchyard.results.attempts import Try, read_tries, try_of
from benchyard.results.campaigns import with_earlier
from benchyard.results.folders import Results
from benchyard.results.krown import surely_krowns
from benchyard.results.record import read_record


@dataclass(frozen=True, slots=True)
class Collected:
    """What was found.

    Args:
        tries: In the order of their beginnings.
        problems: A sentence for each file, or line of one, that cannot be read.
    """

    tries: tuple[Try, ...]
    problems: tuple[str, ...] = ()

    def since(self, moment: datetime | None) -> "Collected":
        """Return the same without the tries that began before a moment."""
        if moment is None:
            return self
        return Collected(tuple(t for t in self.tries if t.began >= moment), self.problems)


def collect(folders: Iterable[Path]) -> Collected:
    """Read what was tried of the cases whose runs are in ``folders``."""
    tries: list[Try] = []
    problems: list[str] = []
    for folder in folders:
        noted, unreadable = read_tries(folder)
        recorded, damaged = _recorded(folder, {one.run for one in noted if one.outcome})
        tries += [*_without_end(noted, recorded), *recorded]
        problems += [*unreadable, *damaged]
    tries.sort(key=lambda one: one.began)
    return Collected(tuple(tries), tuple(problems))


def results_below(base: Path) -> list[Path]:
    """Return the results folders of a case: the one given, those of its matrix's points.

    Those of earlier campaigns are among them: what failed then has failed all the same.
    """
    points = [base, *_folders(base)]
    folders = [folder for point in points for folder in with_earlier(point)]
    return [folder for folder in folders if _has_tries(folder)]


def _folders(base: Path) -> Iterator[Path]:
    try:
        yield from sorted(entry for entry in base.iterdir() if entry.is_dir())
    except OSError:
        return


def _has_tries(folder: Path) -> bool:
    results = Results(folder)
    return results.tries.is_file() or bool(results.marked() or results.failed())


def _recorded(folder: Path, noted: set[int]) -> tuple[list[Try], list[str]]:
    """Return the tries of runs that are not noted, and what is wrong with their records."""
    tries: list[Try] = []
    problems: list[str] = []
    for number, run in Results(folder).runs().items():
        if number in noted or not (run.is_marked or run.has_failed):
            continue
        if not run.record.exists() and surely_krowns(run.path):
            continue  # it tells of no attempts
        try:
            record = read_record(run.path)
        except RecordError as error:
            problems.append(str(error))
            continue
        if record.started_at:
            tries.append(try_of(record))
    return tries, problems


def _without_end(noted: list[Try], recorded: list[Try]) -> list[Try]:
    """Leave out beginnings whose end a record tells, where no note of it could be made."""
    known = {(one.run, one.started_at) for one in recorded}
    return [one for one in noted if one.outcome or (one.run, one.started_at) not in known]
