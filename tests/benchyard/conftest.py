"""What tests of several parts of the domain share."""

from pathlib import Path

import pytest


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """Make the inputs of a case: files, folders, and links to both."""
    folder = tmp_path / "case" / "data" / "shared"
    (folder / "sub" / "empty").mkdir(parents=True)
    (folder / "input.nt").write_text("in")
    (folder / "sub" / "deep.csv").write_text("deep")
    (folder / "alias.nt").symlink_to("input.nt")
    (folder / "linked").symlink_to("sub")
    (tmp_path / "case" / "metadata.json").write_text("{}")
    return folder
