"""Where statements of PostgreSQL end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources._databases.psql import Statement, statements

#: Statements with semicolons inside, and without one at their end.
NASTY = [
    "SELECT 1",
    "SELECT 'it''s; ' AS \"a;\"\"b\"",
    r"SELECT E'\'; \\', 'C:\'",
    "SELECT $$;$$, $tag$ $$; $tag$",
    "DO $a$ BEGIN PERFORM 1; END; $a$",
    "SELECT (SELECT 1; SELECT 2)",
    "SELECT a$b, $1 /* ; /* ; */ ; */ -- ; '\n + 1",
    "CREATE OR REPLACE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE 1 WHEN 1 THEN 2 END; END",
    "BEGIN",
    "END",
    "SELECT '\u6f22;\n;'",
]
BETWEEN = st.sampled_from(["", " ", "\n", "-- a; comment '\n", '/* /* ; */ " */'])


@given(st.lists(st.tuples(BETWEEN, st.sampled_from(NASTY)), max_size=6))
def test_each_statement_is_found_with_its_line(parts: list[tuple[str, str]]) -> None:
    text = "".join(f"{between}{statement};" for between, statement in parts)
    found = statements(text)
    assert "".join(statement.text for statement in found) == text
    assert len(found) == len(parts)
    begin = 0
    for (between, statement), one in zip(parts, found, strict=True):
        assert one.text == f"{between}{statement};"
        assert one.line == text.count("\n", 0, begin + len(between)) + 1
        begin += len(one.text)


@given(st.text(alphabet="ab;'\"$\\-/*()\nE ", max_size=40))
def test_nothing_but_comments_and_blanks_is_left_out(text: str) -> None:
    joined = "".join(statement.text for statement in statements(text))
    assert text.startswith(joined)
    assert statements(text[len(joined) :]) == []


@pytest.mark.parametrize("text", ["", "  \n", "-- nothing;", "/* ; */", "/* open ;"])
def test_comments_are_no_statement(text: str) -> None:
    assert statements(text) == []


def test_the_last_one_needs_no_semicolon() -> None:
    assert statements("SELECT 1;\n\n SELECT 2\n") == [
        Statement("SELECT 1;", 1),
        Statement("\n\n SELECT 2\n", 3),
    ]
