"""The files that are loaded, and the words for the clients, without a server."""

from pathlib import Path

import pytest

from resources._databases import psql
from resources._databases.files import Source, strip_last_bars
from resources._embedded.embedded_file import Failure


def source(folder: Path, name: str, text: str) -> Source:
    (folder / name).write_bytes(text.encode())
    return Source(str(folder / name), name, "t")


def test_what_psql_complains_of() -> None:
    said = "ERROR:  no\nDETAIL:  because\nHINT:  do\nCONTEXT:  COPY x, line 12, column y: z\n"
    found = psql.Complaint(said)
    assert (found.said, found.line, found.copy_line) == ("no; because; do", None, 12)
    lost = "psql: error: connection failed: FATAL:  no"
    assert psql.Complaint(f"{lost}\n").said == lost


@pytest.mark.parametrize("size", [1, 2, 3, 1 << 20])
def test_last_bars_are_cut_wherever_a_piece_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr("resources._databases.files.PIECE", size)
    made = source(tmp_path, "t.tbl", "1|a|\n2||\n|b|\n3|c|")
    strip_last_bars(made, tmp_path / "copy", 2)
    assert (tmp_path / "copy").read_text() == "1|a\n2|\n|b\n3|c"


def test_an_odd_quote_inside_of_a_value_is_no_fault(tmp_path: Path) -> None:
    source(tmp_path, "a.csv", 'x,y\n5" disk,1\n').refuse_open_quote(2)
    with pytest.raises(Failure, match=r"a\.csv:"):
        source(tmp_path, "a.csv", 'x,y\n1,"open\n').refuse_open_quote(2)
