"""How cases with new runs compare with the campaign before them, looked at in the background."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from cachetools import LRUCache

from benchyard.analysis.comparison.rows import Rule
from benchyard.analysis.regressions import PREVIOUS, Baseline, Looked
from benchyard.catalogue.entry import CaseEntry
from benchyard.core.errors import BenchyardError
from benchyard.core.files import shown
from benchyard.core.wording import printable

#: Of a case with more runs the records take too long to read for a glance at what changed.
MOST_RUNS = 500
_REMEMBERED = 2_000

#: A look at a case is good as long as these stay.
_Key = tuple[str, int, int, float | None]


class Looks:
    """Compares cases with the campaign before on the same host, and remembers the outcome.

    One thread of its own reads the records, newest case first, as long as something is wanted.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._known = LRUCache[_Key, Looked](_REMEMBERED)
        self._wanted: list[CaseEntry] = []
        self._others: tuple[Path, ...] = ()
        self._thread: threading.Thread | None = None

    def of(self, cases: Sequence[CaseEntry], patience_s: float) -> Mapping[str, Looked]:
        """Return what is known of cases, by their ids.

        Args:
            cases: The most urgent first.
            patience_s: Seconds to wait for those that are not known yet.
        """
        with self._changed:
            self._wanted = [case for case in cases if _key(case) not in self._known]
            self._others = tuple(case.results for case in cases)
            if self._wanted and self._thread is None:
                self._thread = threading.Thread(target=self._work, name="looks", daemon=True)
                self._thread.start()
            self._changed.wait_for(lambda: self._knows(cases), patience_s)
            return {case.id: self._known[_key(case)] for case in cases if _key(case) in self._known}

    def _knows(self, cases: Sequence[CaseEntry]) -> bool:
        return all(_key(case) in self._known for case in cases)

    def _work(self) -> None:
        while (case := self._next()) is not None:
            looked = look(case, self._others)
            with self._changed:
                self._known[_key(case)] = looked
                self._changed.notify_all()

    def _next(self) -> CaseEntry | None:
        with self._changed:
            if self._wanted:
                return self._wanted.pop(0)
            self._thread = None
            return None


def _key(case: CaseEntry) -> _Key:
    return case.id, case.runs, case.failed, case.newest_s


def look(case: CaseEntry, others: tuple[Path, ...] = ()) -> Looked:
    """Compare a case with its campaign before; why it cannot be is told and not raised.

    Args:
        others: Results folders of other cases, which tell how much sessions vary.
    """
    if case.runs > MOST_RUNS:
        return Looked((), f"not compared here: it has more than {MOST_RUNS} runs")
    try:
        looked = Baseline(PREVIOUS, Rule(other_results=lambda: others)).look(
            case.title, case.results
        )
    except (BenchyardError, OSError) as error:
        return Looked((), f"not compared: {error}")
    except Exception as error:  # noqa: BLE001 - a case of others must not end the thread
        return Looked((), f"not compared: {type(error).__name__}: {error}")
    # The folder is a link beside it.
    where = f" in {printable(shown(looked.before))}" if looked.before else ""
    return replace(looked, summary=looked.summary.replace(where, "", 1), page="", p_values=())
