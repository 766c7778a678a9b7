"""What is asked of a comparison, which cases and steps it pairs, and the answer."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import combinations, pairwise
from pathlib import Path

from benchyard.analysis.comparison.facts import Weight
from benchyard.analysis.comparison.rows import Comparison, Pairs, Rule
from benchyard.analysis.comparison.run_sets import RunSet, previous_of_host, read_before
from benchyard.analysis.comparison.sides import Places, Side, point_of, read_sides
from benchyard.analysis.comparison.tables import RowOrder, in_order
from benchyard.analysis.comparison.verdicts import compare, compare_sides
from benchyard.analysis.comparison.wording import remarks
from benchyard.core.errors import InputError
from benchyard.core.files import shown
from benchyard.core.model import plain, point_suffix
from benchyard.core.wording import hint, in_short, printable, some
from benchyard.results.trust import Suspect
from benchyard.statistics.comparison import Verdict

#: Parameters in brackets have an equals sign, too: ``sort[n=5]=sort[n=5]``.
_PAIR = re.compile(r"((?:\[[^\]]*\]|[^=])+)=(.+)", re.DOTALL)


def pair(baseline: Mapping[str, RunSet], candidate: Mapping[str, RunSet]) -> Pairs:
    """Pair cases by title; a single one on each side is a pair whatever it is called.

    Raises:
        InputError: If nothing pairs up, or a run is on both sides.
    """
    if len(baseline) == len(candidate) == 1:
        titles = [(title, other) for title in baseline for other in candidate]
    else:
        titles = [(title, title) for title in baseline if title in candidate]
    if not titles:
        raise InputError(
            printable(
                "no case is on both sides: "
                f"{some(baseline, 5)} in the baseline, {some(candidate, 5)} in the candidate"
            )
        )
    both = tuple((baseline[one], candidate[other]) for one, other in titles)
    for one, other in both:
        _refuse_overlap(one, other)
    paired = {title for names in titles for title in names}
    return Pairs(
        both,
        tuple(title for title in baseline if title not in paired),
        tuple(title for title in candidate if title not in paired),
        keys=tuple(title for title, _ in titles),
    )


def _refuse_overlap(one: RunSet, other: RunSet) -> None:
    """Refuse a run on both sides: the test takes both sides for independent."""
    if one.folder.resolve() != other.folder.resolve() or one.is_of_same_runs(other):
        return
    shared = sorted({r.run for r in one.everything} & {r.run for r in other.everything})
    if shared:
        folder = shown(one.folder)
        raise InputError(
            f"run {in_short(shared)} of {folder} is on both sides; give each run to one of them, "
            f"such as {folder}@1-5 and {folder}@6-10"
        )


class Against(StrEnum):
    """What each side is compared with."""

    REFERENCE = "reference"
    PREVIOUS = "previous"
    ALL = "all"


def with_reference(sides: Sequence[Side], reference: str | None) -> list[Side]:
    """Return the sides, the reference first.

    Raises:
        InputError: If none of them is called so.
    """
    if reference is None:
        return list(sides)
    found = [side for side in sides if reference in (side.name, side.whole)]
    if len(found) != 1:
        names = [side.name for side in sides]
        raise InputError(f"no side is {reference!r}{hint(reference, names)}")
    return found + [side for side in sides if side is not found[0]]


def pair_sides(
    sides: Sequence[Side], steps: Mapping[str, str], against: Against = Against.REFERENCE
) -> list[Pairs]:
    """Pair the cases of the sides: of the first one with those of each other one by default.

    Cases are paired by title; where the sides have no title in common, by the point of the matrix.

    Args:
        steps: Id of a step of the first side to that of the same step on the other sides.
        against: What each side is paired with: the first one, the one before it, or all.

    Raises:
        InputError: If nothing pairs up, a run is on both sides, or a step is not there.
    """
    keyed = _by_point(sides) if _are_apart(sides) else [side.cases for side in sides]
    named = [_named_steps(cases, steps, first=not at) for at, cases in enumerate(keyed)]
    _refuse_unknown(sides, steps)
    return [
        _called(pair(named[one], named[other]), sides[one], sides[other])
        for one, other in _places(len(sides), against)
    ]


def _places(count: int, against: Against) -> Iterable[tuple[int, int]]:
    match against:
        case Against.REFERENCE:
            return ((0, other) for other in range(1, count))
        case Against.PREVIOUS:
            return pairwise(range(count))
        case Against.ALL:
            return combinations(range(count), 2)


def _called(two: Pairs, one: Side, other: Side) -> Pairs:
    # A single case needs no name that all sides have for it.
    keys = two.keys if len(one.cases) > 1 or len(other.cases) > 1 else ("",)
    return replace(two, baseline=one.name, candidate=other.name, keys=keys)


def _are_apart(sides: Sequence[Side]) -> bool:
    first = sides[0].cases.keys()
    return not any(first & side.cases.keys() for side in sides[1:])


def _by_point(sides: Sequence[Side]) -> list[dict[str, RunSet]]:
    """Return the cases of each side by those values of their points that its sides share."""
    values: dict[str, list[set[str]]] = {}
    for side in sides:
        points = [point_of(one) for one in side.cases.values()]
        for name in {name for point in points for name in point}:
            values.setdefault(name, []).append({plain(p[name]) for p in points if name in p})
    fixed = {name for name, of_sides in values.items() if all(len(v) == 1 for v in of_sides)}
    return [_keyed(side, fixed) for side in sides]


def _keyed(side: Side, fixed: set[str]) -> dict[str, RunSet]:
    names = {str(one.everything[-1].case.get("name")) for one in side.cases.values()}
    found: dict[str, RunSet] = {}
    for title, one in side.cases.items():
        rest = {name: value for name, value in point_of(one).items() if name not in fixed}
        found[point_suffix(rest)[1:-1] if rest and len(names) == 1 else title] = one
    return found


def _named_steps(
    cases: Mapping[str, RunSet], steps: Mapping[str, str], *, first: bool
) -> Mapping[str, RunSet]:
    """Let the steps of a side be paired by the ids that the first side has for them."""
    if first or not steps:
        return cases
    theirs = {other: one for one, other in steps.items()}
    return {
        # A step of theirs that is called like one of ours is no partner of ours any more.
        key: replace(
            one,
            compared_as={
                i: theirs.get(i, i) for i in one.step_ids if i in theirs or i not in steps
            },
        )
        for key, one in cases.items()
    }


def _refuse_unknown(sides: Sequence[Side], steps: Mapping[str, str]) -> None:
    if steps and sides[0].step is not None:
        raise InputError("--pair and steps behind the sides exclude each other")
    here, *others = [{i for one in side.cases.values() for i in one.step_ids} for side in sides]
    there = {i for ids in others for i in ids}
    problems = [
        *_unknown(steps, here, sides[0].name),
        *_unknown(steps.values(), there, "the others"),
    ]
    if problems:
        raise InputError("; ".join(problems))


def _unknown(wanted: Iterable[str], known: set[str], where: str) -> Iterator[str]:
    for step in wanted:
        if step not in known:
            yield f"--pair: no step of {where} is {step!r}{hint(step, known)}"


#: What stands before a remark, the gravest first.
_REMARKS = (
    (Weight.OTHER_WORK, "notice"),
    (Weight.WARNING, "warning"),
    (Weight.CHANGE, "changed"),
)


@dataclass(frozen=True, slots=True)
class ComparisonRequest:
    """How sides are compared.

    Args:
        reference: What the others are compared with; the first.
        pairs: Step of the reference, and the same step elsewhere; several times.
        against: What each is compared with: the reference, the side before, or all others.
        sort: Order of the steps: as in the case, largest change first, by name.
        same_host: Whether the campaign before is looked for on the same host first.
    """

    rule: Rule = field(default_factory=lambda: Rule(other_work=True))
    reference: str | None = None
    pairs: Mapping[str, str] = field(default_factory=dict[str, str])
    against: Against = Against.REFERENCE
    sort: RowOrder = RowOrder.CASE
    same_host: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """A comparison, and how its sides are called, the reference first."""

    comparison: Comparison
    names: Sequence[str]


def parse_step_pairs(texts: Sequence[str]) -> dict[str, str]:
    """Read steps that are the same on both sides, each ``REFERENCE=OTHER``.

    Raises:
        InputError: If one is not written so, or an id comes twice.
    """
    found: dict[str, str] = {}
    for text in texts:
        match = _PAIR.fullmatch(text)
        one, other = match.groups() if match else ("", "")
        if not match or one in found or other in found.values():
            what = "write ids as REFERENCE=OTHER, such as q01=q1, each id once"
            raise InputError(f"--pair {text!r}: {what}")
        found[one] = other
    return found


def answer(sides: Sequence[Side], asked: ComparisonRequest) -> Answer:
    """Compare several sides, or the newest campaign of one with the campaign before.

    Raises:
        InputError: If they are not comparable, or there is nothing to compare with.
    """
    if len(sides) == 1:
        found, names = _with_before(sides[0], asked), (f"{sides[0].name} before", sides[0].name)
    else:
        several = with_reference(sides, asked.reference)
        found = compare_sides(pair_sides(several, asked.pairs, asked.against), asked.rule)
        names = tuple(side.name for side in several)
    return Answer(in_order(found, asked.sort), names)


def compare_folders(
    folders: Mapping[str, Path], metrics: Sequence[str], suspect: Suspect
) -> Comparison:
    """Compare results with those of the first folder, or of one alone with its campaign before.

    Args:
        folders: With runs of one case each, by the name of the side.

    Raises:
        InputError: If nothing is comparable.
    """
    rule = Rule(tuple(metrics), suspect=suspect, other_work=True)
    sides = [
        replace(side, name=name)
        for name, folder in folders.items()
        for side in read_sides([str(folder)], Places(folder))
    ]
    return answer(sides, ComparisonRequest(rule)).comparison


def _with_before(side: Side, asked: ComparisonRequest) -> Comparison:
    before = before_on_host(side.cases) if asked.same_host else {}
    before = before or read_before(side.cases)
    return compare(pair(before, side.cases), replace(asked.rule, other_work=False))


def before_on_host(cases: Mapping[str, RunSet]) -> dict[str, RunSet]:
    """Return the campaign before on the same host of each case that has one, by title."""
    found = {title: previous_of_host(one) for title, one in cases.items()}
    return {title: before for title, before in found.items() if before is not None}


def told_remarks(
    comparison: Comparison, called: Callable[[Sequence[str]], str]
) -> Iterator[tuple[str, str]]:
    """Yield each remark once, the gravest first: a word, and a sentence that names the candidates.

    Where two candidates are compared with each other, nothing is said of them again. Of two sides
    alone, none is named.

    Args:
        called: Returns what people call some sides.
    """
    several = len(comparison.side_pairs) > 1
    told = {pair.candidate_side for pair in comparison.pairs if not pair.neutral}
    for weight, word in _REMARKS:
        said: dict[str, dict[str, None]] = {}
        for pair in comparison.pairs:
            known = pair.neutral and pair.candidate_side in told
            for text in () if known else remarks(pair, weight):
                said.setdefault(text, {})[pair.candidate_side] = None
        for text, sides in said.items():
            yield word, f"{called(list(sides))}: {text}" if several else text


def told_findings(
    comparison: Comparison, label: Callable[[str], str] = str
) -> Iterator[tuple[Verdict | None, str]]:
    """Yield what there is beside numbers: a verdict, and a sentence that names side and case.

    Args:
        label: Returns what people call a side.
    """
    sides = len(comparison.side_pairs)
    for one in comparison.pairs:
        names = [label(one.candidate_side)] * (sides > 1)
        names += [one.title] * (len(comparison.pairs) > sides)
        where = f"{', '.join(names)}: " if names else ""
        yield from ((finding.verdict, f"{where}{finding.text}") for finding in one.findings)


def told_unpaired(comparison: Comparison, label: Callable[[str], str] = str) -> Iterator[str]:
    """Yield a sentence for each case that one side lacks."""
    for title, there, against in comparison.unpaired:
        yield f"{title}: in {label(there)} only, not compared with {label(against)}"
