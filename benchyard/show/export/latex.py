r"""Tables for papers in LaTeX, for ``\usepackage{booktabs}``."""

import re
from collections.abc import Iterator, Sequence

from benchyard.core.model import slug
from benchyard.core.wording import printable
from benchyard.show.export.paper import Figure, PaperTable

#: What is active in LaTeX, or becomes another character in its fonts or by its ligatures.
_ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    "-": "{-}",
    "'": r"\textquotesingle{}",
    '"': r"{\string" + '"}',
    "±": r"\ensuremath{\pm}",
    "µ": r"\ensuremath{\mu}",
}
_PREAMBLE = (
    "% \\usepackage{booktabs}\n"
    "% Letters beyond Latin ones need LuaLaTeX or XeLaTeX, and a font that has them.\n"
)


def escaped(text: str) -> str:
    """Return a text that LaTeX sets as it is, within braces: no star or bracket ends a row."""
    plain = printable(" ".join(text.split()))
    return "{" + "".join(_ESCAPES.get(letter, letter) for letter in plain) + "}"


def latex(tables: Sequence[PaperTable]) -> str:
    """Return each table as a float; one with a column for each value is its tabular alone."""
    return _PREAMBLE + "\n\n".join(map(_table, tables)) + "\n"


def _table(table: PaperTable) -> str:
    labels, figures = len(table.labels), len(table.heads)
    heads = [escaped(head) for head in (*table.labels, *table.heads)]
    rows = [[*map(escaped, texts), *map(_cell, cells)] for texts, cells in table.rows]
    lines = [
        rf"\begin{{tabular}}{{{'l' * labels}{'r' * figures}}}",
        r"  \toprule",
        *(f"  {line}" for line in _spanner(table.spanner, labels, figures)),
        f"  {_row(heads)}",
        r"  \midrule",
        *(f"  {_row(row)}" for row in rows),
        r"  \bottomrule",
        r"\end{tabular}",
    ]
    if table.spanner is None:
        return "\n".join(_float(table, lines))
    return "\n".join([f"% {printable(table.title)}. {printable(table.note)}", *lines])


def _spanner(text: str | None, labels: int, figures: int) -> Iterator[str]:
    """Yield a head above all columns of figures, and the rule below it."""
    if text is not None:
        yield rf"{'& ' * labels}\multicolumn{{{figures}}}{{c}}{{{escaped(text)}}} \\"
        yield rf"\cmidrule(lr){{{labels + 1}-{labels + figures}}}"


def _float(table: PaperTable, lines: Sequence[str]) -> list[str]:
    return [
        r"\begin{table}",
        r"  \centering",
        f"  \\caption{{{escaped(table.title)}. {escaped(table.note)}}}",
        f"  \\label{{tab:{re.sub('[^A-Za-z0-9]+', '-', slug(table.title)).strip('-')}}}",
        *(f"  {line}" for line in lines),
        r"\end{table}",
    ]


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _cell(figure: Figure | None) -> str:
    if figure is None:
        return "--"
    if figure.interval is None:
        return f"${figure.value:f}$"
    above, below = figure.interval
    return f"${figure.value:f}^{{+{above:f}}}_{{-{below:f}}}$"
