"""The health of a host, from the campaigns of its control case: fixed work, step by step."""

import math
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
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
from benchyard.results.subject import differences, in_words
from benchyard.statistics import mean
from benchyard.statistics.changes import changes
from benchyard.statistics.comparison import LEVEL
from benchyard.statistics.pairs import OWN_FROM, session_spreads

#: So many campaigns are read, the newest; and so far from a session one may be and tell of it.
_MOST, _NEAR = 50, timedelta(days=1)
AS_USUAL = "as usual"


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
        A clause for each such step, else ``AS_USUAL``; that there are too few campaigns; or
        nothing if there is none.
    """
    before = len(campaigns) - 1
    if before < OWN_FROM:
        few = f"{OWN_FROM} campaigns make a level: {before} so far before the newest"
        return [few] * bool(campaigns)
    steps = _steps(campaigns)
    said = [
        f"{name} is {text}"
        for step, name in steps.items()
        for text in _standing(_levels(campaigns, step), len(steps))
    ]
    return list(map(printable, said)) or [AS_USUAL]


def _levels(campaigns: Sequence[SampledCampaign], step: str) -> list[Level]:
    return levels_of(campaigns, (step,), DURATION, relative=True)


def _steps(campaigns: Sequence[SampledCampaign]) -> dict[str, str]:
    return {step: one.name for each in campaigns for step, one in each.steps.items()}


def _standing(levels: Sequence[Level], steps: int) -> Iterator[str]:
    """Yield how the newest level is beside the present one, or else that beside the last."""
    values = [one.value for one in levels]
    if len(values) <= OWN_FROM:
        return
    base = _split(values[:-1])[-1]
    shift, margin = values[-1] - mean(base), _margin([base], steps, len(base))
    if abs(shift) > margin:
        since = levels[len(levels) - 1 - len(base)]
        yield (
            f"{_slower(shift)} than in {plural(len(base), 'campaign')} since {_day(since)} "
            f"(± {percent(math.expm1(margin))}){_reason(*levels[-2:])}"
        )
        return
    for one in changes(np.array(values))[-1:]:
        last, first = levels[one.place - 1 : one.place + 1]
        many = plural(len(levels) - one.place, "campaign")
        yield f"{_slower(one.size)} since {_day(first)} ({many}){_reason(last, first)}"


def _split(levels: Sequence[float]) -> list[list[float]]:
    """Return the levels in groups, one for each level that the host was at."""
    places = [0, *(one.place for one in changes(np.array(levels))), len(levels)]
    return [[*levels[start:end]] for start, end in pairwise(places)]


def _margin(groups: Sequence[Sequence[float]], steps: int, sessions: int) -> float:
    """Return how far any of so many steps differs at most between equal campaigns (99 %)."""
    return max(one.margin(LEVEL / steps, sessions) for one in session_spreads(groups))


def _slower(shift: float) -> str:
    return f"{percent(abs(math.expm1(shift)))} {'slower' if shift > 0 else 'faster'}"


def _day(level: Level) -> str:
    return f"{level.began:%Y-%m-%d}"


def _reason(before: Level, after: Level) -> str:
    changed = in_words(differences(before.subject, after.subject))
    return f", when this changed: {changed}" if changed else ""


def control_notes(pairs: Iterable[CasePair]) -> list[str]:
    """Say where the control case changed between the sessions of two sides.

    Args:
        pairs: Of a comparison. Those in turns, and on two hosts, have nothing to be said of.
    """
    known: dict[str, list[SampledCampaign]] = {}
    asked: dict[tuple[str, int, int], None] = {}
    for pair in pairs:
        sides = (pair.baseline, pair.candidate)
        if pair.sessions.in_turns or pair.of_same_runs or not all(one.records for one in sides):
            continue
        host, other = map(host_of, sides)
        if host == other and isinstance(host, str):
            campaigns = known[host] if host in known else control_campaigns(host)
            known[host] = campaigns
            near = [place for side in sides for place in _near(campaigns, side)]
            if len({*near}) == 2:
                asked[host, near[0], near[1]] = None
    said = (_changed(known[host], *places) for host, *places in asked)
    return list(dict.fromkeys(text for text in said if text))


def _near(campaigns: Sequence[SampledCampaign], side: RunSet) -> list[int]:
    """Return the place of the campaign that is nearest to the newest run; none if none is near."""
    newest = max(one.began for one in side.records)
    away = sorted((abs(one.began - newest), place) for place, one in enumerate(campaigns))
    return [place for distance, place in away[:1] if distance <= _NEAR]


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
    text = (
        f"between the two sessions the control case of this host changed by {', '.join(told)}: "
        "the host, not the code, may have changed"
    )
    return printable(text) if told else ""
