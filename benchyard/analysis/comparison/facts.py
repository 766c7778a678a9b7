"""The facts of a run that are compared, and what a difference in each means.

Facts that differ between any two runs (dates, free space) are not listed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from benchyard.core.model import Json, JsonObject, point_suffix
from benchyard.results.record import RunRecord
from benchyard.statistics.comparison import Verdict


class Weight(StrEnum):
    """What it means that something differs."""

    MUST_MATCH = "must match"
    OTHER_WORK = "other work"
    WARNING = "warning"
    CHANGE = "change"


@dataclass(frozen=True, slots=True)
class Difficulty:
    """Something that no number tells.

    Args:
        step: Id of the step; None if it is about whole runs.
        verdict: Regression, improvement or neither (change).
        text: The whole of it as a sentence.
        paired_by: The id that the step is paired by.
    """

    step: str | None
    verdict: Verdict
    text: str
    paired_by: str | None = None

    def to_json(self) -> JsonObject:
        """Return it as the document has it."""
        return {"step": self.step, "verdict": self.verdict.value, "text": self.text}


@dataclass(frozen=True, slots=True)
class Fact:
    """Something of a run that is compared.

    Args:
        what: It, in a few words.
        of: Returns it; null where the record does not tell.
        because: Why it matters, for the sentence.
    """

    weight: Weight
    what: str
    of: Callable[[RunRecord], Json]
    because: str = ""


def _point(record: RunRecord) -> Json:
    point = record.case.get("point")
    return point_suffix(point) if isinstance(point, dict) and point else None


IT_IS_OTHER_WORK = "it is other work"
_CLOCKS = "clock frequencies are not alike"
_LAYOUT = "it changes what memory costs"

_OF_RUNS = (
    Fact(Weight.OTHER_WORK, "point of the matrix", _point, IT_IS_OTHER_WORK),
    Fact(Weight.WARNING, "case", lambda record: record.case.get("name")),
    Fact(
        Weight.WARNING,
        "files of the case",
        lambda record: record.case.get("hash"),
        "if the inputs differ, so does the work",
    ),
    Fact(
        Weight.WARNING,
        "sampling interval",
        lambda record: record.collector.get("interval_s"),
        "sampling disturbs what runs beside it",
    ),
    Fact(Weight.WARNING, "version of Benchyard", lambda record: record.benchyard_version or None),
    Fact(Weight.CHANGE, "git commit", lambda record: record.fact("git", "commit")),
    Fact(Weight.CHANGE, "uncommitted changes", lambda record: record.fact("git", "dirty")),
)

#: Of the testbed: what, where in the record's environment, and why.
PLACES_OF_FACTS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("host", ("host",), "two machines are never alike: measure both on one of them"),
    ("CPU model", ("cpu", "model"), ""),
    ("number of CPUs", ("cpu", "logical_cores"), ""),
    ("hyper-threading", ("cpu", "smt"), "hardware threads share a core"),
    ("CPUs of the lab", ("cpu", "affinity"), ""),
    ("isolated CPUs", ("cpu", "isolated"), ""),
    ("frequency governor", ("cpu", "governor"), _CLOCKS),
    ("energy preference", ("cpu", "energy_preference"), _CLOCKS),
    ("highest frequency", ("cpu", "frequency_limit_hz"), _CLOCKS),
    ("turbo", ("cpu", "turbo"), _CLOCKS),
    ("power supply", ("power", "supply"), _CLOCKS),
    ("microcode", ("cpu", "microcode"), ""),
    ("memory size", ("memory_bytes",), ""),
    ("swap size", ("swap_bytes",), ""),
    ("huge pages", ("huge_pages", "enabled"), _LAYOUT),
    ("address randomization", ("address_randomization",), _LAYOUT),
    ("kernel", ("kernel",), ""),
    ("kernel parameters", ("kernel_parameters",), ""),
    ("operating system", ("os",), ""),
    ("container", ("virtualization", "container"), ""),
    ("CPU limit", ("cgroup", "cpu_limit_cores"), ""),
    ("memory limit", ("cgroup", "memory_limit_bytes"), ""),
    ("clock source", ("clocksource", "current"), "reading the clock costs more with some"),
    ("Python", ("python",), ""),
)

TESTBED_FACTS = tuple(
    Fact(Weight.WARNING, what, lambda record, at=at: record.fact(*at), why)
    for what, at, why in PLACES_OF_FACTS
)
FACTS = (*_OF_RUNS, *TESTBED_FACTS)
