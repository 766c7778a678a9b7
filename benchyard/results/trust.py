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
    """Return how far the host of a run spoke against its numbers.

    Suspect if a measured repetition is; noisy if a check before the run warned or failed, or if the
    collector noted something; unknown if the run was imported.
    """
    if record.case.get("imported"):
        return HostQuality.UNKNOWN
    if any(step.suspect for step in record.steps):
        return HostQuality.SUSPECT
    noisy = doubts(record.preflight) or record.collector.get("notes")
    return HostQuality.NOISY if noisy else HostQuality.QUIET
