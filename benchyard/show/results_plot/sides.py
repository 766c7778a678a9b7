"""What results say of each case and step, and by what the cases are told apart."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from benchyard.analysis.comparison.run_sets import RunSet
from benchyard.core.model import Json, plain
from benchyard.results.summary import summarize
from benchyard.results.trust import Suspect
from benchyard.statistics.intervals import Interval

_NO_INTERVAL = Interval()
#: What cases are told apart by, beside the parameters of their matrices.
CASE, RESULTS = "case", "results"


@dataclass(frozen=True, slots=True)
class Sample:
    """One metric of one step.

    Args:
        values: Shape (runs that know it,), in the order of the runs.
        median: None without values.
        interval: Of the median.
    """

    values: tuple[float, ...] = ()
    median: float | None = None
    interval: Interval = _NO_INTERVAL


@dataclass(frozen=True, slots=True)
class StepResult:
    """One measured step of one case.

    Args:
        left_out: Why executions do not count, to how many.
        suspect: How many executions are suspect, counted or not.
        metrics: As in ``summary.json``.
    """

    id: str
    name: str
    left_out: Mapping[str, int]
    suspect: int
    metrics: Mapping[str, Any]

    def sample(self, metric: str) -> Sample:
        """Return what is known of a metric; an empty sample where it is none of the step's."""
        told = self.metrics.get(metric)
        if told is None:
            return Sample()
        statistics = told["statistics"]
        values = tuple(value for value in told["values"] if value is not None)
        return Sample(values, statistics["median"], Interval(**statistics["median_interval"]))

    def unit(self, metric: str) -> str | None:
        """Return the unit of a metric; None where it is not known."""
        told: Mapping[str, Any] = self.metrics.get(metric) or {}
        return told.get("unit")


@dataclass(frozen=True, slots=True)
class PlotSide:
    """The runs of one case, or of one point of its matrix.

    Args:
        title: Of the case, with its point.
        traits: What tells it from others: name to value; the parameters of its matrix among them.
        steps: Id to result, of measured steps in the order of the case.
        failed: Number of runs that failed.
        others: Number of finished runs that measured something else, and are left out.
    """

    title: str
    traits: Mapping[str, Json]
    steps: Mapping[str, StepResult]
    failed: int = 0
    others: int = 0

    def label(self, names: Iterable[str]) -> str:
        """Return its traits of these names in words."""
        return ", ".join(trait(name, self.traits[name]) for name in names if name in self.traits)


def trait(name: str, value: Json) -> str:
    """Write a trait: a parameter with its name, a case by its name alone."""
    return plain(value) if name in (CASE, RESULTS) else f"{name}={plain(value)}"


def tell_apart(
    found: Sequence[tuple[str, RunSet]], *, suspect: Suspect = Suspect.AUTO
) -> tuple[PlotSide, ...]:
    """Describe run sets, and give them traits by which they differ.

    Args:
        found: What the user wrote, and a run set that it means; several may have the same title.
        suspect: What becomes of executions that are not to be trusted.
    """
    alike = len({run_set.title for _, run_set in found}) < len(found)
    return tuple(
        _side(run_set, source if alike else "", suspect=suspect) for source, run_set in found
    )


def _side(run_set: RunSet, source: str, *, suspect: Suspect) -> PlotSide:
    about = run_set.everything[-1].case
    point = about.get("point")
    params: dict[str, Json] = point if isinstance(point, dict) else {}
    own: dict[str, Json] = {CASE: about.get("name") or run_set.title}
    traits = {**({RESULTS: source} if source else {}), **own, **params}
    document = summarize(
        run_set.title,
        run_set.records,
        unfinished=run_set.failed,
        suspect=suspect,
    )
    steps = cast("list[dict[str, Any]]", document["steps"])
    return PlotSide(
        run_set.title,
        traits,
        {step["id"]: _step(step) for step in steps if step["measured"]},
        len(run_set.failed),
        len(run_set.others),
    )


def _step(step: Mapping[str, Any]) -> StepResult:
    about = step["id"], step["name"]
    return StepResult(*about, step["left_out"], len(step["suspect"]), step["metrics"])


def varying(sides: Iterable[PlotSide]) -> list[str]:
    """Return the names of the traits in which sides differ, in their order."""
    values: dict[str, set[str]] = {}
    several = list(sides)
    for name in dict.fromkeys(name for side in several for name in side.traits):
        values[name] = {repr(side.traits.get(name)) for side in several}
    return [name for name, seen in values.items() if len(seen) > 1]


def numeric(name: str, sides: Iterable[PlotSide]) -> bool:
    """Tell whether a trait is a number on every side."""
    values = [side.traits.get(name) for side in sides]
    return all(isinstance(one, int | float) and not isinstance(one, bool) for one in values)
