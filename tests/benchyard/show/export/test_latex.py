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
    Figure(Decimal("12.35"), (Decimal("0.25"), Decimal("0.10"))),
    Figure(Decimal("-1.234"), (Decimal("0.012"), Decimal("0.000"))),
    None,
]


def table(names: list[str], spanner: str | None = None) -> PaperTable:
    rows = [((name,), [FIGURES[at % 3], Figure(Decimal(3))]) for at, name in enumerate(names)]
    return PaperTable("a_b: x", ("step",), ("time (µs)", "n"), rows, "95 %", spanner)


BODY = [
    r"{step} & {time (\ensuremath{\mu}s)} & {n} \\",
    r"\midrule",
    r"{one} & $12.35^{+0.25}_{-0.10}$ & $3$ \\",
    r"{two} & $-1.234^{+0.012}_{-0.000}$ & $3$ \\",
    r"{three} & -- & $3$ \\",
    r"\bottomrule",
    r"\end{tabular}",
]


def test_a_float_has_caption_and_label() -> None:
    lines = [line.strip() for line in latex([table(["one", "two", "three"])]).splitlines()]
    assert lines[-14:-8] == [
        r"\begin{table}",
        r"\centering",
        r"\caption{{a\_b: x}. {95 \%}}",
        r"\label{tab:a-b-x}",
        r"\begin{tabular}{lrr}",
        r"\toprule",
    ]
    assert lines[-8:] == [*BODY, r"\end{table}"]


def test_the_tabular_of_a_parameter_stands_alone_below_a_head_of_its_own() -> None:
    made = latex([table(["one", "two", "three"], "time by x_y")])
    lines = [line.strip() for line in made.splitlines() if not line.startswith("%")]
    assert lines == [
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r"& \multicolumn{2}{c}{{time by x\_y}} \\",
        r"\cmidrule(lr){2-3}",
        *BODY,
    ]


@pytest.mark.long
@pytest.mark.requires("pdflatex")
def test_hostile_tables_compile(tmp_path: Path) -> None:
    (tmp_path / "made.tex").write_text(latex([table(NAMES), table(NAMES, NAMES[0])]))
    (tmp_path / "paper.tex").write_text(
        r"\documentclass{article}\usepackage{booktabs}"
        r"\begin{document}\input{made}\end{document}"
    )
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "paper.pdf").stat().st_size > 1000
