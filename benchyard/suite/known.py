"""What earlier runs of a case tell: when they were done, of which version, how long they took."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from benchyard.results.campaigns import read_campaign
from benchyard.results.folders import Results
from benchyard.results.record import RunRecord
from benchyard.results.subject import Subject, subject_of
from benchyard.statistics import median

#: So many of the newest runs tell how long the next will take.
_TELLING = 3


@dataclass(frozen=True, slots=True)
class Known:
    """The finished runs of a case.

    Args:
        ended: Number of a run to when it was done.
        records: Their records, by number.
    """

    ended: Mapping[int, datetime]
    records: Mapping[int, RunRecord] = field(default_factory=dict[int, RunRecord])

    def before(self, moment: datetime) -> dict[int, datetime]:
        """Return those that were done before a moment."""
        return {run: ended for run, ended in self.ended.items() if ended < moment}

    def subject(self) -> Subject | None:
        """Return what the newest run measured; None if nobody knows."""
        newest = self._newest_first()[:1]
        return subject_of(newest[0]) if newest else None

    def seconds(self) -> float | None:
        """Return how long a run takes, from the newest ones (s); None if nobody knows."""
        took = [record.duration_s for record in self._newest_first()[:_TELLING]]
        return median(took) if took else None

    def _newest_first(self) -> list[RunRecord]:
        runs = sorted(self.records, key=self.ended.__getitem__, reverse=True)
        return [self.records[run] for run in runs]


def known_of(results: Path) -> Known:
    """Read the finished runs in a folder; a run with an unreadable record does not count."""
    records = read_campaign(results).records
    runs = Results(results)
    return Known({run: _ended(runs.run(run).checkpoint) for run in records}, records)


def _ended(done: Path) -> datetime:
    """Return the time in a checkpoint, or else when its file was modified."""
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
