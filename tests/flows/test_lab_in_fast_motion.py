"""Thirty nights of a real lab: one alarm for the true slowdown, one mark of the host.

Suites, repository, builds and confirmations are real. Only the dates of the nights are not, nor is
the change of the host: each program reads how slow that is.
"""

import json
import shlex
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from benchyard.analysis.comparison.request import before_on_host
from benchyard.analysis.comparison.rows import Rule
from benchyard.analysis.comparison.sides import Places
from benchyard.analysis.comparison.states import against_level, cases_of, change_items
from benchyard.cli import call
from benchyard.suite.alarms import AlarmNight, AlarmRequest, look
from tests.benchyard.suite.test_alarms import repository
from tests.flows.conftest import Suite
from tests.repositories import git

__all__ = ["repository"]
pytestmark = [pytest.mark.slow, pytest.mark.lab, pytest.mark.soak]

NIGHTS, DOCS, SLOWER, HOST = 30, 17, 19, 26
CASES = ("load", "query", "sort", "store")
BEGIN = datetime(2026, 11, 1, 3, tzinfo=UTC)


def commit(folder: Path, file: str, text: str) -> str:
    (folder / file).write_text(text)
    git(folder, "add", file)
    git(folder, "commit", "-m", f"Change {file}")
    return git(folder, "rev-parse", "HEAD")


def program(sort_s: float, host: Path) -> str:
    return (
        f's=0.2\n[ "$1" = sort ] && s={sort_s}\n'
        f'sleep "$(awk "BEGIN {{ print $s * $(cat {host}) }}")"\n'
    )


def add_case(root: Path, name: str) -> None:
    folder = root / "benchmarks" / name
    folder.mkdir(parents=True)
    words = ["sh", "${root:program.sh}", name]
    step = {"resource": "Process", "command": "execute", "parameters": {"arguments": words}}
    confirm = {"command": f"sh program.sh {name}"}
    about = {"files": "program.sh", "repository": "../..", "confirm": confirm}
    document = {"name": name, "subject": about, "steps": [step]}
    (folder / "metadata.json").write_text(json.dumps(document))


def tonight(suite: Suite, cases: Path, number: int) -> AlarmNight:
    """Execute the suite, and look for alarms as in that night."""
    suite.run(root=str(cases), runs=6, campaign="new")
    night = look(AlarmRequest(root=str(cases)), BEGIN + timedelta(number))
    for one in night.choose():
        for line in night.confirm(one):
            assert line
    return night


@pytest.mark.timeout(3600)
def test_one_alarm_names_the_commit_and_the_host_has_one_mark(
    suite: Suite, repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    host, cases = tmp_path / "host", repository / "benchmarks"
    host.write_text("1\n")
    for name in CASES:
        add_case(repository, name)
    git(repository, "add", ".")
    slow, alarms = "", list[tuple[int, str]]()
    commit(repository, "program.sh", program(0.2, host))
    for number in range(NIGHTS):
        if number == DOCS:
            commit(repository, "README", "How to sort\n")
        elif number == SLOWER:
            slow = commit(repository, "program.sh", program(0.21, host))
        elif number == HOST:
            host.write_text("1.1\n")
        alarms += [(number, one.bisection) for one in tonight(suite, cases, number).alarms]
    [(raised, bisection)] = alarms
    assert SLOWER + 2 <= raised < HOST
    assert call(shlex.split(bisection)[4:]) == 0  # behind cd FOLDER && benchyard
    assert f"it became slower with {slow[:10]} " in capsys.readouterr().out
    found = cases_of((), Places(cases))
    items = change_items(against_level(before_on_host(found), found, Rule()))
    assert [item.case for item in items if item.is_open] == ["sort"]
    marked = [item for item in items if item.cases]
    assert len({item.case for item in marked}) >= 3
    assert all(item.moves[0].move.campaigns == NIGHTS - HOST for item in marked)
