"""What MySQL's client prints becomes CSV."""

import csv
import io
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from resources._databases.mysql_client import ERRORS, XmlAnswer
from resources._embedded.embedded_file import quote_empty_lines

Rows = list[list[str | None]]

VALUES = st.none() | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20
)
TABLES = st.integers(1, 3).flatmap(
    lambda width: st.lists(st.lists(VALUES, min_size=width, max_size=width), max_size=4)
)


def escaped(text: str) -> str:
    for letter, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = text.replace(letter, entity)
    return text


def printed(statement: str, rows: Rows) -> str:
    """Print rows as the client does."""
    said = f'<?xml version="1.0"?>\n\n<resultset statement="{escaped(statement)}" xmlns:xsi="x">'
    for row in rows:
        said += "\n  <row>\n"
        for number, value in enumerate(row):
            name = f'\t<field name="c{number}&lt;"'
            nil = ' xsi:nil="true" />\n'
            said += name + (nil if value is None else f">{escaped(value)}</field>\n")
        said += "  </row>"
    return said + "\n</resultset>\n"


@given(TABLES, TABLES, st.integers(1, 40))
def test_the_rows_of_the_last_answer_are_kept(first: Rows, last: Rows, size: int) -> None:
    said = (printed("SELECT 'a' < 'b'", first) + printed("SELECT 2", last)).encode()
    stream = io.StringIO(newline="")
    answer = XmlAnswer(stream)
    for begin in range(0, len(said), size):
        answer.take(said[begin : begin + size])
    assert answer.rows == len(last)
    assert answer.statement == "SELECT 2"
    wanted = io.StringIO(newline="")
    writer = csv.writer(wanted, lineterminator="\n")
    if last:
        writer.writerow([f"c{number}<" for number in range(len(last[0]))])
    writer.writerows(last)
    assert stream.getvalue() == wanted.getvalue()


def test_the_question_for_errors_is_no_answer() -> None:
    stream = io.StringIO(newline="")
    answer = XmlAnswer(stream)
    answer.take(printed("SELECT 7", [["7"]]).encode())
    asked = printed(f"{ERRORS} errors, 'x' AS mark", [["2", "x"]])
    answer.take(asked.replace("c0&lt;", "errors").replace("c1&lt;", "mark").encode())
    assert (answer.rows, answer.errors) == (1, 2)
    assert stream.getvalue() == "c0<\n7\n"


def test_a_null_alone_in_its_row_is_quoted(tmp_path: Path) -> None:
    answer = tmp_path / "a.csv"
    answer.write_text('x\n1\n\n"a\n\nb"\n')
    quote_empty_lines(str(answer))
    assert answer.read_text() == 'x\n1\n""\n"a\n\nb"\n'
    answer.write_text("x,y\n1,\n")
    quote_empty_lines(str(answer))
    assert answer.read_text() == "x,y\n1,\n"
