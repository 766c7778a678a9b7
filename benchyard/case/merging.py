"""What is wrong at the points of a matrix: each problem once, with the points that have it."""

from collections import ChainMap
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from benchyard.case.problems import Finding
from benchyard.case.shape import value_at
from benchyard.core.model import Json, JsonObject, plain, point_suffix
from benchyard.core.wording import Sentence, quote

#: Points that are named; of more the number is told.
_NAMED = 3
#: Findings of all points together, after which no further point is looked at.
MOST_FINDINGS = 50_000


@dataclass(frozen=True, slots=True)
class _Having:
    """The points that have one finding.

    Args:
        alike: What the finding has in common with those that differ from it in values alone.
    """

    points: list[JsonObject]
    alike: Finding


class AtPoints:
    """Collects findings, point by point.

    Args:
        document: With its references to the matrix.
    """

    def __init__(self, document: JsonObject) -> None:
        self._document = document
        self._found: dict[Finding, _Having] = {}
        self._looked_at = 0

    def note(self, point: JsonObject, filled: JsonObject, findings: list[Finding]) -> bool:
        """Take in what is wrong at one point; return whether another one is to be looked at.

        Args:
            filled: The document at this point.
        """
        self._looked_at += 1
        references = dict(_references(self._document, filled)) if findings else {}
        for finding in dict.fromkeys(findings):
            if finding not in self._found:
                self._found[finding] = _Having([], self._alike(finding, filled, references))
            self._found[finding].points.append(point)
        return len(self._found) < MOST_FINDINGS

    def _alike(self, finding: Finding, filled: JsonObject, references: dict[str, str]) -> Finding:
        """Put what the document has in the place of values: of this path, and of all others."""
        path, message = finding
        written, value = value_at(self._document, path), value_at(filled, path)
        if isinstance(message, Sentence):
            here = ChainMap(dict(_references(written, value)), references)
            return path, message.with_references(here)
        # Plain text, of a resource class: the value of this path, if it stands there once.
        parts = message.split(plain(value)) if isinstance(written, str) and value != "" else []
        return path, str(written).join(parts) if len(parts) == 2 else message

    def findings(self) -> Iterator[Finding]:
        """Yield each problem once; messages that differ in values of the matrix alone are one."""
        merged: dict[Finding, list[Finding]] = {}
        for finding, having in self._found.items():
            merged.setdefault(having.alike, []).append(finding)
        for each in merged.values():
            points = [point for finding in each for point in self._found[finding].points]
            path, message = each[0]
            yield path, message + self._where(points, one=len(each) == 1)

    def _where(self, points: list[JsonObject], *, one: bool) -> str:
        """Say which points have a problem.

        Args:
            one: Whether its message is the same at all of them; else it is that of the first.
        """
        count, looked_at = len(points), self._looked_at
        if looked_at == 1:
            return ""
        names = [quote(point_suffix(point)) for point in points[:_NAMED]]
        if count == 1:
            return f" (at {names[0]})"
        where = f"in all {count:,} points"
        if count < looked_at:
            more = ", …" if count > _NAMED else ""
            where = f"in {count:,} of {looked_at:,} points: {', '.join(names)}{more}"
        return f" ({where})" if one else f" (at {names[0]}; alike {where})"


def _references(written: Json, filled: Json) -> Iterator[tuple[str, str]]:
    """Yield texts that came from the matrix, as messages show them, with what is written there."""
    if written is filled:
        return
    if isinstance(written, str):
        yield from ((text, written) for text in (plain(filled), quote(filled)))
    elif isinstance(written, list) and isinstance(filled, list):
        yield from chain.from_iterable(map(_references, written, filled))
    elif isinstance(written, dict) and isinstance(filled, dict):
        for key in filled:
            yield from _references(written.get(key), filled[key])
