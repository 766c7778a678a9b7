"""What every page of the explorer works with."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Annotated, cast

from cachetools import LRUCache
from fastapi import Depends, HTTPException, Request
from fastapi.dependencies.models import Dependant

from benchyard.analysis.comparison.rows import Rule
from benchyard.analysis.regressions import PREVIOUS, Baseline, Looked
from benchyard.catalogue.catalogue import Catalogue
from benchyard.catalogue.entry import CaseEntry
from benchyard.catalogue.explain import LoaderPool
from benchyard.core.errors import BenchyardError
from benchyard.core.files import shown
from benchyard.core.quantity import moment
from benchyard.core.wording import hint, printable, quote

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
            keys = {case.id: _key(case) for case in cases}
            self._changed.wait_for(lambda: self._known.keys() >= {*keys.values()}, patience_s)
            return {ident: self._known[key] for ident, key in keys.items() if key in self._known}

    def _work(self) -> None:
        while True:
            with self._changed:
                if not self._wanted:
                    self._thread = None
                    return
                case, others = self._wanted.pop(0), self._others
            looked = look(case, others)
            with self._changed:
                self._known[_key(case)] = looked
                self._changed.notify_all()


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


#: In the scope of a request: its answer is not kept.
FRESH = "benchyard.fresh"


@dataclass(frozen=True, slots=True)
class Explorer:
    """State of one application.

    Args:
        catalogue: What is shown.
        token: What a caller must know; None lets everybody in who reaches the port.
        prefect_ui: Address of Prefect's UI, for links; None has none.
        host_names: Names by which it may be asked, without port; None takes all.
        looks: How cases compare with what they were before.
        loaders: Explain jobs that were loaded.
    """

    catalogue: Catalogue
    token: str | None = None
    prefect_ui: str | None = None
    host_names: frozenset[str] | None = None
    looks: Looks = field(default_factory=Looks)
    loaders: LoaderPool = field(default_factory=LoaderPool)

    @property
    def looks_first(self) -> bool:
        """Whether the first look at the folders goes on, so that lists are not whole yet."""
        now = self.catalogue.freshness
        return now.looking and not now.looked_s

    @property
    def freshness(self) -> str:
        """Of what time the answers are, for the foot of a page."""
        now = self.catalogue.freshness
        looked = f"looked at {moment(now.looked_s)}" if now.looked_s else "not looked at"
        state = "looking now" if now.looking else "watching since" if now.watched else now.note
        return f"{looked}, {state}"


# Being async, it is called where it is; FastAPI takes plain functions to another thread.
async def _explorer(request: Request) -> Explorer:
    return cast("Explorer", request.app.state.explorer)


#: As an argument of an endpoint: the application's explorer.
Current = Annotated[Explorer, Depends(_explorer)]


def keep_fresh(request: Request) -> None:
    """Let the answer to this request be made anew each time: it shows what nobody watches."""
    request.scope[FRESH] = True


def check_address(request: Request, explorer: Current) -> None:
    """Refuse unknown fields; lead from the id of a place to the id of what lies there.

    Raises:
        HTTPException: 400 for a field that the address does not take, 307 for another address.
        NotFoundError: If nothing has an id of the address.
    """
    if explorer.looks_first:
        keep_fresh(request)
    known = fields_of(request.scope["route"].dependant)
    wrong = [name for name in request.query_params if name not in {*known, "token"}]
    if wrong:
        sentence = f"there is no field {quote(wrong[0])!r}{hint(wrong[0], sorted(known))}"
        raise HTTPException(400, f"{sentence}; known are: {', '.join(sorted(known)) or 'none'}")
    found = explorer.catalogue
    for name, find in (("case_id", found.case), ("run_id", found.entry), ("entry_id", found.entry)):
        given = request.path_params.get(name)
        if given and (lasting := find(given).id) != given:
            address = request.url.path.replace(given, lasting)
            query = f"?{request.url.query}" if request.url.query else ""
            raise HTTPException(307, f"it is at {address}", {"Location": address + query})


def fields_of(dependant: Dependant) -> set[str]:
    """Return the names of the fields that an address takes after ``?``."""
    kinds = [(one.alias, one.field_info.annotation) for one in dependant.query_params]
    own = [getattr(kind, "model_fields", (name,)) for name, kind in kinds]
    return set(chain(*own)).union(*map(fields_of, dependant.dependencies))
