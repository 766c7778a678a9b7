"""What MySQL's client prints becomes CSV."""

import csv
import io

from hypothesis import given
from hypothesis import strategies as st

from resources._databases.mysql_client import XmlAnswer

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
