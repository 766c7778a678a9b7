"""The address of a comparison: its sides and its options."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal
from urllib.parse import urlencode

from fastapi import Depends
from fastapi import Query as Parameter
from pydantic import BaseModel

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
    numbers = [run_number(entry.place.name) for entry in entries if entry.format == RUN]
    if len(numbers) < len(entries) or None in numbers:
        other = next(one for one in entries if one.format != RUN or not run_number(one.place.name))
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


#: What chooses the sides; all else are options.
_SIDES = {"side", "ticked", "a", "b"}


@dataclass(frozen=True, slots=True)
class AddressedComparison:
    """What stands in an address, as it was written.

    Args:
        sides: Each in one of the forms of ``benchyard.web.sides``, or several in lines.
        values: The options that were given, as parameters of an address.
    """

    sides: Sequence[str]
    values: Mapping[str, Sequence[str]]

    @property
    def request(self) -> ComparisonRequest:
        """What is asked of the comparison.

        Raises:
            InputError: If an option is not written as the command line wants it.
        """
        given = self.values
        rule = Rule(
            metrics=tuple(given.get("metric", (DURATION,))),
            threshold=parse_percent(self.first("threshold", "1%")),
            level=parse_percent(self.first("level", "1%")),
            suspect=Suspect(self.first("suspect", Suspect.AUTO)),
            other_work=True,
            steps=tuple(given.get("step", ())),
            session_sd=parse_percent(sd) if (sd := self.first("session_sd", "")) else None,
            in_turns=bool(self.first("in_turns", "")),
        )
        if not 0 < rule.level < 1:
            raise InputError("the level lies between 0% and 100%")
        return ComparisonRequest(
            rule,
            self.first("reference", "") or None,
            parse_step_pairs(given.get("pair", ())),
            Against(self.first("against", Against.REFERENCE)),
            RowOrder(self.first("sort", RowOrder.CASE)),
            same_host=True,
        )

    def first(self, name: str, usual: str) -> str:
        """Return the value of an option that is given once."""
        return next(iter(self.values.get(name, ())), usual)

    def called(self, names: Mapping[str, str]) -> "AddressedComparison":
        """Return the same with other names of the sides."""
        values = {
            name: [names.get(text, text) for text in texts] if name == "reference" else texts
            for name, texts in self.values.items()
        }
        return AddressedComparison(
            list(dict.fromkeys(names.get(one, one) for one in self.sides)), values
        )

    def with_sides(self, sides: Sequence[str]) -> "AddressedComparison":
        """Return the same of other sides, the first of which is the reference."""
        return AddressedComparison(
            sides, {n: texts for n, texts in self.values.items() if n != "reference"}
        )

    @property
    def swapped(self) -> "AddressedComparison":
        """The same of two sides with the other one as the reference."""
        first = self.first("reference", self.sides[0])
        return self.with_sides(sorted(self.sides, key=lambda one: one == first))

    def query(self, **more: str) -> str:
        """Return the parameters as they stand in an address, with ``?``."""
        return "?" + urlencode({"side": self.sides, **self.values, **more}, doseq=True)


class _Parameters(BaseModel):
    """What may stand in an address.

    All that is ``a``, and all that is ``b``, is one side each. Of cases that were ticked, the one
    that was measured first is the reference.
    """

    side: list[str] = []
    ticked: Literal["", "yes"] = ""
    a: list[str] = []
    b: list[str] = []
    metric: list[str] = []
    step: list[str] = []
    pair: list[str] = []
    reference: str = ""
    against: Against = Against.REFERENCE
    sort: RowOrder = RowOrder.CASE
    threshold: str = ""
    level: str = ""
    suspect: Suspect = Suspect.AUTO
    session_sd: str = ""
    in_turns: Literal["", "yes"] = ""


async def _asked(
    explorer: Current, given: Annotated[_Parameters, Parameter()]
) -> AddressedComparison:
    """Take the options of an address; what is empty, as a form sends it, is left out."""
    unusual = given.model_dump(mode="json", exclude=_SIDES, exclude_defaults=True)
    values = {
        name: texts
        for name, value in unusual.items()
        if (texts := _lines([value] if isinstance(value, str) else value))
    }
    sides = [",".join(given.a), ",".join(given.b), *given.side]
    if given.ticked and given.side:
        sides = [one.id for one in by_time(map(explorer.catalogue.case, given.side))]
    return AddressedComparison(_lines(sides), values)


def _lines(texts: Iterable[str]) -> list[str]:
    return [line.strip() for text in texts for line in text.splitlines() if line.strip()]


AskedFor = Annotated[AddressedComparison, Depends(_asked)]


def by_time(cases: Iterable[CaseEntry]) -> list[CaseEntry]:
    """Sort cases by their newest run; where times are equal, earlier campaigns come first."""
    return sorted(cases, key=lambda one: (one.newest_s or 0.0, not is_earlier(one.results)))
