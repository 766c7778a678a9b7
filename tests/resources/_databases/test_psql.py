"""Where statements of PostgreSQL end, and the values of files for it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources._databases.files import Source, strip_last_bars
from resources._databases.psql import statements
from resources._embedded.embedded_file import Failure

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


@pytest.mark.parametrize("size", [1, 2, 3, 1 << 20])
def test_last_bars_are_cut_wherever_a_piece_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr("resources._databases.files.PIECE", size)
    (tmp_path / "t.tbl").write_text("1|a|\n2||\n|b|\n3|c|")
    strip_last_bars(Source(str(tmp_path / "t.tbl"), "t.tbl", "t"), tmp_path / "copy", 2)
    assert (tmp_path / "copy").read_text() == "1|a\n2|\n|b\n3|c"


def test_an_odd_quote_inside_of_a_value_is_no_fault(tmp_path: Path) -> None:
    made = Source(str(tmp_path / "a.csv"), "a.csv", "t")
    (tmp_path / "a.csv").write_text('x,y\n5" disk,1\n')
    made.refuse_open_quote(2)
    (tmp_path / "a.csv").write_text('x,y\n1,"open\n')
    with pytest.raises(Failure, match=r"a\.csv:"):
        made.refuse_open_quote(2)
