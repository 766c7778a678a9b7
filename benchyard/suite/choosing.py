"""Which runs of which cases are to be executed, and why; and why the others are not."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from benchyard.case.loading import Loaded
from benchyard.core.model import Case
from benchyard.core.wording import printable, runs_and
from benchyard.results.subject import Subject, differences, in_words
from benchyard.run.beginning import Campaigning
from benchyard.statistics.figures import plain
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
        again: Whether finished ones among them are done again in their place.
        campaign: Which campaign they belong to.
        seconds: How long one run takes, by earlier ones; None if nobody knows.
        problems: What is wrong with it.
    """

    title: str
    why: str
    case: Case | None = None
    results: Path | None = None
    runs: tuple[int, ...] = ()
    again: bool = False
    campaign: str = Campaigning.AUTO.value
    seconds: float | None = None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chooser:
    """Decides case by case.

    Args:
        began: When the suite began at first: a run that was done later is its own, and is not
            done again when the suite is retried.
        subject_now: Returns what a run of a case would measure now.
        know: What is known of the runs in a folder.
    """

    wish: Wish
    began: datetime
    subject_now: Callable[[Case], Subject]
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
        if self.wish.pool and self.wish.campaign == Campaigning.NEW:
            # Its testbed knows what of it this suite has done; results here may be of another one.
            seconds, campaign = known.seconds(), self.wish.campaign
            return Entry(
                case.title,
                "a new campaign",
                case,
                results,
                tuple(wanted),
                campaign=campaign,
                seconds=seconds,
            )
        missing = [run for run in wanted if run not in known.ended]
        changes = self._changes(case, known)
        decided = self._again(known, wanted, missing, changes)
        reasons = [decided.why] if decided.why else []
        if missing and known.ended:
            reasons.append(runs_and(missing, "is missing", "are missing"))
        elif missing:
            reasons.append("no finished run")
        runs = tuple(sorted({*missing, *decided.runs}))
        why = "; ".join(reasons) if runs else self._why_not(known, changes)
        again = bool(decided.runs) and not (decided.begins or decided.asks)
        campaign = Campaigning.NEW.value if decided.begins else self.wish.campaign
        seconds = known.seconds() if runs else None
        return Entry(case.title, why, case, results, runs, again, campaign, seconds)

    def _changes(self, case: Case, known: Known) -> str:
        """Say in what the newest run differs from what would be measured now.

        Of testbeds elsewhere they alone know.
        """
        wish = self.wish
        before = known.subject() if known.ended and not wish.pool else None
        if before is None or wish.campaign == Campaigning.KEEP:
            return ""
        return in_words(differences(before, self.subject_now(case)))

    def _again(
        self, known: Known, wanted: Sequence[int], missing: Sequence[int], changes: str
    ) -> "_Again":
        """Return the finished runs that are to be done again, and why."""
        before = known.before(self.began)
        candidates = [run for run in wanted if run in before]
        if not candidates:
            return _Again()
        begun = len(before) < len(known.ended)
        if self.wish.campaign == Campaigning.NEW and not begun:
            return _Again(wanted, "a new campaign", begins=True)
        if self.wish.force:
            return _Again(candidates, "all are done again")
        if begun:
            return _Again()
        newest = max(before.values())
        if self.wish.pool and self.wish.changed:
            return _Again(wanted, "its testbed tells whether it has changed", asks=True)
        if self.wish.stale is not None and newest < self.began - timedelta(days=self.wish.stale):
            days = (self.began - newest).total_seconds() / 86_400
            return _Again(wanted, f"the last run is {plain(days)} days old", begins=True)
        if changes and (self.wish.changed or missing):
            return _Again(wanted, f"changed since the runs were done: {changes}", begins=True)
        return _Again()

    def _why_not(self, known: Known, changes: str) -> str:
        newest = max(known.ended.values())
        filters = ["not changed"] * self.wish.changed
        filters += ["not stale"] * (self.wish.stale is not None)
        what = " and ".join(filters) or "all runs are done"
        but = f", but of something else ({changes}): --changed measures anew" if changes else ""
        return f"{what}; the last run is of {newest:%Y-%m-%d %H:%M}{but}"


@dataclass(frozen=True, slots=True)
class _Again:
    """Finished runs that are to be done again, and why.

    Args:
        begins: In a new campaign, not in their place.
        asks: Only if their testbed finds that something else would be measured now.
    """

    runs: Sequence[int] = ()
    why: str = ""
    begins: bool = False
    asks: bool = False


def _invalid(item: Loaded) -> Entry:
    problems = tuple(str(problem) for problem in item.problems)
    more = len(problems) - 1
    others = f" (and {more} more)" if more else ""
    why = f"it is not valid: {item.problems[0]}{others}"
    return Entry(printable(item.name), why, problems=problems)
