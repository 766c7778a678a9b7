"""What belongs to a case: the other points of its matrix, its campaigns."""

from typing import Any

from benchyard.catalogue.catalogue import Catalogue
from benchyard.catalogue.entry import CaseEntry
from benchyard.catalogue.query import EntryQuery
from benchyard.core.model import Json
from benchyard.results.campaigns import EARLIER, is_earlier
from benchyard.web.case_links import address


def siblings_of(catalogue: Catalogue, case: CaseEntry) -> list[CaseEntry]:
    """Return the points of the case's matrix that lie beside each other, itself among them."""
    if not case.point or is_earlier(case.results):
        return []
    cases = catalogue.cases(EntryQuery(cases=(case.case,), limit=None))
    beside = [one for one in cases if one.case == case.case and one.point]
    found = [one for one in beside if one.results.parent == case.results.parent]
    return sorted(found, key=lambda one: [_order(value) for value in one.point.values()])


def _order(value: Json) -> tuple[bool, float, str]:
    number = isinstance(value, int | float)
    return (not number, float(value) if isinstance(value, int | float) else 0.0, str(value))


def name_of(case: CaseEntry) -> str:
    """Return what a case is called in a list, in which its earlier campaigns may stand too."""
    name = case.title or case.path
    return f"{name} (earlier campaign)" if is_earlier(case.results) else name


def campaign_pages(catalogue: Catalogue, case: CaseEntry) -> dict[str, str]:
    """Return the page of each earlier campaign by its name, as far as it is in the catalogue."""
    earlier = case.results / EARLIER
    cases = catalogue.cases(EntryQuery(cases=(case.case,), limit=None))
    return {one.results.name: address(one) for one in cases if one.results.parent == earlier}


def place_of(catalogue: Catalogue, case: CaseEntry) -> dict[str, Any]:
    """Return title and crumbs; an earlier campaign stands below the case's newest one."""
    title, crumbs = case.title or case.path, [("Cases", "/cases")]
    if not is_earlier(case.results):
        return {"title": title, "crumbs": crumbs}
    newest = case.results.parent.parent
    beside = catalogue.cases(EntryQuery(cases=(case.case,), limit=None))
    crumbs += [(title, address(one)) for one in beside if one.results == newest]
    return {"title": f"{title}, campaign {case.results.name}", "crumbs": crumbs}
