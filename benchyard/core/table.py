"""Tables of texts, rendered for the terminal or as Markdown; rows as CSV."""

import csv
import io
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from benchyard.core.wording import printable


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of texts below headed columns.

    Args:
        heads: Of the columns.
        rows: Of each as many cells as there are columns.
        figures: Heads of the columns that are aligned to the right.
    """

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    figures: Collection[str] = ()

    def without(self, heads: Collection[str]) -> "Table":
        """Return the table without the columns of these heads."""
        kept = [place for place, head in enumerate(self.heads) if head not in heads]
        heads, *rows = ([cells[place] for place in kept] for cells in (self.heads, *self.rows))
        return replace(self, heads=heads, rows=rows)

    def lines(self) -> list[str]:
        """Return the heads, and each row, as a line of aligned columns."""
        widths = [max(map(len, column)) for column in zip(self.heads, *self.rows, strict=True)]
        return [self._line(cells, widths) for cells in (self.heads, *self.rows)]

    def _line(self, cells: Sequence[str], widths: Iterable[int]) -> str:
        aligned = (
            cell.rjust(width) if head in self.figures else cell.ljust(width)
            for head, cell, width in zip(self.heads, cells, widths, strict=True)
        )
        return "  ".join(aligned).rstrip()

    def markdown(self) -> str:
        """Return the table as Markdown; its texts are escaped already."""
        marks = ["---:" if head in self.figures else "---" for head in self.heads]
        return "".join(f"| {' | '.join(cells)} |\n" for cells in (self.heads, marks, *self.rows))


def csv_text(rows: Iterable[Iterable[object]], *, exact: bool = False) -> str:
    """Return rows as CSV, a line each: RFC 4180 but for the line ends (LF); None is empty.

    Args:
        exact: Whether texts stay as they are, for a reader of ours; a terminal would obey them.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows(rows if exact else (map(_escaped, row) for row in rows))
    return text.getvalue()


def _escaped(cell: object) -> object:
    return printable(cell) if isinstance(cell, str) else cell
