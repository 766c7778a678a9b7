"""The files that are loaded, and the words for the clients, without a server."""

from pathlib import Path

import pytest

from benchyard.core.errors import CommandFailedError
from resources._databases import mysql_client, psql
from resources._databases.files import Source, strip_last_bars
from resources._embedded.embedded_file import Failure


def source(folder: Path, name: str, text: str) -> Source:
    (folder / name).write_bytes(text.encode())
    return Source(str(folder / name), name, "t")


def test_psql_is_told_names_as_they_are(tmp_path: Path) -> None:
    made = source(tmp_path, "it's a.csv", "a\n1\n")
    told = psql.copy(made, made.inside, 'we"ird', ["a b", "c"])
    assert told == (
        '\\copy "we""ird" ("a b", "c") FROM \'/data/shared/it\'\'s a.csv\' '
        "WITH (FORMAT csv, HEADER true, NULL 'NULL', ENCODING 'UTF8')\n\\echo :ROW_COUNT\n"
    )
    assert psql.argument("/a'b\\c\nd") == "'/a''b\\\\c\\nd'"


def test_mysql_is_told_names_as_they_are(tmp_path: Path) -> None:
    told = mysql_client.load_data(source(tmp_path, "it's\\a.csv", "a\r\n1\r\n"), "w`e", ["a b"])
    assert "INFILE '/data/shared/it''s\\\\a.csv' INTO TABLE `w``e`" in told
    assert "LINES TERMINATED BY '\\r\\n' IGNORE 1 LINES (`a b`);" in told


def test_a_table_has_a_key_besides() -> None:
    assert psql.make_table("t", ['a"b']) == (
        'DROP TABLE IF EXISTS "t";\nCREATE TABLE "t" ("key" SERIAL PRIMARY KEY, "a""b" VARCHAR);\n'
    )
    assert "(`k` INT ZEROFILL NOT NULL AUTO_INCREMENT, `a` LONGTEXT, PRIMARY KEY (`k`))" in (
        mysql_client.make_table("t", ["a"])
    )


@pytest.mark.parametrize(
    ("complaints", "said", "script", "line", "copy_line"),
    [
        (
            'psql:/benchyard/statement.1:7: ERROR:  relation "x" does not exist\nLINE 1: S\n  ^\n',
            'relation "x" does not exist', "statement.1", 7, None,
        ),
        (
            'ERROR:  missing data for column "b"\nCONTEXT:  COPY x, line 3: "3"\n',
            'missing data for column "b"', "", None, 3,
        ),
        (
            "ERROR:  no\nDETAIL:  because\nHINT:  do\nCONTEXT:  COPY x, line 12, column y: z\n",
            "no; because; do", "", None, 12,
        ),
        ("psql: error: connection failed: FATAL:  no\n",
         "psql: error: connection failed: FATAL:  no", "", None, None),
        ("", "", "", None, None),
    ],
)  # fmt: skip
def test_what_psql_complains_of(
    complaints: str, said: str, script: str, line: int | None, copy_line: int | None
) -> None:
    found = psql.Complaint(complaints)
    assert (found.said, found.script, found.line, found.copy_line) == (
        said, script, line, copy_line,
    )  # fmt: skip


@pytest.mark.parametrize("size", [1, 2, 3, 1 << 20])
def test_last_bars_are_cut_wherever_a_piece_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr("resources._databases.files.PIECE", size)
    made = source(tmp_path, "t.tbl", "1|a|\n2||\n|b|\n3|c|")
    strip_last_bars(made, tmp_path / "copy", 2)
    assert (tmp_path / "copy").read_text() == "1|a\n2|\n|b\n3|c"


def test_a_line_without_a_last_bar_is_named(tmp_path: Path) -> None:
    made = source(tmp_path, "t.tbl", "1|a|\n2|b\n")
    with pytest.raises(CommandFailedError, match=r"t\.tbl:2: "):
        strip_last_bars(made, tmp_path / "copy", 2)


def test_an_odd_quote_inside_of_a_value_is_no_fault(tmp_path: Path) -> None:
    source(tmp_path, "a.csv", 'x,y\n5" disk,1\n').refuse_open_quote(2)
    with pytest.raises(Failure, match=r"a\.csv:"):
        source(tmp_path, "a.csv", 'x,y\n1,"open\n').refuse_open_quote(2)
