"""What is asked of a comparison, on the command line or in a browser, and the answer."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from benchyard.analysis.comparison.facts import Weight
from benchyard.analysis.comparison.pairing import Against, pair_sides, with_reference
from benchyard.analysis.comparison.rows import CasePair, Comparison, Rule
from benchyard.analysis.comparison.run_sets import RunSet, pair, previous_of_host, read_before
from benchyard.analysis.comparison.sides import Side
from benchyard.analysis.comparison.tables import RowOrder, in_order
from benchyard.analysis.comparison.verdicts import compare, compare_sides
from benchyard.analysis.comparison.wording import remarks
from benchyard.core.errors import InputError
from benchyard.statistics.comparison import Verdict

#: What stands before a remark, the gravest first.
REMARKS = (
    (Weight.OTHER_WORK, "notice"),
    (Weight.WARNING, "warning"),
    (Weight.CHANGE, "changed"),
)


@dataclass(frozen=True, slots=True)
class ComparisonRequest:
    """How sides are compared.

    Args:
        reference: Name of the side that the others are compared with; None is the first.
        pairs: Id of a step of the reference to that of the same step on the other sides.
        same_host: Whether the campaign before is looked for on the same host first.
    """

    rule: Rule = field(default_factory=lambda: Rule(other_work=True))
    reference: str | None = None
    pairs: Mapping[str, str] = field(default_factory=dict[str, str])
    against: Against = Against.REFERENCE
    order: RowOrder = RowOrder.CASE
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
        one, _, other = text.partition("=")
        if not (one and other) or one in found or other in found.values():
            what = "write ids as REFERENCE=OTHER, such as q01=q1, each id once"
            raise InputError(f"{text!r}: {what}")
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
    return Answer(in_order(found, asked.order), names)


def _with_before(side: Side, asked: ComparisonRequest) -> Comparison:
    before = _of_same_host(side.cases) if asked.same_host else {}
    before = before or read_before(side.cases)
    return compare(pair(before, side.cases), replace(asked.rule, other_work=False))


def _of_same_host(cases: Mapping[str, RunSet]) -> dict[str, RunSet]:
    found = {title: previous_of_host(one) for title, one in cases.items()}
    return {title: before for title, before in found.items() if before is not None}


def shared_remarks(pairs: Sequence[CasePair], weight: Weight) -> dict[str, list[str]]:
    """Return each remark on some pairs once, with the candidates that it is about.

    Where two candidates are compared with each other, nothing is said of them again.
    """
    said: dict[str, dict[str, None]] = {}
    for one in pairs:
        for text in () if one.neutral else remarks(one, weight):
            said.setdefault(text, {})[one.candidate_side] = None
    return {text: list(sides) for text, sides in said.items()}


def told_remarks(
    comparison: Comparison, called: Callable[[Sequence[str]], str]
) -> Iterator[tuple[str, str]]:
    """Yield each remark, the gravest first: a word, and a sentence that names one side of several.

    Args:
        called: Returns what people call some sides.
    """
    several = len(comparison.side_pairs) > 1
    for weight, word in REMARKS:
        for text, sides in shared_remarks(comparison.pairs, weight).items():
            yield word, f"{called(sides)}: {text}" if several else text


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
