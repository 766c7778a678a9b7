"""Tables."""

from benchyard.core.table import Table, csv_text

TABLE = Table(("A", "N", "B"), [("x", "1", "y"), ("long", "12", "")], ("N",))


def test_lines_are_aligned_and_end_with_their_texts() -> None:
    assert TABLE.lines() == ["A      N  B", "x      1  y", "long  12"]


def test_markdown_has_a_row_for_each() -> None:
    lines = ["| A | N | B |", "| --- | ---: | --- |", "| x | 1 | y |", "| long | 12 |  |", ""]
    assert TABLE.markdown() == "\n".join(lines)


def test_columns_can_be_left_out() -> None:
    assert TABLE.without(()).lines() == TABLE.lines()
    assert TABLE.without(("A", "unknown")).lines() == [" N  B", " 1  y", "12"]
    assert Table(("A", "B"), []).without(("B",)).lines() == ["A"]


def test_csv_has_a_line_for_each_row_and_nothing_that_a_terminal_obeys() -> None:
    rows = [["a\nb", 'x,"y"', "\x1b[1m\x85é"], [None, 0.1, True]]
    assert csv_text(rows) == 'a\\nb,"x,""y""",\\x1b[1m\\x85é\n,0.1,True\n'
    assert csv_text([["a\x1b\nb"]], exact=True) == '"a\x1b\nb"\n'
