r"""Tables for papers in LaTeX, for ``\usepackage{booktabs,siunitx}``."""

import re
from collections.abc import Sequence
from decimal import Decimal

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
_UNITS = {"µs": r"\micro\second", "ns": r"\nano\second", "B/s": "B/s", "1/s": "1/s"}
_PREAMBLE = (
    "% \\usepackage{booktabs,siunitx} % siunitx 3 or later\n"
    "% Letters beyond Latin ones need LuaLaTeX or XeLaTeX, and a font that has them.\n"
)


def escaped(text: str) -> str:
    """Return a text that LaTeX sets as it is, within braces: no star or bracket ends a row."""
    plain = printable(" ".join(text.split()))
    return "{" + "".join(_ESCAPES.get(letter, letter) for letter in plain) + "}"


def latex(tables: Sequence[PaperTable]) -> str:
    """Return the tables, each a float with caption and label."""
    return _PREAMBLE + "\n".join(map(_table, tables))


def _table(table: PaperTable) -> str:
    columns = [_column([c[at] for _, c in table.rows]) for at in range(len(table.heads))]
    heads = [*map(escaped, table.labels), *(_head(*head) for head in table.heads)]
    rows = [[*map(escaped, labels), *map(_cell, cells)] for labels, cells in table.rows]
    lines = [
        r"\begin{table}",
        r"  \centering",
        f"  \\caption{{{escaped(table.title)}. {escaped(table.note)}}}",
        f"  \\label{{tab:{re.sub('[^A-Za-z0-9]+', '-', slug(table.title)).strip('-')}}}",
        rf"  \begin{{tabular}}{{{'l' * len(table.labels)}{''.join(columns)}}}",
        r"    \toprule",
        f"    {_row(heads)}",
        r"    \midrule",
        *(f"    {_row(row)}" for row in rows),
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _head(name: str, unit: str | None) -> str:
    if unit is None:
        return escaped(name)
    return f"{{{escaped(name)} (\\unit{{{_UNITS.get(unit, unit)}}})}}"


def _cell(figure: Figure | None) -> str:
    if figure is None:
        return "{--}"
    value = f"{figure.value:f}"
    return value if figure.half_width is None else f"{value} \\pm {figure.half_width:f}"


def _column(figures: Sequence[Figure | None]) -> str:
    """Return a column of siunitx that is as wide as its widest figure."""
    known = [figure for figure in figures if figure is not None]
    parts = [f"{abs(figure.value):f}".partition(".") for figure in known]
    whole = max((len(before) for before, _, _ in parts), default=1)
    decimals = max((len(after) for _, _, after in parts), default=0)
    sign = "-" if any(figure.value < 0 for figure in known) else ""
    form = f"{sign}{whole}.{decimals}" if decimals else f"{sign}{whole}.0"
    # As digits in brackets, 12.3 ± 4.5 is 12.3(45).
    widths = [len(_digits(f.half_width)) for f in known if f.half_width is not None]
    if widths:
        form += f"({max(widths)}), separate-uncertainty=true, table-align-uncertainty=false"
    return f"S[table-format={form}]"


def _digits(value: Decimal) -> str:
    return f"{value:f}".replace(".", "").lstrip("0") or "0"
