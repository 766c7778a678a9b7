"""Which values count where executions are suspect, and how quiet the host of a run was.

A suspect execution is marked and not hidden: the values that can be trusted count alone where there
are enough of them, and all values count where there are not.
"""

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum

from benchyard.core.model import Json
from benchyard.results.record import RunRecord, StepRecord
from benchyard.statistics.intervals import fewest_for_median

#: Fewer trusted values do not count alone: the median of fewer has no interval.
FEWEST_TRUSTED = fewest_for_median()
#: Follows a figure in which suspect executions count.
BUSY = "*"
_NUMBER = re.compile(r"\d[\d,.]*")


class Suspect(StrEnum):
    """What becomes of suspect executions."""

    AUTO = "auto"
    INCLUDE = "include"
    LEAVE_OUT = "leave-out"


class HostQuality(StrEnum):
    """How far the host of a run spoke against its numbers."""

    QUIET = "quiet"
    NOISY = "noisy"
    SUSPECT = "suspect"
    UNKNOWN = "unknown"


def counts_suspect(steps: Iterable[StepRecord], rule: Suspect) -> bool:
    """Tell whether the suspect executions of one step count, where it is compared with nothing.

    Args:
        steps: The step in each of the runs.
    """
    doubts = [bool(step.suspect) for step in steps if step.measure and step.measured]
    if rule is Suspect.AUTO:
        return any(doubts) and doubts.count(False) < FEWEST_TRUSTED
    return rule is Suspect.INCLUDE


def causes(reasons: Iterable[str]) -> list[str]:
    """Return reasons that differ in numbers alone once, the first of each kind."""
    kinds: dict[str, str] = {}
    for reason in reasons:
        kinds.setdefault(_NUMBER.sub("#", reason), reason)
    return list(kinds.values())


def doubts(preflight: Iterable[Mapping[str, Json]]) -> set[str]:
    """Name the checks of the testbed that spoke against measuring, before a run."""
    return {
        str(finding.get("check"))
        for finding in preflight
        if finding.get("status") in ("warn", "fail")
    }


def host_quality(record: RunRecord) -> HostQuality:
    """Return how far the host of a run spoke against its numbers; see ``quality_of``."""
    if record.case.get("imported"):
        return HostQuality.UNKNOWN
    suspect = any(step.suspect for step in record.steps)
    return quality_of(record.preflight, record.collector, suspect=suspect)


def quality_of(
    preflight: Iterable[Mapping[str, Json]], collector: Mapping[str, Json], *, suspect: bool
) -> HostQuality:
    """Return the quality of a host from the parts of a record that tell of it.

    Args:
        preflight: The checks before the run; noisy if one of them warned or failed.
        collector: Its account; noisy if it noted something.
        suspect: Whether a measured repetition is.
    """
    if suspect:
        return HostQuality.SUSPECT
    noisy = doubts(preflight) or collector.get("notes")
    return HostQuality.NOISY if noisy else HostQuality.QUIET
