"""What is wrong at the points of a matrix: each problem once, with the points that have it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from benchyard.case.problems import Finding
from benchyard.case.shape import value_at
from benchyard.core.model import JsonObject, plain, point_suffix
from benchyard.core.wording import quote

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
        for finding in dict.fromkeys(findings):
            if finding not in self._found:
                self._found[finding] = _Having([], self._without_values(finding, point, filled))
            self._found[finding].points.append(point)
        return len(self._found) < MOST_FINDINGS

    def _without_values(self, finding: Finding, point: JsonObject, filled: JsonObject) -> Finding:
        """Put the references back that values came from: the text there, and whole words."""
        path, message = finding
        written = value_at(self._document, path)
        if isinstance(written, str):
            message = _replaced(message, plain(value_at(filled, path)), written)
        for name, value in point.items():
            message = _replaced(message, plain(value), f"${{matrix.{name}}}")
        return path, message

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


def _replaced(message: str, text: str, reference: str) -> str:
    """Put a reference in the place of a text where it stands as a word, or as several."""
    if not text or text not in message:
        return message
    return re.sub(rf"(?<!\w){re.escape(text)}(?!\w)", lambda _: reference, message)
