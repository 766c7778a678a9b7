"""LaTeX: every text is set as it is, and every table compiles."""

import re
import subprocess
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.core.wording import printable
from benchyard.show.export.latex import escaped, latex
from benchyard.show.export.paper import Figure, PaperTable

#: What LaTeX sets for each macro that may stand in a text.
_SET = {
    r"\textbackslash{}": "\\",
    r"\textasciicircum{}": "^",
    r"\textasciitilde{}": "~",
    r"\textless{}": "<",
    r"\textgreater{}": ">",
    r"\textbar{}": "|",
    r"\textasciigrave{}": "`",
    r"\textquotesingle{}": "'",
    r"\ensuremath{\pm}": "±",
    r"\ensuremath{\mu}": "µ",
    r'{\string"}': '"',
    "{-}": "-",
    **{f"\\{letter}": letter for letter in "{}$&#%_"},
}
_TOKEN = re.compile("|".join(map(re.escape, _SET)) + r"|(?P<active>[\\{}$&#%_^~<>|`'\"-])|.")
NAMES = [
    r"\input{/etc/passwd}",
    "[opt] *star",
    "*x",
    "%comment $x$ #1 ~ ^ ^^41",
    r"a & b \\ c",
    "-- --- <<>> ?` !` ``''",
    "é ü ß µ ± §",
    "\ud800 \x00\u202e \n",
    "",
    '"quoted"',
]


def set_text(text: str) -> str:
    """Return what LaTeX would set for a text in braces; anything active but a known macro fails."""
    assert (text[0], text[-1]) == ("{", "}")
    found: list[str] = []
    for token in _TOKEN.finditer(text[1:-1]):
        assert token["active"] is None, text
        found.append(_SET.get(token[0], token[0]))
    return "".join(found)


@given(st.text() | st.text(alphabet="\\{}$&#%_^~<>|`'\"-[]*µ± \n") | st.sampled_from(NAMES))
def test_a_text_is_set_as_it_is(text: str) -> None:
    assert set_text(escaped(text)) == printable(" ".join(text.split()))


FIGURES = [
    Figure(Decimal("12.35"), Decimal("0.25")),
    Figure(Decimal("-1.234"), Decimal("0.012")),
    Figure(Decimal(1234000), Decimal(12000)),
    Figure(Decimal("0.000012"), Decimal("0.000003")),
    None,
    Figure(Decimal(1000), Decimal(0)),
    Figure(Decimal("3.14")),
]


def table(names: list[str]) -> PaperTable:
    number = len(FIGURES)
    rows = [((name,), [FIGURES[at % number], FIGURES[-1]]) for at, name in enumerate(names)]
    return PaperTable("a_b: x", ("step",), (("time", "µs"), ("n", None)), rows, "± 95 %")


def test_a_table_has_a_row_for_each_step_and_columns_as_wide_as_their_figures() -> None:
    lines = [line.strip() for line in latex([table(["one", "two"])]).splitlines()]
    assert r"\caption{{a\_b: x}. {\ensuremath{\pm} 95 \%}}" in lines
    assert r"\label{tab:a-b-x}" in lines
    [columns] = [line for line in lines if line.startswith(r"\begin{tabular}{lS")]
    assert columns.count("table-format=-2.3(2)") == columns.count("table-format=1.2") == 1
    middle = lines.index(r"\midrule")
    assert lines[middle - 1 : middle + 3] == [
        r"{step} & {{time} (\unit{\micro\second})} & {n} \\",
        r"\midrule",
        r"{one} & 12.35 \pm 0.25 & 3.14 \\",
        r"{two} & -1.234 \pm 0.012 & 3.14 \\",
    ]


def test_a_cell_without_a_figure_is_a_dash() -> None:
    assert "{five} & {--} & 3.14" in latex([table(["1", "2", "3", "4", "five"])])


@pytest.mark.long
@pytest.mark.requires("pdflatex")
def test_hostile_tables_compile(tmp_path: Path) -> None:
    (tmp_path / "made.tex").write_text(latex([table(NAMES), table(NAMES)]))
    (tmp_path / "paper.tex").write_text(
        r"\documentclass{article}\usepackage{booktabs,siunitx}"
        r"\begin{document}\input{made}\end{document}"
    )
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "paper.pdf").stat().st_size > 1000
