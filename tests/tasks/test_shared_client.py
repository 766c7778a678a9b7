"""All pages of an answer, and who makes clients."""

from pathlib import Path

import pytest

from tasks.prefect_internals import PAGE, each_of


@pytest.mark.parametrize("count", [0, 1, PAGE, PAGE + 1, 3 * PAGE])
def test_all_pages_are_asked_for_and_none_behind_the_last(count: int) -> None:
    asked: list[tuple[int, int]] = []

    def ask(limit: int, offset: int) -> list[int]:
        asked.append((limit, offset))
        return [*range(offset, min(offset + limit, count))]

    assert [*each_of(ask)] == [*range(count)]
    assert asked == [(PAGE, offset) for offset in range(0, count + 1, PAGE)]


def test_nobody_else_makes_clients() -> None:
    """Whatever of ours asks the server goes through here."""
    source = Path(__file__).resolve().parents[2]
    files = [
        file for part in ("benchyard", "flows", "tasks") for file in (source / part).rglob("*.py")
    ]
    found = [file.name for file in files if "get_client(" in file.read_text()]
    assert found == ["prefect_internals.py"]
