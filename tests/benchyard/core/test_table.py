"""Tables."""

from benchyard.core.table import Table

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
