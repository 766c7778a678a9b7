"""Advice about many steps on few lines: what differs in numbers alone is said once."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from benchyard.core.wording import in_short

_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
#: Steps, or ranges of them, that a line names by number.
_NAMED = 12


def digest(advised: Iterable[tuple[int, str, str]], most: int | None = None) -> list[str]:
    """Return the lines to show, the most urgent first.

    Args:
        advised: Index and name of a step, and a piece of advice about it, in the steps' order;
            of one step the most urgent first.
        most: Lines; the last says how many are left out. None shows all.
    """
    groups: dict[str, list[tuple[int, str, str]]] = {}
    urgency, seen = dict[str, int](), Counter[int]()
    for one in advised:
        kind = _NUMBER.sub("#", one[2])
        groups.setdefault(kind, []).append(one)
        urgency.setdefault(kind, seen[one[0]])
        seen[one[0]] += 1
    lines = [_line(groups[kind]) for kind in sorted(groups, key=urgency.__getitem__)]
    if most is None or len(lines) <= most:
        return lines
    return [
        *lines[: most - 1],
        f"{lines[most - 1]}; {len(lines) - most} more: benchyard stats --verbose",
    ]


def _line(group: Sequence[tuple[int, str, str]]) -> str:
    index, name, text = group[0]
    if len(group) == 1:
        return f"step {index} {name}: {text}"
    parts = in_short([index for index, _, _ in group]).split(",")
    more = " and more" if len(parts) > _NAMED else ""
    steps = ", ".join(parts[:_NAMED])
    return f"steps {steps}{more}: {_merged([text for _, _, text in group])}"


def _merged(texts: Sequence[str]) -> str:
    """Write texts as one; numbers in which they differ become ``least..most``."""
    columns = zip(*(_NUMBER.findall(text) for text in texts), strict=True)
    merged = iter([_range(column) for column in columns])
    return _NUMBER.sub(lambda _: next(merged), texts[0])


def _range(numbers: Sequence[str]) -> str:
    ordered = sorted(set(numbers), key=lambda number: float(number.replace(",", "")))
    return ordered[0] if len(ordered) == 1 else f"{ordered[0]}..{ordered[-1]}"
