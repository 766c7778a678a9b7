"""Tables."""

import pytest

from benchyard.core.table import (
    CODE,
    COUNT,
    LONG,
    MARKDOWN,
    MOMENT,
    NUMBER,
    SECONDS,
    SHARE,
    Cell,
    Column,
    Kind,
    Row,
    Table,
    csv_text,
    text_table,
)

COLUMNS = (
    Column("step", "Step"),
    Column("runs", "Runs", COUNT),
    Column("median_s", "Median", SECONDS, href="?sort=median", order="ascending"),
    Column("", "Ended"),
    Column("id"),
)
ROWS: list[Row] = [
    ["load", 1200, 0.25, Cell(None, "failed", mark="bad"), "a"],
    [Cell("a|b\n<i>", href="/x?a&b"), 3, None, "-", {"of": 1}],
]
TABLE = Table("steps", "Steps", COLUMNS, ROWS, notes=["Of *all* runs."])


def test_lines_are_aligned_and_hold_nothing_that_a_terminal_obeys() -> None:
    assert TABLE.lines() == [
        "Step       Runs    Median  Ended",
        "load      1,200  250.0 ms  failed",
        "a|b\\n<i>      3         -  -",
    ]


def test_marks_are_styled_once_texts_are_aligned() -> None:
    styled = TABLE.lines(lambda text, mark: f"[{mark} {text}]")
    assert [line.split("  ")[-1] for line in styled] == ["Ended", "[bad failed]", "-"]


def test_markdown_escapes_and_links_and_signs() -> None:
    head, marks, first, second, _, note = TABLE.markdown().splitlines()
    assert (head, marks) == ("| Step | Runs | Median | Ended |", "| --- | ---: | ---: | --- |")
    assert first == "| load | 1,200 | 250.0 ms | ❌ failed |"
    assert second == r"| [a\|b \<i\>](/x?a&b) | 3 | - | - |"
    assert note == r"Of \*all\* runs."


def test_html_escapes_and_links() -> None:
    head, body = TABLE.html().split("<tbody>")
    assert '<th scope="col" class="figure" aria-sort="ascending"><a href="?sort=median">' in head
    assert '<td><a href="/x?a&amp;b">a|b\n&lt;i&gt;</a></td>' in body
    assert '<td class="figure">1,200</td>' in body
    assert '<td class="bad">failed</td></tr>' in body
    assert "\u202e" not in Table("", "", COLUMNS[:1], [["\u202e"]]).html()
    assert "<th>box</th>" in TABLE.html(["<th>box</th>", "<td></td>", "<td></td>"])


def test_programs_read_values_with_keys() -> None:
    assert TABLE.records()[0] == {"step": "load", "runs": 1200, "median_s": 0.25, "id": "a"}
    assert TABLE.csv().splitlines()[:2] == ["step,runs,median_s,id", "load,1200,0.25,a"]
    assert TABLE.csv(head=False).splitlines()[-1] == 'a|b\\n<i>,3,,"{""of"":1}"'


def test_columns_and_rows_can_be_left_out() -> None:
    shown = TABLE.without(("step", "Ended", "unknown"))
    assert shown.heads == ["Runs", "Median"]
    assert Table("", "", COLUMNS, ROWS[1:]).hiding_unknown().heads == ["Step", "Runs"]
    assert TABLE.hiding_unknown(["runs"]).heads == TABLE.heads
    assert TABLE.first(2, " in the CSV") == TABLE
    few = TABLE.first(1, " in the CSV")
    assert (len(few.rows), few.notes[-1]) == (1, "1 more in the CSV")
    assert text_table(("A", "B"), []).without(("B",)).lines() == ["A"]


@pytest.mark.parametrize(
    ("kind", "value", "shown"),
    [
        (NUMBER, 1234, "1234"),
        (NUMBER, 0.123456, "0.1235"),
        (SHARE, 0.5, "50 %"),
        (MOMENT, "2026-11-01T12:00:00+01:00", "2026-11-01 11:00:00"),
        (MOMENT, 0.0, "1970-01-01 00:00:00"),
        (MOMENT, "no moment", "no moment"),
        (LONG, None, "-"),
    ],
)
def test_kinds_write_values(kind: Kind, value: str | float | None, shown: str) -> None:
    assert Table("", "", [Column("", "A", kind)], [[value]]).texts() == [[shown]]


def test_kinds_escape_for_markdown() -> None:
    columns = [Column("", "A", CODE), Column("", "B", MARKDOWN)]
    assert "| `a*b` | *b* |" in Table("", "", columns, [["a*b", "*b*"]]).markdown()


def test_csv_has_a_line_for_each_row_and_nothing_that_a_terminal_obeys() -> None:
    rows = [["a\nb", 'x,"y"', "\x1b[1m\x85é"], [None, 0.1, True]]
    assert csv_text(rows) == 'a\\nb,"x,""y""",\\x1b[1m\\x85é\n,0.1,True\n'
    assert csv_text([["a\x1b\nb"]], exact=True) == '"a\x1b\nb"\n'
