"""In what traces differ, as a table, a JSON document, CSV and a sentence."""

from collections.abc import Sequence

from benchyard.analysis.comparison.wording import change, p_value, signed
from benchyard.core.model import Json
from benchyard.core.quantity import amount, percent, plural
from benchyard.core.table import LONG, NUMBER, Cell, Column, Row, Table
from benchyard.show.traces.report import name_cell
from benchyard.statistics.comparison import Verdict
from benchyard.traces.difference import Measure, NamedDifference

_WORDS = {
    Verdict.NO_CHANGE_SHOWN: "no difference shown",
    Verdict.CANNOT_TELL: "cannot tell",
}
_MARKS = {Verdict.REGRESSION: "bad", Verdict.IMPROVEMENT: "good"}
#: What documents have of a difference, and tables for people do not.
_IN_DOCUMENTS = ("names", "unit", "baseline_n", "candidate_n", "difference_low", "difference_high")
#: What the CSV has not.
_NOT_IN_CSV = (*_IN_DOCUMENTS, "p_value", "interval")


def verdict_words(one: NamedDifference) -> str:
    """Return the verdict as a reader would say it, in the words of ``compare``."""
    verdict = one.judgement.verdict
    if verdict in _WORDS:
        significant = one.judgement.p_value <= one.difference.level and not one.difference.matters
        if verdict is Verdict.NO_CHANGE_SHOWN and significant and one.difference.shift:
            return f"differs by less than {percent(one.difference.threshold, 4)}"
        return _WORDS[verdict]
    more = (one.difference.shift or 0) > 0
    if one.unit == "s":
        return "slower" if more else "faster"
    return "more" if more else "less"


def differences_table(found: Sequence[NamedDifference], longest: int | None = None) -> Table:
    """Return differences; times in seconds. Without a head are columns for programs alone.

    Args:
        found: What differs.
        longest: Characters that people read of a name.
    """
    level = f"{percent(1 - found[0].difference.level, 4)} interval" if found else "Interval"
    columns = [
        Column("name", "Name", LONG),
        Column("measure", "Of"),
        Column("baseline_median", "Baseline", NUMBER),
        Column("candidate_median", "Candidate", NUMBER),
        Column("difference", "Difference", NUMBER),
        Column("ratio", "Change", NUMBER),
        Column("interval", level, NUMBER),
        *(Column("ratio_low"), Column("ratio_high"), Column("p_value")),
        Column("adjusted_p_value", "P", NUMBER),
        Column("verdict", "Verdict"),
        *map(Column, _IN_DOCUMENTS),
    ]
    rows = [_difference_row(one, longest) for one in found]
    return Table("difference", "Differences", columns, rows)


def _difference_row(one: NamedDifference, longest: int | None) -> Row:
    what, unit, verdict = one.difference, one.unit, one.judgement.verdict
    low, high = what.ratio_interval.low, what.ratio_interval.high
    interval = "-" if low is None or high is None else f"{change(low)} … {change(high)}"
    return [
        name_cell(one.names, longest),
        one.measure.value,
        Cell(what.baseline_median, amount(what.baseline_median, unit)),
        Cell(what.candidate_median, amount(what.candidate_median, unit)),
        Cell(what.shift, signed(what.shift, unit)),
        Cell(what.ratio, change(what.ratio)),
        Cell([low, high], interval),
        *(low, high, what.p_value),
        Cell(one.judgement.p_value, p_value(one.judgement.p_value)),
        Cell(verdict.value, verdict_words(one), mark=_MARKS.get(verdict, "")),
        *(list(one.names), unit, what.baseline_n, what.candidate_n),
        *(what.shift_interval.low, what.shift_interval.high),
    ]


def differences_document(found: Sequence[NamedDifference]) -> list[dict[str, Json]]:
    """Return all differences as JSON; times in seconds."""
    return differences_table(found).without(("name", "interval")).records()


def differences_csv(found: Sequence[NamedDifference]) -> str:
    """Return a line for each difference; times in seconds."""
    return differences_table(found).without(_NOT_IN_CSV).csv()


def differences_summary(found: Sequence[NamedDifference]) -> str:
    """Say in a sentence what is shown, of self times."""
    of_self = [one for one in found if one.measure is Measure.SELF]
    words = [verdict_words(one) for one in of_self if one.is_shown]
    more, less = (
        ("slower", "faster") if all(one.unit == "s" for one in of_self) else ("more", "less")
    )
    level = percent(found[0].difference.level, 4) if found else "1 %"
    return (
        f"{plural(len(of_self), 'name')}: {words.count(more)} {more}, "
        f"{words.count(less)} {less} by self time; {level} is the chance of even one false "
        "call among all names of a measure"
    )
