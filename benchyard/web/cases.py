"""Where a case and the parts of its page are served, and what lies beside it."""

from typing import Any
from urllib.parse import urlencode

from benchyard.analysis.comparison.samples import DURATION
from benchyard.catalogue.catalogue import Catalogue
from benchyard.catalogue.entry import CaseEntry
from benchyard.catalogue.query import EntryQuery
from benchyard.core.model import Json, JsonObject
from benchyard.results.campaigns import EARLIER, is_earlier


def address(case: CaseEntry, part: str = "") -> str:
    """Return where a case, or a part of its page, is served."""
    return f"/case/{case.id}" + (f"/{part}" if part else "")


def unusual(**values: str) -> dict[str, str]:
    """Return the parameters of an address without those that are as usual."""
    return {name: text for name, text in values.items() if text and text != DURATION}


def query_of(**values: str) -> str:
    """Return what follows an address, with ``?``; what is usual is left out."""
    wanted = unusual(**values)
    return f"?{urlencode(wanted)}" if wanted else ""


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


#: What the catalogue knows of a case, in the order of documents.
_TOLD = "id", "title", "case", "point", "path", "tags", "hosts", "runs", "failed", "newest_s"


def case_document(case: CaseEntry) -> JsonObject:
    """Return what the catalogue knows of a case, as a JSON object."""
    told: JsonObject = {name: getattr(case, name) for name in _TOLD}
    return {**told, "point": dict(case.point), "tags": [*case.tags], "hosts": [*case.hosts]}
