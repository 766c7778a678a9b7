"""Is a case worse than it was? Its finished runs against a baseline, as ``benchyard compare`` does.

The comparison's default rule decides what is a regression.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from benchyard.analysis.comparison.document import document, markdown
from benchyard.analysis.comparison.gate import Regression, regressions_of, unjudged
from benchyard.analysis.comparison.places import open_results
from benchyard.analysis.comparison.request import pair
from benchyard.analysis.comparison.rows import Comparison, Rule
from benchyard.analysis.comparison.run_sets import (
    RunSelection,
    RunSet,
    parse_selection,
    previous_of_host,
    read_run_sets,
    results_folders,
)
from benchyard.analysis.comparison.sessions import SessionHistory
from benchyard.analysis.comparison.verdicts import (
    compare,
    joined,
    judged_together,
)
from benchyard.analysis.comparison.wording import (
    notes,
    summary,
)
from benchyard.core.errors import InputError
from benchyard.core.files import shown
from benchyard.core.model import Json, JsonObject
from benchyard.core.quantity import moment, plural
from benchyard.core.wording import printable
from benchyard.results.campaigns import campaigns_before
from benchyard.results.folders import Results
from benchyard.results.subject import differences, in_words, subject_of
from benchyard.statistics.comparison import Verdict

#: The baseline that is the campaign before; a folder of that name is written ``./previous``.
PREVIOUS = "previous"


@dataclass(frozen=True, slots=True)
class Looked:
    """The outcome of comparing a case with its baseline.

    Args:
        regressions: The worst first; empty is right.
        summary: What the comparison came to, or why there is none.
        against: What it was compared with; empty if it was not.
        page: All of the comparison, in Markdown.
        p_values: Of all of its tests, each alone.
        untold: Of how many steps and metrics nothing can be told.
        before: Folder with the runs that it was to be compared with; None if there are none.
        unjudged: Why a strict gate does not pass although nothing is worse; empty if it passes.
    """

    regressions: tuple[Regression, ...]
    summary: str
    against: str = ""
    page: str = ""
    p_values: tuple[float, ...] = ()
    untold: int = 0
    before: Path | None = None
    unjudged: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """The summary in short, with the worst regression."""
        worse = self.regressions
        if worse:
            counted = plural(len(worse), "regression")
            return f"{counted}: {worse[0].text} (against {self.against})"
        return self.summary


def check_baseline(baseline: str | None) -> None:
    """Refuse what cannot be a baseline, before anything is measured.

    Raises:
        InputError: If it names no folder and no report.
    """
    if baseline is not None and baseline != PREVIOUS:
        selection = parse_selection(baseline)
        if selection.folder.is_file():
            open_results(selection)


@dataclass(frozen=True, slots=True)
class LookedTogether:
    """The outcome of comparing many cases with their baseline.

    Args:
        cases: Of each case, in the order in which they were given.
        comparisons: Of those that could be compared.
    """

    cases: tuple[Looked, ...]
    comparisons: tuple[Comparison, ...]

    def to_json(self, titles: Sequence[str], baseline: str) -> JsonObject:
        """Return a comparison's document, with what could not be compared (``not_compared``).

        Args:
            titles: Of the cases.
            baseline: As the user wrote it.
        """
        untold: list[Json] = [
            {"case": title, "why": one.summary}
            for title, one in zip(titles, self.cases, strict=True)
            if not one.against
        ]
        one = joined(self.comparisons)
        about = {} if one is None else document(one, [baseline, "the finished runs"])
        return {**about, "not_compared": untold}


class Baseline:
    """Finished results that others are compared with; read once, for however many cases.

    Args:
        text: A folder with results of cases, a report, ``FOLDER@1-5``, or "previous": of each case
            the campaign before, on the same host.
        rule: By which they are compared.
    """

    def __init__(self, text: str, rule: Rule | None = None) -> None:
        self.text, self._rule = text, rule or Rule()

    @cached_property
    def _selection(self) -> RunSelection:
        return parse_selection(self.text)

    @cached_property
    def _run_sets(self) -> dict[str, RunSet]:
        """The baseline's runs of each case, by title; not of ``previous``."""
        return open_results(self._selection)

    def look(self, title: str, results: Path) -> Looked:
        """Compare the finished runs of a case, in its results folder, alone."""
        return self.look_at([(title, results)]).cases[0]

    def look_at(self, cases: Sequence[tuple[str, Path]]) -> LookedTogether:
        """Compare the finished runs of cases with those of this baseline, as one family of tests.

        What keeps one from being compared is told and not raised: the runs are done, and good.

        Args:
            cases: Title and results folder of each.
        """
        history = self._rule.history(results for _, results in cases)
        drafts = [self._draft(*case, history) for case in cases]
        able = [one for one in drafts if isinstance(one, _Draft)]
        judged = judged_together([one.compared for one in able])
        found = iter([_looked(*one) for one in zip(able, judged, strict=True)])
        return LookedTogether(
            tuple(one if isinstance(one, Looked) else next(found) for one in drafts), judged
        )

    def _draft(self, title: str, results: Path, history: SessionHistory) -> "_Draft | Looked":
        """Compare a case alone, or say why it cannot be."""
        place: Path | None = None
        try:
            sides = self._sides(title, results)
            if isinstance(sides, str):
                return Looked((), sides)
            before, after = sides
            place = before.folder
            compared = compare(pair({title: before}, {title: after}), self._rule, history)
        except (InputError, OSError) as error:
            why = f"not compared with the baseline: {error}"
            return Looked((), why, before=place, unjudged=(f"{printable(title)}: {why}",))
        previous = self.text == PREVIOUS
        against = _campaign_in_words(before, after) if previous else self.text
        return _Draft(compared, against, shown(before.folder) if previous else "")

    def _sides(self, title: str, results: Path) -> tuple[RunSet, RunSet] | str:
        """Return the runs of the baseline and of the candidate, or why there are none.

        Raises:
            InputError: If a record is damaged, or the baseline is no folder.
        """
        previous = self.text == PREVIOUS
        before = None if previous else self._run_sets.get(title)
        if before is None and not previous:
            return f"the baseline has no runs of {printable(title)}"
        selection = RunSelection(results) if before is None else self._others(results, before)
        after = read_run_sets(selection).get(title)
        if after is None or (previous and not after.records):
            return f"{printable(title)} has no finished run to compare"
        before = before or previous_of_host(after)
        return _first_on_host(after) if before is None else (before, after)

    def before(self, title: str, results: Path, *, begins: bool = False) -> RunSet | None:
        """Return the runs that a case will be compared with; None if there are none.

        Args:
            results: The case's folder, which need not be there yet.
            begins: Whether a new campaign begins, so that what is there will be the one before.

        Raises:
            InputError: If a record is damaged, or the baseline has none.
        """
        if self.text != PREVIOUS:
            return self._run_sets.get(title)
        if not results_folders(results):
            return None
        there = read_run_sets(RunSelection(results)).get(title)
        return there if there is None or begins else previous_of_host(there)

    def _others(self, results: Path, before: RunSet) -> RunSelection:
        """Select what is compared: of the baseline's own folder the runs that are not in it."""
        runs = self._selection.runs
        if runs is None or before.folder.resolve() != results.resolve():
            return RunSelection(results)
        there = {*Results(results).done(), *Results(results).failed()}
        return RunSelection(results, tuple(sorted(there - set(runs))))


@dataclass(frozen=True, slots=True)
class _Draft:
    """A case that was compared alone.

    Args:
        where: Folder of the campaign before; empty for a baseline that the user named.
    """

    compared: Comparison
    against: str
    where: str


def _first_on_host(after: RunSet) -> str:
    others = len(campaigns_before(after.folder))
    lost = f"; of {plural(others, 'earlier campaign')} none has values of this host"
    return f"nothing to compare with: it is the first campaign on this host{lost if others else ''}"


def _campaign_in_words(before: RunSet, after: RunSet) -> str:
    against = f"the campaign of {moment(min(r.began for r in before.records))}"
    skipped = campaigns_before(after.folder).index(before.folder)
    if skipped:
        against += f" ({plural(skipped, 'later campaign')} of another host or without values)"
    changes = in_words(differences(*(subject_of(side.records[-1]) for side in (before, after))))
    return f"{against}, of something else ({changes})" if changes else against


def _looked(draft: _Draft, compared: Comparison) -> Looked:
    told = summary(compared)
    if draft.where:
        why = f"; {'; '.join(notes(compared))}" if notes(compared) else ""
        short = told.partition(";")[0]
        told = printable(f"against {draft.against} in {draft.where}: {short}{why}")
    (one,) = compared.pairs
    page = markdown(compared, shown(one.baseline.folder), shown(one.candidate.folder))
    untold = compared.count(Verdict.CANNOT_TELL)
    p_values = tuple(row.difference.p_value for row in compared.asked if row.tested)
    worse = tuple(regressions_of(compared))
    return Looked(
        *(worse, told, draft.against, page, p_values, untold, one.baseline.folder),
        unjudged=tuple(f"{printable(one.title)}: {text}" for text in unjudged(compared)),
    )


def as_gate(cases: Sequence[Looked]) -> tuple[Looked, ...]:
    """Return the outcomes of all cases of one command, as a strict gate takes them.

    A case without a baseline is new, and lets it pass; where no case was compared, none does.
    """
    if any(one.against for one in cases):
        return tuple(cases)
    return tuple(replace(one, unjudged=one.unjudged or (one.summary,)) for one in cases)
