"""What results say of each case and step, and by what these are told apart."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchyard.analysis.comparison.run_sets import RunSet
from benchyard.core.errors import InputError
from benchyard.core.model import Json, plain
from benchyard.results.summary import summarize
from benchyard.results.trust import Suspect
from benchyard.show.results_plot.chart import Mark, PlotKind

#: What cells are told apart by, beside the parameters of their matrices.
CASE, RESULTS, STEP = "case", "results", "step"
#: Of so many cases each has a colour beside the others of its step; more have rows of their own.
MOST_BESIDE = 8
#: So many steps are lines of one panel; more have panels of their own.
MOST_LINES = 8


@dataclass(frozen=True, slots=True)
class PlotSide:
    """The runs of one case, or of one point of its matrix.

    Args:
        title: Of the case, with its point.
        traits: What tells it from others: name to value; the parameters of its matrix among them.
        steps: Id to measured step as in ``summary.json``, in the order of the case.
        failed: Number of runs that failed.
        others: Number of finished runs that measured something else, and are left out.
    """

    title: str
    traits: Mapping[str, Json]
    steps: Mapping[str, Any]
    failed: int = 0
    others: int = 0

    def label(self, names: Iterable[str]) -> str:
        """Return its traits of these names in words."""
        return ", ".join(trait(name, self.traits[name]) for name in names if name in self.traits)


@dataclass(frozen=True, slots=True)
class PlotCell:
    """One step of one case.

    Args:
        step: As in ``summary.json``.
    """

    side: PlotSide
    step: Mapping[str, Any]

    @property
    def id(self) -> str:
        """The id of the step."""
        return self.step["id"]

    def key(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return what tells it from cells that differ in traits of these names."""
        own = {STEP: self.id}
        return tuple(repr(own.get(name, self.side.traits.get(name))) for name in names)

    def label(self, names: Sequence[str]) -> str:
        """Return its traits of these names in words: ``load``, ``threads=1``, both as a title."""
        rest = self.side.label(name for name in names if name != STEP)
        if STEP not in names:
            return rest
        return f"{self.step['name']} [{rest}]" if rest else self.step["name"]

    def mark(self, metric: str) -> Mark:
        """Return the median of a metric with its interval and the values; empty without any."""
        document = self.step["metrics"].get(metric)
        if document is None:
            return Mark()
        statistics = document["statistics"]
        interval = statistics["median_interval"]
        values = tuple(value for value in document["values"] if value is not None)
        return Mark(statistics["median"], interval["low"], interval["high"], values)

    def unit(self, metric: str) -> str:
        """Return the unit of a metric; empty where it is not known, or a plain number."""
        unit = self.step["metrics"].get(metric, {}).get("unit")
        return "" if unit in (None, "1") else unit


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
    summary: Any = summarize(
        run_set.title, run_set.records, unfinished=run_set.failed, suspect=suspect
    )
    steps = {step["id"]: step for step in summary["steps"] if step["measured"]}
    return PlotSide(run_set.title, traits, steps, len(run_set.failed), len(run_set.others))


def varying(sides: Iterable[PlotSide]) -> list[str]:
    """Return the names of the traits in which sides differ, in their order."""
    several = list(sides)
    names = dict.fromkeys(name for side in several for name in side.traits)
    return [n for n in names if len({repr(side.traits.get(n)) for side in several}) > 1]


def numeric(name: str, sides: Iterable[PlotSide]) -> bool:
    """Tell whether a trait is a number on every side."""
    values = [side.traits.get(name) for side in sides]
    return all(isinstance(one, int | float) and not isinstance(one, bool) for one in values)


# -- what stands where


@dataclass(frozen=True, slots=True)
class PlotLayout:
    """Names of the traits that tell cells apart along the axis, by colour, and by panel."""

    at: list[str]
    series: list[str]
    panel: list[str]


def lay_out(
    kind: PlotKind, cells: Sequence[PlotCell], x: str | None, series: str | None
) -> PlotLayout:
    """Distribute the traits in which cells differ.

    Args:
        x: The parameter that runs along the axis; None leaves the choice to the kind.
        series: The parameter whose values have a colour each; likewise.

    Raises:
        InputError: If a kind has no such axis.
    """
    sides = {id(cell.side): cell.side for cell in cells}
    count = len({cell.id for cell in cells})
    steps = [STEP] if count > 1 else []
    # Of the traits of the cases, those that have neither axis nor colour.
    rest = [name for name in varying(sides.values()) if name not in (x, series)]
    if kind is PlotKind.ECDF and x is not None:
        raise InputError("the axis of --kind ecdf is the metric itself; leave --x out")
    if x is not None or kind is PlotKind.ECDF:
        at = [] if x is None else [x]
        if series:
            return PlotLayout(at, [series], [*steps, *rest])
        if not rest and kind is PlotKind.LINES and count <= MOST_LINES:
            return PlotLayout(at, steps, [])
        return PlotLayout(at, rest, steps)
    if series is not None:
        return PlotLayout(steps or rest, [series], rest if steps else [])
    if not steps or len(sides) > MOST_BESIDE:
        return PlotLayout(rest, [], steps)
    return PlotLayout(steps, rest, [])
