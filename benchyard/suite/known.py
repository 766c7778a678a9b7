"""What earlier runs of a case tell: when they were done, of which version, how long they took."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchyard.errors import RecordError
from benchyard.execution.layout import DONE, done_runs, run_folder
from benchyard.record import read_record
from benchyard.statistics import median
from benchyard.subject import Subject, subject_of

#: So many of the newest runs tell how long the next will take.
_TELLING = 3


@dataclass(frozen=True, slots=True)
class Known:
    """The finished runs of a case.

    Args:
        results: Their folder.
        ended: Number of a run to when it was done.
    """

    results: Path
    ended: Mapping[int, datetime]

    def before(self, moment: datetime) -> dict[int, datetime]:
        """Return those that were done before a moment."""
        return {run: ended for run, ended in self.ended.items() if ended < moment}

    def subject(self) -> Subject | None:
        """Return what the newest run measured; None if nobody knows."""
        newest = max(self.ended, key=self.ended.__getitem__, default=None)
        with suppress(RecordError):
            if newest is not None:
                return subject_of(read_record(run_folder(self.results, newest)))
        return None

    def seconds(self) -> float | None:
        """Return how long a run takes, from the newest ones (s); None if nobody knows."""
        newest = sorted(self.ended, key=self.ended.__getitem__)[-_TELLING:]
        took: list[float] = []
        for run in newest:
            with suppress(RecordError):
                took.append(read_record(run_folder(self.results, run)).duration_s)
        return median(took) if took else None


def known_of(results: Path) -> Known:
    """Look up the finished runs in a folder; their records are read when they are asked for."""
    return Known(results, {run: _ended(run_folder(results, run)) for run in done_runs(results)})


def _ended(folder: Path) -> datetime:
    """Return what the checkpoint says; KROWN's are empty, and their files' time must do."""
    done = folder / DONE
    with suppress(ValueError, OSError):
        moment = datetime.fromisoformat(done.read_text(encoding="utf-8").strip())
        if moment.tzinfo is not None:
            return moment
    with suppress(OSError):
        return datetime.fromtimestamp(done.stat().st_mtime, UTC)
    return datetime.min.replace(tzinfo=UTC)


def done_since(results: Path, runs: Collection[int], moment: str) -> tuple[int, ...]:
    """Return those of some runs that were done after a moment, written as ISO 8601."""
    ended = known_of(results).ended
    since = datetime.fromisoformat(moment)
    return tuple(run for run in sorted(runs) if run in ended and ended[run] >= since)
