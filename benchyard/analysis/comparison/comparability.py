"""Whether two sets of runs may be compared at all, and what else differs between them.

Four weights: what *must match* refuses the comparison; *other work* makes of a regression a mere
difference, and refuses where nobody asked for that; a *warning* may explain a difference without
the candidate being better or worse; a *change* is what comparisons are made for, such as another
version of a database.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path
from typing import TypeAlias, cast

from benchyard.analysis.comparison.facts import FACTS, IT_IS_OTHER_WORK, Weight
from benchyard.analysis.comparison.run_sets import RunSet
from benchyard.core.model import Json, JsonObject
from benchyard.core.wording import in_short, printable, quote
from benchyard.results.record import StepRecord
from benchyard.results.subject import differences, in_detail, in_words, package_changes, subject_of
from benchyard.results.trust import doubts

_DIGEST = re.compile(r"(?:sha256:)?([0-9a-f]{12})[0-9a-f]{28,}")
_SIDES = ("baseline", "candidate")


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Something that is not the same on both sides, or not in all runs of one.

    Args:
        what: Of what, in a few words.
        baseline: Its values in the baseline's runs, each once.
        candidate: Its values in the candidate's runs, each once.
        text: The whole of it as a sentence.
        steps: Ids of the steps that it is about, as they are paired by; empty if it is about all.
    """

    weight: Weight
    what: str
    baseline: tuple[Json, ...]
    candidate: tuple[Json, ...]
    text: str
    steps: tuple[str, ...] = ()

    def to_json(self) -> JsonObject:
        """Return it as the document has it."""
        return cast("JsonObject", asdict(self))


def check(baseline: RunSet, candidate: RunSet) -> tuple[Mismatch, ...]:
    """Tell what differs, the gravest first; nothing is right."""
    found = [
        *_facts(baseline, candidate),
        *_resources(baseline, candidate),
        *_subjects(baseline, candidate),
        # Two steps of the same runs are meant to be different ones.
        *(() if baseline.is_of_same_runs(candidate) else _steps(baseline, candidate)),
        *_doubts(baseline, candidate),
        *_left_out(baseline, candidate),
        *_mixed(baseline, candidate),
    ]
    return tuple(sorted(found, key=lambda mismatch: list(Weight).index(mismatch.weight)))


def _facts(baseline: RunSet, candidate: RunSet) -> Iterator[Mismatch]:
    for fact in FACTS:
        values = [_values(map(fact.of, side.everything)) for side in (baseline, candidate)]
        yield from _compare(fact.weight, fact.what, values, fact.because)


def _values(told: Iterable[Json]) -> tuple[Json, ...]:
    """Return each value once, in the order in which they came."""
    values = tuple(told)
    return values if len(values) < 2 else tuple({_key(one): one for one in values}.values())


def _key(value: Json) -> object:
    # To write every value as JSON would take most of the time of a check.
    if isinstance(value, list | dict):
        return list, json.dumps(value, sort_keys=True)
    return type(value), value


def _compare(
    weight: Weight,
    what: str,
    values: Sequence[tuple[Json, ...]],
    because: str = "",
    steps: Sequence[str] = (),
) -> Iterator[Mismatch]:
    if not _differ(values):
        return
    baseline, candidate = values
    known = _known(values)
    texts = [", ".join(map(shown_value, side)) for side in known]
    mixed = [side for side, of in zip(_SIDES, known, strict=True) if len(of) > 1]
    if texts[0] == texts[1]:
        text = f"{what}: the runs on both sides differ among themselves ({texts[0]})"
    else:
        text = f"{what}: baseline {texts[0]}, candidate {texts[1]}"
        text += f"; the runs of the {' and of the '.join(mixed)} differ" if mixed else ""
    text += f"; {because}" if because else ""
    yield Mismatch(weight, what, baseline, candidate, printable(text), tuple(steps))


def _differ(values: Sequence[tuple[Json, ...]]) -> bool:
    """Tell whether the values of both sides are not all the same one.

    A record that does not tell (of an older version, say) tells of no difference either.
    """
    baseline, candidate = values
    if len(baseline) == len(candidate) == 1:  # most often, and without copies many times as fast
        told = baseline[0] is not None and candidate[0] is not None
        return told and _key(baseline[0]) != _key(candidate[0])
    known = _known(values)
    return all(known) and len(_values(value for side in known for value in side)) > 1


def _known(values: Sequence[tuple[Json, ...]]) -> list[list[Json]]:
    return [[value for value in side if value is not None] for side in values]


def shown_value(value: Json) -> str:
    """Write a value of a record for people, shortened where it is long."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " and ".join(map(shown_value, value)) or "none"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    digest = _DIGEST.fullmatch(text)
    return digest[1] if digest else quote(text)


def _mixed(baseline: RunSet, candidate: RunSet) -> Iterator[Mismatch]:
    """Refuse a side whose runs measured different things: one figure for them tells of neither."""
    for name, side in zip(_SIDES, (baseline, candidate), strict=True):
        newest = subject_of(side.everything[-1])
        found = [differences(subject_of(record), newest) for record in side.everything]
        if any(found):
            words = in_words(dict.fromkeys(one for each in found for one in each))
            what = f"what the runs of the {name} measured"
            text = f"the runs of the {name} measured different things ({words})"
            yield Mismatch(Weight.MUST_MATCH, what, (), (), printable(text))


def _subjects(baseline: RunSet, candidate: RunSet) -> Iterator[Mismatch]:
    """Compare what was measured, as far as no fact below has it already."""
    told = [[in_detail(subject_of(r)) for r in s.everything] for s in (baseline, candidate)]
    for what in dict.fromkeys(what for side in told for parts in side for what in parts):
        values = [_values(parts.get(what) for parts in side) for side in told]
        yield from _compare(Weight.CHANGE, what, values)
    newest = [subject_of(side.everything[-1]) for side in (baseline, candidate)]
    for what, decisive in (("packages", True), ("packages that were not imported", False)):
        changes = package_changes(*newest, decisive=decisive)
        if changes:
            before = [f"{change.what} {change.before}" for change in changes]
            after = [f"{change.what} {change.after}" for change in changes]
            text = printable(f"{what}: {in_words(changes)}")
            yield Mismatch(Weight.CHANGE, what, tuple(before), tuple(after), text)


# -- resources: what is compared on purpose


def _resources(baseline: RunSet, candidate: RunSet) -> Iterator[Mismatch]:
    sides = (baseline, candidate)
    names = dict.fromkeys(name for s in sides for r in s.everything for name in r.resources)
    for name in names:
        told = [
            [leaves_of(record.resources.get(name)) for record in side.everything] for side in sides
        ]
        there = [any(name in record.resources for record in side.everything) for side in sides]
        if all(there):
            for key, values in _by_leaf(told):
                yield from _compare(Weight.CHANGE, f"{name} {key}".strip(), values)
        else:
            yield _on_one_side(name, there.index(True), told)


def _on_one_side(name: str, at: int, told: Sequence[Sequence[Mapping[str, Json]]]) -> Mismatch:
    versions = [_values(leaves.get("version") for leaves in side) for side in told]
    known = ", ".join(shown_value(one) for one in versions[at] if one is not None)
    text = f"resource {name}{f' {known}' if known else ''}: in the {_SIDES[at]} only"
    return Mismatch(Weight.CHANGE, f"resource {name}", versions[0], versions[1], printable(text))


def _by_leaf(
    sides: Sequence[Sequence[Mapping[str, Json]]],
) -> Iterator[tuple[str, list[tuple[Json, ...]]]]:
    """Yield each name with its values on both sides; one that is not set has a value too."""
    keys = dict.fromkeys(key for side in sides for leaves in side for key in leaves)
    for key in keys:
        told = ([leaves.get(key) for leaves in side] for side in sides)
        yield key, [_values("not set" if v is None else v for v in side) for side in told]


def leaves_of(value: Json, path: str = "") -> dict[str, Json]:
    """Flatten objects: a setting that is named reads better than two whole objects.

    Args:
        path: Stands before each name, with a dot.
    """
    if not isinstance(value, dict):
        return {path: value}
    found: dict[str, Json] = {}
    for name, item in value.items():
        at = f"{path}.{name}".lstrip(".")
        found |= leaves_of(item, at) if isinstance(item, dict) else {at: item}
    return found


# -- steps


_STEP_FACTS: tuple[tuple[Weight, str, Callable[[StepRecord], Json]], ...] = (
    (Weight.OTHER_WORK, "resource", lambda step: step.resource),
    (Weight.OTHER_WORK, "command", lambda step: step.command),
    (Weight.WARNING, "name", lambda step: step.name),
    (Weight.WARNING, "whether it is measured", lambda step: step.measure),
    (Weight.WARNING, "number of repetitions in a run", lambda step: _executed(step, "measured")),
    (Weight.WARNING, "number of warm-ups in a run", lambda step: _executed(step, "warmup")),
)
_StepFact: TypeAlias = tuple[Weight, str, list[tuple[Json, ...]]]


def _steps(baseline: RunSet, candidate: RunSet) -> Iterator[Mismatch]:
    one, other = (side.steps(side.everything) for side in (baseline, candidate))
    # What differs in the same way in many steps is said once.
    alike: dict[object, tuple[_StepFact, list[str]]] = {}
    for step_id in one:
        if step_id in other:
            for fact in _step([*one[step_id].values()], [*other[step_id].values()]):
                key = (fact[1], *(tuple(map(_key, side)) for side in fact[2]))
                alike.setdefault(key, (fact, []))[1].append(step_id)
    for (weight, what, values), steps in alike.values():
        because = IT_IS_OTHER_WORK if weight is Weight.OTHER_WORK else ""
        because += _IF_MOVED if because and _only_moved(values) else ""
        called = [_called(one[step], other[step]) for step in steps]
        yield from _compare(weight, f"{what} of {_listed(called)}", values, because, steps)
    orders = [[i for i in side if i in one and i in other] for side in (one, other)]
    if orders[0] != orders[1]:
        sides = [(list[Json](order),) for order in orders]
        because = "what ran before warms caches"
        yield from _compare(Weight.WARNING, "order of the steps", sides, because)


_IF_MOVED = ", or the repository moved: write ${root:PATH} in the case"


def _only_moved(sides: Sequence[tuple[Json, ...]]) -> bool:
    """Tell whether the two sides differ in nothing but the folders of absolute paths."""
    values = [side[0] if len(side) == 1 else None for side in sides]
    words = [value if isinstance(value, list) else [value] for value in values]
    apart = [pair for pair in zip_longest(*words) if pair[0] != pair[1]]
    absolute = all(isinstance(word, str) and word.startswith("/") for p in apart for word in p)
    return absolute and all(Path(str(one)).name == Path(str(other)).name for one, other in apart)


def _called(*sides: Mapping[int, StepRecord]) -> str:
    return " and ".join(dict.fromkeys(next(iter(side.values())).id for side in sides))


def _listed(steps: Sequence[str]) -> str:
    if len(steps) == 1:
        return f"step {steps[0]}"
    more = f" and {len(steps) - 4} more" if len(steps) > 5 else ""
    return f"{len(steps)} steps ({', '.join(steps[:4] if more else steps)}{more})"


def _step(one: Sequence[StepRecord], other: Sequence[StepRecord]) -> Iterator[_StepFact]:
    """Yield what differs of a step, with its values on both sides."""
    for weight, what, of in _STEP_FACTS:
        values = [_values(map(of, side)) for side in (one, other)]
        # Steps of two ids were paired by the user, who knows that they are called otherwise.
        if _differ(values) and not (what == "name" and one[0].id != other[0].id):
            yield weight, what, values
    parameters = [[leaves_of(dict(step.parameters)) for step in side] for side in (one, other)]
    for what, values in _by_leaf(parameters):
        if _differ(values):
            yield Weight.OTHER_WORK, f"parameter {what}", values


def _executed(step: StepRecord, kind: str) -> Json:
    """Count the executions of a kind in a step that succeeded; null if it did not."""
    if not step.durations_s:
        return None
    return sum(made.kind == kind for made in step.attempts[-1].repetitions)


def _doubts(baseline: RunSet, candidate: RunSet) -> Iterator[Mismatch]:
    """Say what spoke against the testbed before the runs of each side, or of both alike."""
    told = [any(record.preflight for record in s.everything) for s in (baseline, candidate)]
    found = [
        sorted({d for r in s.everything for d in doubts(r.preflight)})
        for s in (baseline, candidate)
    ]
    sides = [(list[Json](side),) for side in found]
    what, because = "doubts about the testbed", "benchyard doctor tells what to do"
    if all(told) and found[0] != found[1]:
        yield from _compare(Weight.WARNING, what, sides, because)
    elif all(found):
        text = f"{what} on both sides: {', '.join(found[0])}; {because}"
        yield Mismatch(Weight.WARNING, what, sides[0], sides[1], printable(text))


def _left_out(baseline: RunSet, candidate: RunSet) -> Iterator[Mismatch]:
    for name, side in zip(_SIDES, (baseline, candidate), strict=True):
        if side.others:
            runs = in_short([record.run for record in side.others])
            newest = subject_of(side.everything[-1])
            found = in_words(differences(subject_of(side.others[-1]), newest))
            text = (
                f"run {runs} of the {name} measured something else than its newest run ({found}), "
                "and is left out; name the runs (FOLDER@1-5) to compare it"
            )
            sets = [list[Json](r.run for r in one.others) for one in (baseline, candidate)]
            what = "runs that measured something else"
            yield Mismatch(Weight.WARNING, what, (sets[0],), (sets[1],), printable(text))
