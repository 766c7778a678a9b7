"""Levels of campaigns: for each step and metric the median of its runs, oldest campaign first."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from benchyard.analysis.comparison.run_sets import RunSet, host_of, read_run_set
from benchyard.analysis.comparison.samples import StepSample, sample
from benchyard.core.errors import InputError
from benchyard.core.model import Json
from benchyard.results.annotations import annotations_of
from benchyard.results.campaigns import is_earlier
from benchyard.results.excerpt import read_excerpt
from benchyard.results.subject import Subject, differences, subject_of
from benchyard.statistics import mean, median
from benchyard.statistics.pairs import split_at_moves


class SampledCampaign(NamedTuple):
    """A campaign: when its last run began, what it measured, and its samples by the steps' ids."""

    began: datetime
    subject: Subject
    steps: Mapping[str, StepSample]


class Level(NamedTuple):
    """The level of some steps in a campaign; of values above 0 of their logarithms."""

    began: datetime
    subject: Subject
    value: float


def home_of(folder: Path) -> Path:
    """Return the results folder that a campaign's folder is in, or is."""
    return (folder.parent.parent if is_earlier(folder) else folder).resolve()


def read_campaigns(
    folders: Iterable[Path], host: Json, metrics: tuple[str, ...], until: datetime
) -> Iterator[SampledCampaign]:
    """Yield the campaigns of a host that began until then; leave out those that are damaged."""
    read = partial(read_excerpt, metrics=metrics)
    for folder in folders:
        with suppress(InputError, OSError):
            found = read_run_set(folder, None, read)
            if found is not None and host_of(found) == host:
                yield from (one for one in sampled(found) if one.began <= until)


def sampled(runs: RunSet) -> list[SampledCampaign]:
    """Return the campaign that some runs are of; none if no run finished."""
    newest = runs.records[-1:]
    return [SampledCampaign(one.began, subject_of(one), sample(runs)) for one in newest]


def levels_of(
    campaigns: Iterable[SampledCampaign], steps: Sequence[str], metric: str, *, relative: bool
) -> list[Level]:
    """Return the mean levels of steps in the campaigns that know all of them."""
    found: list[Level] = []
    for one in campaigns:
        values = [_counting(one.steps.get(step), metric) for step in steps]
        if all(values) and (not relative or min(map(min, values)) > 0):
            value = mean([level_of(each, relative=relative) for each in values])
            found.append(Level(one.began, one.subject, value))
    return found


def level_groups(
    home: Path,
    campaigns: Iterable[SampledCampaign],
    steps: Sequence[str],
    metric: str,
    *,
    relative: bool = True,
) -> list[list[float]]:
    """Return these levels in groups, a group until the level moves: see ``split_at_moves``.

    Args:
        home: Results folder of the campaigns, in which people may have accepted new levels.
    """
    known = levels_of(campaigns, steps, metric, relative=relative)
    levels = [one.value for one in known]
    changed = [bool(differences(one.subject, other.subject)) for one, other in pairwise(known)]
    host = str(known[0].subject.get("host") or "") if known else ""
    said = (one for step in steps for one in annotations_of(home, step, metric, host))
    accepted = [datetime.fromisoformat(one.since) for one in said if one.accepts]
    new = [any(one.began < at <= other.began for at in accepted) for one, other in pairwise(known)]
    return split_at_moves(levels, changed, new) if relative else [levels]


def _counting(step: StepSample | None, metric: str) -> Sequence[float]:
    """Return the values of a step; none where less than half of its runs count."""
    values = () if step is None else step.values.get(metric, ())
    return values if step is not None and 2 * len(values) >= step.executed else ()


def level_of(values: Sequence[float], *, relative: bool) -> float:
    """Return the median, of logarithms if relative."""
    return median(list(map(math.log, values)) if relative else values)
