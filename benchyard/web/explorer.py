"""What every page of the explorer works with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Annotated, cast

from cachetools import TTLCache
from fastapi import Depends, HTTPException, Request

from benchyard.catalogue.catalogue import Catalogue
from benchyard.catalogue.formats import FORMATS
from benchyard.catalogue.loaders import LoaderPool
from benchyard.catalogue.query import Query
from benchyard.core.quantity import moment
from benchyard.web.changes import Looks

#: So many lists of values are kept, for so many seconds.
_FACETS, _FACETS_SECONDS = 512, 30


@dataclass(frozen=True, slots=True)
class Explorer:
    """State of one application.

    Args:
        catalogue: What is shown.
        token: What a caller must know; None lets everybody in who reaches the port.
        prefect_ui: Address of Prefect's UI, for links; None has none.
        host_names: Names by which it may be asked, without port; None takes all.
        looks: How cases compare with what they were before.
        loaders: What was loaded of entries.
        facets: Values to narrow a search by; counting them takes longer than the search.
    """

    catalogue: Catalogue
    token: str | None = None
    prefect_ui: str | None = None
    host_names: frozenset[str] | None = None
    looks: Looks = field(default_factory=Looks)
    loaders: LoaderPool = field(default_factory=lambda: LoaderPool(FORMATS))
    facets: TTLCache[str, Mapping[str, Mapping[str, int]]] = field(
        default_factory=lambda: TTLCache(_FACETS, _FACETS_SECONDS)
    )
    _keeping: Lock = field(default_factory=Lock)

    def values_of(self, fields: Sequence[str], query: Query) -> Mapping[str, Mapping[str, int]]:
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


def lead_to_lasting(request: Request, explorer: Current) -> None:
    """Lead from an address with the id of a place to that with the id of what lies there.

    Raises:
        NotFoundError: If nothing has this id.
    """
    found = explorer.catalogue
    for name, find in (("case_id", found.case), ("run_id", found.entry), ("entry_id", found.entry)):
        given = request.path_params.get(name)
        if given and (known := find(given).id) != given:
            address = request.url.path.replace(given, known)
            query = f"?{request.url.query}" if request.url.query else ""
            raise HTTPException(307, f"it is at {address}", {"Location": address + query})
