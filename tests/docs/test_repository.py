"""What the repository says of itself: its records of decisions."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_index_of_decisions_has_each_by_its_title() -> None:
    folder = ROOT / "docs/decisions"
    index = folder / "README.md"
    listed = re.findall(r"^- \[(.+)\]\((.+)\)$", index.read_text(), re.MULTILINE)
    pages = {page.name: page.read_text() for page in folder.glob("*.md") if page != index}
    assert {name: title for title, name in listed} == {
        name: text.partition("\n")[0].removeprefix("# ") for name, text in pages.items()
    }
    assert [
        name for name, text in pages.items() if "ejected" not in text and "**Reason" not in text
    ] == []
