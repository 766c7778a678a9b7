"""Where a case and the parts of its page are served."""

from urllib.parse import urlencode

from benchyard.analysis.comparison.samples import DURATION
from benchyard.catalogue.entry import CaseEntry


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
