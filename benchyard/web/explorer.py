"""What every page of the explorer works with."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Annotated, cast

from cachetools import TTLCache
from fastapi import Depends, Request

from benchyard.catalogue.catalogue import Catalogue
from benchyard.catalogue.formats import FORMATS
from benchyard.catalogue.loaders import LoaderPool
from benchyard.catalogue.query import Query
from benchyard.web.changes import Looks
from benchyard.web.rendering import day_and_time

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
    facets: TTLCache[str, Mapping[str, int]] = field(
        default_factory=lambda: TTLCache(_FACETS, _FACETS_SECONDS)
    )
    _counting: Lock = field(default_factory=Lock)

    def values(self, name: str, query: Query) -> Mapping[str, int]:
        """Return the values of a field among what is asked for, with numbers of some seconds ago.

        Args:
            name: As ``Catalogue.values`` takes it.
        """
        key = f"{name} {replace(query, sort='', offset=0, limit=None, after=None)}"
        with self._counting:
            found = self.facets.get(key)
            if found is None:
                found = self.facets[key] = self.catalogue.values(name, query)
            return found

    @property
    def freshness(self) -> str:
        """Of what time the answers are, for the foot of a page."""
        now = self.catalogue.freshness
        looked = f"looked at {day_and_time(now.looked_s)} UTC" if now.looked_s else "not looked at"
        state = "looking now" if now.looking else "watching since" if now.watched else now.note
        return f"{looked}, {state}"


def _explorer(request: Request) -> Explorer:
    return cast("Explorer", request.app.state.explorer)


#: As an argument of an endpoint: the application's explorer.
Current = Annotated[Explorer, Depends(_explorer)]
