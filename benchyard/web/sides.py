"""The address of a comparison: its sides and its options."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlencode

from fastapi import Depends
from fastapi import Query as Parameter
from pydantic import AfterValidator, BaseModel, ConfigDict

from benchyard.analysis.comparison.request import Against, ComparisonRequest, parse_step_pairs
from benchyard.analysis.comparison.rows import Rule
from benchyard.analysis.comparison.run_sets import RunSelection
from benchyard.analysis.comparison.samples import DURATION
from benchyard.analysis.comparison.sides import Side, sides_in, together
from benchyard.analysis.comparison.tables import RowOrder
from benchyard.catalogue.catalogue import Catalogue
from benchyard.catalogue.entry import RUN, CaseEntry, Entry
from benchyard.core.amounts import parse_percent
from benchyard.core.errors import InputError, NotFoundError
from benchyard.core.wording import in_short, named_runs, parse_runs, quote
from benchyard.results.campaigns import is_earlier
from benchyard.results.folders import run_number
from benchyard.results.trust import Suspect
from benchyard.web.explorer import Current

_SIDE = re.compile(
    r"(?P<ids>[0-9a-f]{16}(?:,[0-9a-f]{16})*)(?:@(?P<runs>[^:]*))?(?::(?P<step>.+))?", re.DOTALL
)
#: More of these make a page that takes seconds and that nobody reads.
MOST_SIDES, MOST_RUNS = 200, 2_000


@dataclass(frozen=True, slots=True)
class Chosen:
    """A side that was chosen, before its runs are read.

    Args:
        text: As a lasting address has it.
        given: As it stands in the address.
        title: Of its case.
        path: Of its results folder, below the root.
        href: Its page.
        count: How many runs it has at most.
    """

    text: str
    given: str
    title: str
    path: str
    href: str
    selection: RunSelection
    count: int
    step: str | None = None

    @property
    def command(self) -> str:
        """The same side for ``benchyard compare``."""
        runs = self.selection.runs
        of_runs = "" if runs is None else f"@{in_short(runs)}"
        return f"{self.selection.folder}{of_runs}" + (f":{self.step}" if self.step else "")

    def label(self, step: str | None, *, with_path: bool) -> str:
        """Return what people read.

        Args:
            step: Id of the step that it is about.
            with_path: Whether others have the same title.
        """
        runs = self.selection.runs
        told = [self.title, *([named_runs(runs)] if runs else []), *([step] if step else [])]
        return ", ".join(told) + (f" ({self.path})" if with_path else "")


def choose(catalogue: Catalogue, texts: Sequence[str]) -> list[Chosen]:
    """Look up the sides of an address; a line of a text is a side.

    Raises:
        InputError: If one is not written so, names nothing, or there are too many.
    """
    lines = _lines(texts)
    if len(lines) > MOST_SIDES:
        raise InputError(f"{len(lines):,} sides are too many; choose {MOST_SIDES} at most")
    found = [_chosen(catalogue, line) for line in dict.fromkeys(lines)]
    found = list({one.text: one for one in found}.values())
    runs = sum(one.count for one in found)
    if runs > MOST_RUNS:
        raise InputError(
            f"{runs:,} runs are too many to compare in a browser; choose {MOST_RUNS:,} at most, "
            "such as CASE@1-50, or use benchyard compare"
        )
    return found


def read_chosen(chosen: Sequence[Chosen]) -> list[tuple[Chosen, Side]]:
    """Read the runs of every side; a side whose step is a glob becomes one for each step.

    Raises:
        InputError: If there are no such runs or steps, or some sides name a step and others do not.
    """
    found = [(one, side) for one in chosen for side in sides_in(one.selection, one.step)]
    sides = together([side for _, side in found])
    return [(one, side) for (one, _), side in zip(found, sides, strict=True)]


def labels(sides: Sequence[tuple[Chosen, Side]]) -> dict[str, str]:
    """Return how each side is called on a page, by its name."""
    plain = [one.label(side.step, with_path=False) for one, side in sides]
    return {
        side.name: one.label(side.step, with_path=plain.count(label) > 1)
        for (one, side), label in zip(sides, plain, strict=True)
    }


def _chosen(catalogue: Catalogue, text: str) -> Chosen:
    found = _SIDE.fullmatch(text)
    if found is None:
        raise InputError(
            f"'{quote(text)}' is no side; write the id of a case or run, such as "
            "0123456789abcdef, 0123456789abcdef@1-5 or 0123456789abcdef:step"
        )
    ids = found["ids"].split(",")
    try:
        case = catalogue.case(ids[0])
    except NotFoundError:
        return _of_runs(text, [catalogue.entry(one) for one in ids], found)
    if len(ids) > 1:
        raise InputError(f"'{quote(text)}' joins cases; give each case as a side of its own")
    runs = None if found["runs"] is None else parse_runs(found["runs"])
    return Chosen(
        text=case.id + text[found.end("ids") :],
        given=text,
        title=case.title or case.path,
        path=case.path,
        href=f"/case/{case.id}",
        selection=RunSelection(case.results, runs),
        count=case.runs if runs is None else len(runs),
        step=found["step"],
    )


def _of_runs(text: str, entries: Sequence[Entry], found: re.Match[str]) -> Chosen:
    first, folders = entries[0], {entry.place.parent for entry in entries}
    numbers = [run_number(one.place.name) if one.format == RUN else None for one in entries]
    if None in numbers:
        other = entries[numbers.index(None)]
        raise InputError(f"{quote(other.path)} is no run, and only runs are compared")
    if len(folders) > 1:
        raise InputError(f"'{quote(text)}' joins runs of several cases; give each case as a side")
    if found["runs"] is not None:
        raise InputError(f"'{quote(text)}': numbers of runs stand behind a case, not behind runs")
    chosen = tuple(sorted({number for number in numbers if number}))
    return Chosen(
        text=",".join(entry.id for entry in entries) + text[found.end("ids") :],
        given=text,
        title=first.title or first.path,
        path=first.place.parent.relative_to(first.root).as_posix(),
        href=f"/run/{first.id}",
        selection=RunSelection(first.place.parent, chosen),
        count=len(chosen),
        step=found["step"],
    )


def _lines(texts: Iterable[str]) -> list[str]:
    return [line.strip() for text in texts for line in text.splitlines() if line.strip()]


Lines = Annotated[list[str], AfterValidator(_lines)]


class AddressedComparison(BaseModel):
    """The parameters of a comparison's address.

    ``choose`` looks up each side: ``CASE``, ``CASE@1-5`` or ``RUN,RUN``, by their ids.

    All that is ``a``, and all that is ``b``, is one side each. Of cases that were ticked, the one
    that was measured first is the reference.
    """

    model_config = ConfigDict(str_strip_whitespace=True)

    side: Lines = []
    ticked: Literal["", "yes"] = ""
    a: Lines = []
    b: Lines = []
    metric: Lines = []
    step: Lines = []
    pair: Lines = []
    reference: str = ""
    against: Against = Against.REFERENCE
    sort: RowOrder = RowOrder.CASE
    threshold: str = ""
    level: str = ""
    suspect: Suspect = Suspect.AUTO
    session_sd: str = ""
    in_turns: Literal["", "yes"] = ""

    @property
    def request(self) -> ComparisonRequest:
        """What is asked of the comparison.

        Raises:
            InputError: If an option is not written as the command line wants it.
        """
        rule = Rule(
            metrics=tuple(self.metric) or (DURATION,),
            threshold=parse_percent(self.threshold or "1%"),
            level=parse_percent(self.level or "1%"),
            suspect=self.suspect,
            other_work=True,
            steps=tuple(self.step),
            session_sd=parse_percent(self.session_sd) if self.session_sd else None,
            in_turns=bool(self.in_turns),
        )
        if not 0 < rule.level < 1:
            raise InputError("the level lies between 0% and 100%")
        pairs, reference = parse_step_pairs(self.pair), self.reference or None
        return ComparisonRequest(rule, reference, pairs, self.against, self.sort, same_host=True)

    @property
    def values(self) -> dict[str, Any]:
        """The options that were given, as parameters of an address."""
        return self.model_dump(mode="json", exclude={"side"}, exclude_defaults=True)

    def called(self, names: Mapping[str, str]) -> Self:
        """Return the same with other names of the sides, each once."""
        sides = list(dict.fromkeys(names.get(one, one) for one in self.side))
        reference = names.get(self.reference, self.reference)
        return self.model_copy(update={"side": sides, "reference": reference})

    def with_sides(self, sides: Sequence[str]) -> Self:
        """Return the same of other sides, the first of which is the reference."""
        return self.model_copy(update={"side": sides, "reference": ""})

    @property
    def swapped(self) -> Self:
        """The same of two sides with the other one as the reference."""
        first = self.reference or self.side[0]
        return self.with_sides(sorted(self.side, key=lambda one: one == first))

    def query(self, **more: str) -> str:
        """Return the parameters as they stand in an address, with ``?``."""
        return "?" + urlencode({"side": self.side, **self.values, **more}, doseq=True)


async def _asked(
    explorer: Current, given: Annotated[AddressedComparison, Parameter()]
) -> AddressedComparison:
    """Gather the sides of an address, however they were chosen."""
    sides = _lines([",".join(given.a), ",".join(given.b), *given.side])
    if given.ticked and given.side:
        sides = [one.id for one in by_time(map(explorer.catalogue.case, given.side))]
    return given.model_copy(update={"side": sides, "a": [], "b": [], "ticked": ""})


AskedFor = Annotated[AddressedComparison, Depends(_asked)]


def by_time(cases: Iterable[CaseEntry]) -> list[CaseEntry]:
    """Sort cases by their newest run; where times are equal, earlier campaigns come first."""
    return sorted(cases, key=lambda one: (one.newest_s or 0.0, not is_earlier(one.results)))
