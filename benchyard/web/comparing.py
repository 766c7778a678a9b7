"""What an address asks of a comparison, the answer, and how people read it."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from benchyard.analysis.comparison.request import Answer, answer
from benchyard.analysis.comparison.run_sets import RunSet
from benchyard.analysis.comparison.sides import means_several
from benchyard.catalogue.catalogue import Catalogue
from benchyard.catalogue.entry import identified
from benchyard.catalogue.query import EntryQuery
from benchyard.core.errors import InputError
from benchyard.core.table import LONG, MOMENT, NUMBER, TEXT, Cell, Field
from benchyard.core.wording import in_short, quote
from benchyard.results.campaigns import campaigns_before
from benchyard.results.record import RunRecord
from benchyard.results.subject import about, subject_of
from benchyard.web.explorer import Current
from benchyard.web.report.comparisons import sides_of
from benchyard.web.sides import AddressedComparison, AskedFor, Chosen, choose, labels, read_chosen
from benchyard.web.tables import DataTable, table_of

#: A page has a row for each step of each two sides.
_MOST_PAIRS = 400
#: How a comparison calls the campaign before, where one side was chosen.
_BEFORE = "baseline"
#: Of so many cases with the newest runs the campaigns tell how much sessions vary.
_OTHER_CASES = 20


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison that an address asked for.

    Args:
        labels: Name of a side to what people read.
        hrefs: Name of a side to its page.
    """

    answer: Answer
    chosen: Sequence[Chosen]
    labels: Mapping[str, str]
    hrefs: Mapping[str, str]

    @property
    def run_sets(self) -> list[tuple[str, RunSet]]:
        """The runs of each case of each side, with the side's name; the reference first."""
        return sides_of(self.answer.comparison)

    @property
    def is_with_before(self) -> bool:
        """Whether one side is compared with its campaign before."""
        return _BEFORE in self.labels

    def in_order(self, reference: str | None) -> list[Chosen]:
        """Return what was chosen, the reference first."""
        return sorted(self.chosen, key=lambda one: reference not in (one.text, one.given))

    def label(self, name: str) -> str:
        """Return what people read for a side's name."""
        return self.labels.get(name, name)


def compared(explorer: Current, addressed: AskedFor) -> Compared:
    """Compare the sides of an address.

    Raises:
        InputError: If sides cannot be read or are not comparable, or are too many.
    """
    asked, catalogue = addressed.request, explorer.catalogue
    chosen = choose(catalogue, addressed.side)
    if not chosen:
        raise InputError("choose a case, or two sides or more")
    sides = read_chosen(chosen)
    pairs = len(sides) * (len(sides) - 1) // 2 if asked.against == "all" else len(sides) - 1
    if pairs > _MOST_PAIRS:
        raise InputError(
            f"{len(sides)} sides make {pairs:,} pairs, too many for a page; compare with the "
            "reference, or choose fewer sides"
        )
    if len(sides) == 1 and means_several(chosen[0].step or ""):
        [(one, side)] = sides
        raise InputError(f"'{quote(one.text)}' means step {side.step} alone; choose another side")
    runs = [run for _, side in sides for of in side.cases.values() for run in of.everything]
    # What was measured later does not change what is said of these.
    known = EntryQuery(until_s=max(run.began for run in runs).timestamp() + 1e-3)
    rule = replace(
        asked.rule,
        other_results=lambda: [one.results for one in catalogue.cases(known, limit=_OTHER_CASES)],
    )
    meant = [s.name for one, s in sides if asked.reference in (one.text, one.given, s.name)]
    reference = meant[0] if len(meant) == 1 else asked.reference
    made = answer([s for _, s in sides], replace(asked, rule=rule, reference=reference))
    called, hrefs = labels(sides), {side.name: one.href for one, side in sides}
    if len(sides) == 1:
        # Of one side and the campaign before, the pairs have names of their own.
        [(one, side)] = sides
        called = {_BEFORE: f"{one.title}, the campaign before", "candidate": called[side.name]}
        hrefs = {"candidate": one.href}
    return Compared(made, chosen, called, hrefs)


# -- for people


def sides_table(shown: Compared) -> DataTable:
    """Return what is compared: which runs, on which host, of which versions."""
    first, hrefs = shown.answer.comparison.pairs[0].baseline_side, shown.hrefs
    fields: Sequence[Field] = (
        ("role", "Role", TEXT, lambda one: "baseline" if one[0] == first else "candidate"),
        ("side", "Side", TEXT, lambda one: Cell(one[0], shown.label(one[0]), hrefs.get(one[0]))),
        ("runs", "Runs", TEXT, lambda one: _numbers(one[1])),
        ("failed", "Failed", NUMBER, lambda one: _failed(one[1])),
        ("measured", "Measured", LONG, lambda one: about(subject_of(_newest(one[1])))),
        ("newest", "Newest run (UTC)", MOMENT, lambda one: _newest(one[1]).started_at),
    )
    return table_of("sides", "What is compared", fields, shown.run_sets)


def _numbers(runs: RunSet) -> str:
    return f"{len(runs.records)} ({in_short(runs.numbers)})" if runs.records else "none"


def _failed(runs: RunSet) -> Cell:
    return Cell(len(runs.failed), mark="bad" if runs.failed else "")


def _newest(runs: RunSet) -> RunRecord:
    return max(runs.everything, key=lambda record: record.began)


def reversed_words(shown: Compared) -> Iterator[str]:
    """Yield a sentence for each case whose reference was measured after what is held against it."""
    for pair in shown.answer.comparison.pairs:
        one, other = pair.baseline, pair.candidate
        before, after = (max(run.began for run in side.everything) for side in (one, other))
        if before > after and one.title == other.title and not (pair.neutral or pair.of_same_runs):
            yield (
                f"{shown.label(pair.baseline_side)} is the baseline, but was measured after "
                f"{shown.label(pair.candidate_side)}: what got worse since then reads as an "
                "improvement"
            )


def exact_sides(catalogue: Catalogue, shown: Compared, reference: str | None) -> list[str]:
    """Return the sides with the numbers of their runs, so that later runs are not taken in."""
    sets = sorted((runs for _, runs in shown.run_sets), key=lambda runs: len(runs.everything))
    numbers = {runs.folder: f"@{in_short([r.run for r in runs.everything])}" for runs in sets}
    texts = [
        one.text
        if one.selection.runs
        else one.text[:16] + numbers[one.selection.folder] + one.text[16:]
        for one in shown.in_order(reference)
    ]
    if shown.is_with_before:
        folder = shown.answer.comparison.pairs[0].baseline.folder
        texts.insert(0, catalogue.case(identified(folder)).id + numbers[folder])
    return texts


# -- for a terminal


def command_of(shown: Compared, asked: AddressedComparison) -> str:
    """Return the command that makes the same comparison: its options have the address's names."""
    words = ["benchyard", "compare", *_command_sides(shown, asked.request.reference)]
    for name, given in asked.values.items():
        option, texts = f"--{name.replace('_', '-')}", [given] if isinstance(given, str) else given
        if name == "in_turns":
            words.append(option)
        elif name != "reference":  # it is the first side
            words += [word for text in texts for word in (option, text)]
    return shlex.join(words)


def _command_sides(shown: Compared, reference: str | None) -> list[str]:
    sides = [one.command for one in shown.in_order(reference)]
    first = shown.answer.comparison.pairs[0]
    # Alone, the command takes the newest campaign before, of whichever host.
    newest = next(iter(campaigns_before(first.candidate.folder)), None)
    if not shown.is_with_before or first.baseline.folder == newest:
        return sides
    return [str(first.baseline.folder), *sides]
