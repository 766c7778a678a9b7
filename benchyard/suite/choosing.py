"""Which runs of which cases are to be executed, and why; and why the others are not."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from benchyard.case.loading import Loaded
from benchyard.case.problems import printable
from benchyard.execution.wording import runs_and
from benchyard.model import Case
from benchyard.statistics.figures import plain
from benchyard.subject import content_hash
from benchyard.suite.known import Known, known_of
from benchyard.suite.wish import Wish


@dataclass(frozen=True, slots=True)
class Entry:
    """One case of the selection.

    Args:
        title: Of the case, or the name of a file that is no valid case.
        why: Why these runs are executed; if there are none, why not.
        case: None if it is not valid.
        results: Folder with its runs.
        runs: Numbers of the runs to execute.
        again: Whether there are finished ones among them.
        seconds: How long one run takes, by earlier ones; None if nobody knows.
        problems: What is wrong with it.
    """

    title: str
    why: str
    case: Case | None = None
    results: Path | None = None
    runs: tuple[int, ...] = ()
    again: bool = False
    seconds: float | None = None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chooser:
    """Decides case by case.

    Args:
        began: When the suite began at first: a run that was done later is its own, and is not
            done again when the suite is retried.
        hash_of: Digest of what a case is now.
        know: What is known of the runs in a folder.
    """

    wish: Wish
    began: datetime
    hash_of: Callable[[Path], str] = content_hash
    know: Callable[[Path], Known] = field(default=known_of)

    def choose(self, loaded: Iterable[Loaded], folder_of: Callable[[Case], Path]) -> list[Entry]:
        """Return an entry for each case, and one for each file that is no valid case.

        Args:
            folder_of: Where the results of a case lie.
        """
        return [
            entry
            for item in loaded
            for entry in (
                [_invalid(item)]
                if item.problems
                else [self._entry(case, folder_of(case)) for case in item.cases]
            )
        ]

    def _entry(self, case: Case, results: Path) -> Entry:
        known = self.know(results)
        wanted = range(1, self.wish.runs + 1)
        missing = [run for run in wanted if run not in known.ended]
        again, why = self._again(case, known, wanted)
        reasons = [why] if why else []
        if missing and known.ended:
            reasons.append(runs_and(missing, "is missing", "are missing"))
        elif missing:
            reasons.append("no finished run")
        runs = tuple(sorted({*missing, *again}))
        why = "; ".join(reasons) if runs else self._why_not(known)
        seconds = known.seconds() if runs else None
        return Entry(case.title, why, case, results, runs, bool(again), seconds)

    def _again(self, case: Case, known: Known, wanted: Sequence[int]) -> tuple[list[int], str]:
        """Return the finished runs that are to be done again, and why."""
        before = known.before(self.began)
        candidates = [run for run in wanted if run in before]
        if not candidates:
            return [], ""
        if self.wish.force:
            return candidates, "all are done again"
        newest = max(before.values())
        if self.wish.stale is not None and newest < self.began - timedelta(days=self.wish.stale):
            days = (self.began - newest).total_seconds() / 86_400
            return candidates, f"the last run is {plain(days)} days old"
        if self.wish.changed:
            present = self.hash_of(case.folder)
            others = [run for run in candidates if known.version(run) not in (present, None)]
            if others:
                return others, f"changed since {runs_and(others, 'was', 'were')} done"
        return [], ""

    def _why_not(self, known: Known) -> str:
        newest = max(known.ended.values())
        filters = ["not changed"] * self.wish.changed
        filters += ["not stale"] * (self.wish.stale is not None)
        what = " and ".join(filters) or "all runs are done"
        return f"{what}; the last run is of {newest:%Y-%m-%d %H:%M}"


def _invalid(item: Loaded) -> Entry:
    problems = tuple(str(problem) for problem in item.problems)
    more = len(problems) - 1
    others = f" (and {more} more)" if more else ""
    why = f"it is not valid: {item.problems[0]}{others}"
    return Entry(printable(item.name), why, problems=problems)
