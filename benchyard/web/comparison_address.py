"""What stands in the address of a comparison."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal
from urllib.parse import urlencode

from fastapi import Depends
from fastapi import Query as Parameter
from pydantic import BaseModel

from benchyard.analysis.comparison.request import Against, ComparisonRequest, parse_step_pairs
from benchyard.analysis.comparison.rows import Rule
from benchyard.analysis.comparison.samples import DURATION
from benchyard.analysis.comparison.tables import RowOrder
from benchyard.catalogue.entry import CaseEntry
from benchyard.core.amounts import parse_percent
from benchyard.core.errors import InputError
from benchyard.results.campaigns import is_earlier
from benchyard.results.trust import Suspect
from benchyard.web.explorer import Current

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
        name: _written([value] if isinstance(value, str) else value)
        for name, value in unusual.items()
    }
    sides = [",".join(given.a), ",".join(given.b), *given.side]
    if given.ticked and given.side:
        sides = [one.id for one in by_time(map(explorer.catalogue.case, given.side))]
    return AddressedComparison(
        _written(sides), {name: texts for name, texts in values.items() if texts}
    )


def _written(texts: Iterable[str]) -> list[str]:
    return [line.strip() for text in texts for line in text.splitlines() if line.strip()]


AskedFor = Annotated[AddressedComparison, Depends(_asked)]


def by_time(cases: Iterable[CaseEntry]) -> list[CaseEntry]:
    """Sort cases by their newest run; where times are equal, earlier campaigns come first."""
    return sorted(cases, key=lambda one: (one.newest_s or 0.0, not is_earlier(one.results)))
