"""The lab's explorer: where it is, and who may look."""

from pathlib import Path

import pytest

from benchyard.lab.exploring import explorer_of
from benchyard.lab.where import Where
from tests.ports import free_port


@pytest.mark.parametrize("bind", ["127.0.0.1", "0.0.0.0"])  # noqa: S104
def test_whoever_looks_must_know_the_labs_password(tmp_path: Path, bind: str) -> None:
    where = Where("http://127.0.0.1:4200/api", "http://127.0.0.1:4200", bind)
    made = explorer_of(where, free_port(), "lab:a-long-password", [tmp_path])
    told = made.part.environment["BENCHYARD_EXPLORER_TOKEN"]
    assert told == "lab:a-long-password"
    assert made.login == f"{made.url}?token=lab%3Aa-long-password"


def test_a_lab_without_a_password_lets_all_look(tmp_path: Path) -> None:
    made = explorer_of(Where("http://h/api", "http://h"), free_port(), None, [tmp_path])
    assert made.part.environment["BENCHYARD_EXPLORER_TOKEN"] == ""
    assert made.login == made.url
