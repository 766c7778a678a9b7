"""What every page of the explorer works with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from threading import Lock
from typing import Annotated, cast

from cachetools import TTLCache
from fastapi import Depends, HTTPException, Request
from fastapi.dependencies.models import Dependant

from benchyard.catalogue.catalogue import Catalogue
from benchyard.catalogue.explain import LoaderPool
from benchyard.catalogue.query import EntryQuery
from benchyard.core.quantity import moment
from benchyard.core.wording import hint, quote
from benchyard.web.changes import Looks

#: So many lists of values are kept, for so many seconds.
_FACETS, _FACETS_SECONDS = 512, 30
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
        facets: Values to narrow a search by; counting them takes longer than the search.
    """

    catalogue: Catalogue
    token: str | None = None
    prefect_ui: str | None = None
    host_names: frozenset[str] | None = None
    looks: Looks = field(default_factory=Looks)
    loaders: LoaderPool = field(default_factory=LoaderPool)
    facets: TTLCache[str, Mapping[str, Mapping[str, int]]] = field(
        default_factory=lambda: TTLCache(_FACETS, _FACETS_SECONDS)
    )
    _keeping: Lock = field(default_factory=Lock)

    def values_of(
        self, fields: Sequence[str], query: EntryQuery
    ) -> Mapping[str, Mapping[str, int]]:
        """Return the values of fields among what is asked for, with numbers of some seconds ago.

        Args:
            fields: As ``Catalogue.values`` takes them.
        """
        key = f"{fields} {replace(query, sort='', offset=0, limit=None, after=None)}"
        with self._keeping:
            found = self.facets.get(key)
        if found is None:
            found = self.catalogue.values_of(fields, query)
            with self._keeping:
                self.facets[key] = found
        return found

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
