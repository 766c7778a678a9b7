"""Several files become one."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources._mapping.folder import join


@given(st.lists(st.lists(st.text("ab", min_size=1), max_size=4), min_size=2, max_size=5))
def test_every_line_stays_whole(
    tmp_path_factory: pytest.TempPathFactory, contents: list[list[str]]
) -> None:
    folder = tmp_path_factory.mktemp("parts")
    parts = [folder / str(number) for number in range(len(contents))]
    for part, lines in zip(parts, contents, strict=True):
        part.write_text("\n".join(lines))
    join(parts, folder / "whole")
    wanted = [line for lines in contents for line in lines]
    assert (folder / "whole").read_text().splitlines() == wanted
    assert [path.name for path in folder.iterdir()] == ["whole"]


def test_one_file_is_only_renamed(tmp_path: Path) -> None:
    part = tmp_path / "part"
    part.write_text("no end of line")
    inode = part.stat().st_ino
    join([part], tmp_path / "whole")
    assert (tmp_path / "whole").stat().st_ino == inode
