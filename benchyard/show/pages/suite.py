"""The table of a suite's cases, as its summary shows it."""

from collections.abc import Iterable, Mapping

from benchyard.core.model import Json
from benchyard.show.pages.markdown import cell


def suite_table(rows: Iterable[Mapping[str, object]]) -> list[Json]:
    """Return the rows of a suite as a table artifact holds them: escaped, floats rounded.

    Args:
        rows: One for each case; a row's keys are the columns, the same in all of them.
    """
    return [{cell(name): _shown(value) for name, value in row.items()} for row in rows]


def _shown(value: object) -> Json:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return value
    return f"{value:.4g}" if isinstance(value, float) else cell(value)
