"""What the runs say of one step: which executions count, and what their metrics come to."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from sys import float_info
from typing import TypeGuard, cast

from benchyard.core.model import Json, JsonObject, Outcome
from benchyard.core.quantity import plural
from benchyard.results.record import Repetition, StepRecord
from benchyard.results.trust import Suspect, causes
from benchyard.statistics import describe, median

SUSPECT = "suspect"
NO_DURATION = "no_duration"
UNFINISHED_RUN = "unfinished_run"


def left_out_because(step: StepRecord, *, include_suspect: bool) -> str | None:
    """Return why one execution of a step is not described, or None if it is."""
    if step.outcome is not Outcome.COMPLETED:
        return step.outcome.value
    if not step.measured:
        return NO_DURATION
    return SUSPECT if step.suspect and not include_suspect else None


def counting(step: StepRecord, *, include_suspect: bool) -> list[Repetition]:
    """Return the measured repetitions of one execution of a step that are described."""
    made = step.measured if step.measure else []
    return made if include_suspect or not any(one.suspect for one in made) else []


def left_out(
    by_run: Mapping[int, StepRecord], unfinished: Iterable[StepRecord], *, include_suspect: bool
) -> JsonObject:
    """Count the executions of a step that are not described, by the reason why.

    Args:
        unfinished: Those of runs that were not finished.
    """
    reasons = [left_out_because(s, include_suspect=include_suspect) for s in by_run.values()]
    reasons += [_of_unfinished_run(step) for step in unfinished]
    return dict(Counter(reason for reason in reasons if reason is not None))


def _of_unfinished_run(step: StepRecord) -> str:
    return UNFINISHED_RUN if step.outcome is Outcome.COMPLETED else step.outcome.value


def suspicions(
    by_index: Mapping[int, Mapping[int, StepRecord]], included: Mapping[int, bool]
) -> Iterator[str]:
    """Say of each step whose suspect runs count, or of which nothing else is left, why.

    Args:
        included: By the step's index, whether its suspect executions count.
    """
    for index, by_run in by_index.items():
        steps = [step for step in by_run.values() if step.measure and step.measured]
        doubted = [step for step in steps if step.suspect]
        if not doubted or not (included[index] or len(doubted) == len(steps)):
            continue
        reasons = "; ".join(causes(reason for step in doubted for reason in step.suspect))
        number = f"{len(doubted)} of {plural(len(steps), 'run')} suspect ({reasons})"
        end = (
            f"and counted, so its figures are of a busy host; --suspect {Suspect.LEAVE_OUT} leaves "
            "them out"
            if included[index]
            else f"and left out, so nothing is described; --suspect {Suspect.INCLUDE} counts them"
        )
        yield f"step {index} {steps[0].name}: {number} {end}; quieten the host, and run again"


def middle(values: Iterable[float | None]) -> float | None:
    """Return the median of what is known, or None if nothing is."""
    known = [value for value in values if value is not None]
    if len(known) == 1:
        return known[0]
    return median(known) if known else None


SMALLER, LARGER = "smaller is better", "larger is better"

#: End of a metric's name to its unit and direction; the first that fits counts.
_UNITS: tuple[tuple[str, str, str | None], ...] = (
    ("idle_s", "s", None),
    ("_bytes_per_s", "B/s", LARGER),
    ("_per_s", "1/s", LARGER),
    ("_s", "s", SMALLER),
    ("_bytes", "B", SMALLER),
    ("_hz", "Hz", None),
    ("_j", "J", SMALLER),
    ("_ratio", "1", None),
    ("error_count", "1", SMALLER),
    ("drop_count", "1", SMALLER),
    ("_count", "1", None),
)
#: Values of one execution, by source and name.
Numbers = Mapping[tuple[str, str], float | None]
Levels = Mapping[str, tuple[float, float]]
#: KROWN's level to our name of it.
_LEVELS = {"memory_ram": "memory", "memory_swap": "swap", "memory_ram_swap": "memory_and_swap"}


@lru_cache(maxsize=1024)
def unit_and_direction(metric: str) -> tuple[str | None, str | None]:
    """Read a metric's unit and direction off the end of its name; None where it tells none."""
    for ending, unit, direction in _UNITS:
        if metric.endswith(ending):
            return unit, direction
    return None, None


Kinds = Mapping[str, tuple[str | None, str | None]]


def declared_kinds(step: StepRecord) -> dict[str, tuple[str | None, str | None]]:
    """Return unit and direction of the metrics that a step's ``metrics`` declare.

    What is not declared is read off the name, as ever.
    """
    kinds: dict[str, tuple[str | None, str | None]] = {}
    declared = step.parameters.get("metrics")
    for name, given in declared.items() if isinstance(declared, dict) else ():
        unit, direction = unit_and_direction(name)
        if isinstance(given, dict):
            told_unit, told_direction = given.get("unit"), given.get("direction")
            unit = told_unit if isinstance(told_unit, str) else unit
            direction = told_direction if told_direction in (SMALLER, LARGER) else direction
        kinds[name] = unit, direction
    return kinds


def _is_number(value: Json) -> TypeGuard[float]:
    """Tell whether a value is a number that statistics can take: integers of JSON have no end."""
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and abs(value) <= float_info.max
    )


def levels_of(sampled: Mapping[str, Json]) -> dict[str, tuple[float, float]]:
    """Read the levels of a record's ``sampled``: name to least and most; empty if not known."""
    found: dict[str, tuple[float, float]] = {}
    levels = sampled.get("levels")
    for name, level in levels.items() if isinstance(levels, dict) else ():
        least, most = (level.get(k) for k in ("min", "max")) if isinstance(level, dict) else "  "
        if _is_number(least) and _is_number(most):
            found[name] = least, most
    return found


def describe_metrics(
    runs: Sequence[Sequence[Repetition]], levels: Sequence[Levels], kinds: Kinds
) -> JsonObject:
    """Describe every metric of a step over its runs.

    Args:
        runs: Shape (runs, repetitions of each).
        levels: Shape (runs,): what the samples of each run show.
        kinds: Unit and direction of those whose names do not tell.
    """
    table = [[numbers_of(repetition) for repetition in run] for run in runs]
    single = all(len(run) == 1 for run in runs)
    sources = {key: None for run in table for one in run for key in one}
    taken = {name for source, name in sources if source != "command"}
    made: JsonObject = {}
    for key in sources:
        source, name = key
        known_as = name_of(key, taken)
        kind = kinds.get(name) if source == "command" else None
        if single:
            values = [one.get(key) for (one,) in table]
            made[known_as] = _metric(known_as, source, values, kind=kind)
        else:
            every = [[one.get(key) for one in run] for run in table]
            values = [middle(run) for run in every]
            made[known_as] = _metric(known_as, source, values, every, kind)
    return made | _sampled(levels)


def name_of(key: tuple[str, str], taken: Collection[str]) -> str:
    """Return how a metric is called: a command may report what the lab measures too.

    Args:
        key: Source and name; neither source may hide the other.
        taken: Names that the lab itself measures.
    """
    source, name = key
    return f"reported_{name}" if source == "command" and name in taken else name


def _sampled(runs: Sequence[Levels]) -> JsonObject:
    """Describe the extremes of the samples, one of each a run: never more than a lower bound."""
    told = [sampled_numbers(run) for run in runs]
    names = dict.fromkeys(name for one in told for name in one)
    return {name: _metric(name, "samples", [one.get(name) for one in told]) for name in names}


def sampled_numbers(levels: Levels) -> dict[str, float]:
    """Return the extremes of the samples of one execution, by the name of the metric (B)."""
    return {
        f"host_{ours}_sampled_{end}_bytes": levels[level][place]
        for level, ours in _LEVELS.items()
        if level in levels
        for place, end in enumerate(("min", "max"))
    }


def numbers_of(repetition: Repetition) -> Numbers:
    """Return what one repetition says in numbers."""
    found: dict[tuple[str, str], float | None] = {("clock", "duration_s"): repetition.duration_s}
    for name, value in repetition.used.items():
        found["counters", name] = value
    for name, value in repetition.values.items():
        if _is_number(value):
            found["command", name] = value
    return found


def _metric(
    name: str,
    source: str,
    values: list[float | None],
    repetitions: list[list[float | None]] | None = None,
    kind: tuple[str | None, str | None] | None = None,
) -> JsonObject:
    unit, direction = kind or unit_and_direction(name)
    known = [value for value in values if value is not None] if None in values else values
    statistics = _statistics(tuple(cast("list[float]", known)))
    return {
        "unit": unit,
        "direction": direction,
        "source": source,
        "n_runs": statistics["n"],
        "n_repetitions": _known(repetitions) if repetitions else statistics["n"],
        "statistics": statistics,
        "repetitions": cast("Json", repetitions),
        "values": cast("Json", values),
    }


def _known(repetitions: list[list[float | None]]) -> int:
    return sum(len(run) - run.count(None) for run in repetitions)


@lru_cache(maxsize=4096)
def _statistics(values: tuple[float, ...]) -> JsonObject:
    """Describe values; many counters of many steps are zero in every run, and so alike."""
    about = describe(values)
    intervals = {
        "median_interval": about.median_interval._asdict(),
        "mean_interval": about.mean_interval._asdict(),
    }
    return {**about._asdict(), **intervals, "outliers": list[Json](about.outliers)}
