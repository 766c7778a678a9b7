"""The health of a host, from the campaigns of its control case: fixed work, step by step."""

import math
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import islice, pairwise
from pathlib import Path

import numpy as np

from benchyard.analysis.comparison.levels import (
    Level,
    SampledCampaign,
    levels_of,
    read_campaigns,
)
from benchyard.analysis.comparison.rows import CasePair
from benchyard.analysis.comparison.run_sets import RunSet, host_of
from benchyard.analysis.comparison.samples import DURATION
from benchyard.core.places import control
from benchyard.core.quantity import percent, plural
from benchyard.core.wording import printable
from benchyard.results.campaigns import with_earlier
from benchyard.results.layout import distinct_slug
from benchyard.statistics import mean
from benchyard.statistics.changes import changes
from benchyard.statistics.comparison import LEVEL
from benchyard.statistics.pairs import OWN_FROM, session_spreads

#: So many campaigns are read, the newest; and so long before a run one may be and tell of it.
_MOST, _NEAR = 50, timedelta(days=1)
#: What is told of a host that is as before, and how it begins if too little is known of it.
AS_USUAL, FEW = "as usual", f"{OWN_FROM} campaigns make a level"


def control_results(host: str) -> Path:
    """Return the results folder of a host's control case."""
    return control() / distinct_slug(host)


def control_campaigns(host: str) -> list[SampledCampaign]:
    """Return the newest campaigns of a host's control case, oldest first.

    Left out are those that are damaged, and those of other work than the newest, as an earlier
    version of Benchyard had.
    """
    folders = with_earlier(control_results(host))
    found = [*islice(read_campaigns(folders, host, (DURATION,), datetime.now(UTC)), _MOST)]
    return [one for one in found[::-1] if one.subject.get("case") == found[0].subject.get("case")]


def health(campaigns: Sequence[SampledCampaign]) -> list[str]:
    """Say which steps of the newest campaign, or whose levels, stand out from those before.

    Args:
        campaigns: Oldest first.

    Returns:
        A clause for each such step and one for those that a busy host kept from counting, else
        ``AS_USUAL``; one that begins with ``FEW``; or nothing without a campaign.
    """
    if not campaigns:
        return []
    newest, steps = campaigns[-1].began, _steps(campaigns[-1:])
    known = {name: _levels(campaigns, step) for step, name in steps.items()}
    before = min(sum(one.began < newest for one in levels) for levels in known.values())
    if before < OWN_FROM:
        return [f"{FEW}: {before} so far before the newest"]
    busy = [name for name, levels in known.items() if levels[-1].began < newest]
    judged = [(name, levels) for name, levels in known.items() if name not in busy]
    said = [f"{name} is {text}" for name, one in judged for text in _standing(one, len(steps))]
    if busy:
        said.append(f"{', '.join(busy)}: not judged, the host was busy in the newest campaign")
    return list(map(printable, said)) or [AS_USUAL]


def _levels(campaigns: Sequence[SampledCampaign], step: str) -> list[Level]:
    return levels_of(campaigns, (step,), DURATION, relative=True)


def _steps(campaigns: Sequence[SampledCampaign]) -> dict[str, str]:
    return {step: one.name for each in campaigns for step, one in each.steps.items()}


def _standing(levels: Sequence[Level], steps: int) -> Iterator[str]:
    """Yield how the newest level is beside the present one, or else that beside the last."""
    values = [one.value for one in levels]
    base = _split(values[:-1])[-1]
    shift, margin = values[-1] - mean(base), _margin([base], steps, len(base))
    moved = changes(np.array(values))[-1:]
    if abs(shift) > margin:
        many, since = plural(len(base), "campaign"), levels[-1 - len(base)].began
        most = percent(math.expm1(margin))
        yield f"{_slower(shift)} than in {many} since {since:%Y-%m-%d} (± {most})"
    elif moved:
        many, since = plural(len(levels) - moved[0].place, "campaign"), levels[moved[0].place].began
        yield f"{_slower(moved[0].size)} since {since:%Y-%m-%d} ({many})"


def _slower(shift: float) -> str:
    return f"{percent(abs(math.expm1(shift)))} {'slower' if shift > 0 else 'faster'}"


def _split(levels: Sequence[float]) -> list[list[float]]:
    """Return the levels in groups, one for each level that the host was at."""
    places = [0, *(one.place for one in changes(np.array(levels))), len(levels)]
    return [[*levels[start:end]] for start, end in pairwise(places)]


def _margin(groups: Sequence[Sequence[float]], steps: int, sessions: int) -> float:
    """Return how far any of so many steps differs at most between equal campaigns (99 %)."""
    return max(one.margin(LEVEL / steps, sessions) for one in session_spreads(groups))


def control_notes(pairs: Iterable[CasePair], *, to_level: bool) -> list[str]:
    """Say how the control case changed where two sides are of two sessions of one host.

    Args:
        pairs: Of a comparison.
        to_level: Whether campaigns before are the baseline, and not the last one alone.
    """
    read = cache(control_campaigns)
    asked: dict[tuple[str, int, int], None] = {}
    for pair in pairs:
        sides = [one for one in (pair.baseline, pair.candidate) if one.records]
        hosts = {str(host_of(side)) for side in sides}
        if not pair.sessions.in_turns and len(sides) == 2 and len(hosts) == 1:
            (host,) = hosts
            places = [place for side in sides for place in _before(read(host), side)]
            if len({*places}) == 2:
                asked[host, places[0], places[1]] = None
    say = _level_changed if to_level else _changed
    said = (say(read(host), *places) for host, *places in asked)
    texts = filter(None, dict.fromkeys(said))
    return [printable(f"{one}: the host, not the code, may have changed") for one in texts]


def _before(campaigns: Sequence[SampledCampaign], side: RunSet) -> list[int]:
    """Return the place of the last campaign before the newest run; none if it is long before."""
    newest = max(one.began for one in side.records)
    age = [newest - one.began for one in campaigns]
    return [place for place, one in enumerate(age) if timedelta(0) <= one <= _NEAR][-1:]


def _level_changed(campaigns: Sequence[SampledCampaign], _: int, after: int) -> str:
    told = health(campaigns[: after + 1])
    silent = told == [AS_USUAL] or told[0].startswith(FEW)
    return "" if silent else f"control case of this host: {'; '.join(told)}"


def _changed(campaigns: Sequence[SampledCampaign], before: int, after: int) -> str:
    """Say which steps differ between two campaigns by more than such campaigns do; "" if none."""
    steps, told = _steps(campaigns), list[str]()
    rest = [*campaigns[:after], *campaigns[after + 1 :]]
    for step, name in steps.items():
        ends = (_levels(campaigns[at : at + 1], step) for at in (before, after))
        values = [level.value for end in ends for level in end]
        if len(values) == 2:
            shift, known = values[1] - values[0], [one.value for one in _levels(rest, step)]
            if abs(shift) > _margin(_split(known), len(steps), 1):
                told.append(f"{'+' * (shift > 0)}{percent(math.expm1(shift))} ({name})")
    between = "between the two sessions the control case of this host changed by"
    return f"{between} {', '.join(told)}" if told else ""
