"""What the history makes suspected is confirmed in a real repository, by real executions."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from benchyard.core.errors import InputError
from benchyard.results.annotations import read_annotations
from benchyard.results.subject import digested
from benchyard.suite.alarms import AlarmNight, AlarmRequest, look
from tests.benchyard.analysis.comparison.conftest import place, step, titled
from tests.benchyard.analysis.comparison.test_sessions import campaign, night
from tests.repositories import git

NIGHTS, SLOW = 24, 4
NOW = datetime(2026, 12, 24, tzinfo=UTC)
CONFIRM = {"command": "./program"}


def commit(folder: Path, seconds: float, subject: str) -> str:
    program = folder / "program"
    program.write_text(f"#!/bin/sh\nsleep {seconds}\n# {subject}\n")
    program.chmod(0o755)
    git(folder, "add", ".")
    git(folder, "commit", "-m", subject)
    return git(folder, "rev-parse", "HEAD")


def measured(
    root: Path,
    name: str,
    level: float,
    commits: tuple[str, str],
    *,
    both: bool = False,
    **subject: Any,
) -> Path:
    """Make a case with nights; the last of them are of the second commit, at another level.

    Args:
        both: Whether there is a second step that moves with the first.
    """
    folder = root / name
    folder.mkdir(parents=True, exist_ok=True)
    work = {"resource": "Process", "command": "execute", "parameters": {"arguments": ["true"]}}
    document = {"name": name, "steps": [{**work, "name": "load"}]}
    (folder / "metadata.json").write_text(json.dumps({**document, "subject": subject}))
    for number in range(NIGHTS):
        is_new = number >= NIGHTS - SLOW
        told = digested({"host": "lab", "repositories": {"program": {"commit": commits[is_new]}}})
        records = campaign(
            *night(level if is_new else 1, number), at_h=24 * number, subject=told, **titled(name)
        )
        if both:
            records = [
                replace(one, steps=(*one.steps, step(2 * one.duration_s, name="sort", index=2)))
                for one in (replace(r, duration_s=r.steps[0].durations_s[0]) for r in records)
            ]
        earlier = Path("earlier") / f"202611{number + 1:02d}T000000Z-0123456789ab"
        place(folder / "results" / ("" if number == NIGHTS - 1 else earlier), records)
    return folder


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-b", "main")
    monkeypatch.setenv("BENCHYARD_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(folder)
    return folder


def confirmed(night: AlarmNight) -> list[str]:
    return [line for one in night.choose() for line in night.confirm(one)]


def request(root: Path, **more: Any) -> AlarmRequest:
    return AlarmRequest(root=str(root), **more)


@pytest.mark.slow
def test_a_true_slowdown_raises_one_alarm_that_names_the_way_to_its_commit(
    repository: Path,
) -> None:
    commits = commit(repository, 0.01, "fast"), commit(repository, 0.03, "slow")
    case = measured(repository, "sort", 1.1, commits, confirm=CONFIRM)
    night = look(request(repository), NOW)
    assert not night.alarms
    lines = confirmed(night)
    assert len(lines) > 30, "two builds of the old version were measured, too"
    [alarm] = night.alarms
    assert "; confirmed by benchyard: " in str(alarm)
    assert f"bisect {commits[0][:10]} {commits[1][:10]} -- ./program" in alarm.bisection
    assert (night.account.spent, len(night.account.twins["sort"])) == (1, 1)
    assert "1 alarm, 1 suspected; 1 of 60 confirmations spent" in night.sentence()
    again = look(request(repository), NOW + timedelta(1))
    assert not again.suspicions, "one change raises one alarm"
    [noted] = read_annotations(case / "results")[0]
    assert (noted.kind, noted.step) == ("confirmed", "*"), "steps that moved with it raise none"


@pytest.mark.slow
def test_what_is_not_confirmed_rests(repository: Path) -> None:
    commits = commit(repository, 0.01, "one"), commit(repository, 0.01, "other")
    measured(repository, "sort", 1.1, commits, confirm=CONFIRM)
    night = look(request(repository), NOW)
    confirmed(night)
    assert not night.alarms
    assert "; not confirmed by benchyard: " in str(night.suspicions[0])
    later = look(request(repository), NOW + timedelta(1))
    assert later.choose() == []
    assert "rests until 2026-12-31" in str(later.suspicions[0])
    assert len(look(request(repository), NOW + timedelta(8)).choose()) == 1


def broken(folder: Path) -> tuple[str, str]:
    one = commit(folder, 0.01, "one")
    (folder / "program").unlink()
    git(folder, "commit", "-am", "no program")
    return one, git(folder, "rev-parse", "HEAD")


@pytest.mark.slow
def test_a_version_that_cannot_be_executed_raises_none(repository: Path) -> None:
    measured(repository, "sort", 1.1, broken(repository), confirm=CONFIRM)
    night = look(request(repository), NOW)
    confirmed(night)
    assert not night.alarms
    assert "its versions cannot be executed: " in str(night.suspicions[0])
    assert look(request(repository), NOW + timedelta(1)).choose() == []


def test_a_case_that_does_not_say_how_has_its_history_alone(repository: Path) -> None:
    commits = commit(repository, 0, "one"), commit(repository, 0, "other")
    measured(repository, "sort", 1.1, commits)
    night = look(request(repository, false_per_month=0.001), NOW)
    assert night.choose() == []
    assert "subject.confirm of the case would let it be confirmed" in str(night.suspicions[0])
    night = look(request(repository, false_per_month=100), NOW)
    assert night.choose() == []
    [alarm] = night.alarms
    assert "alarm raised by benchyard: by history alone, z " in str(alarm)
    assert night.account.spent == 0
    assert not look(request(repository, false_per_month=100), NOW).suspicions


def test_steps_that_moved_together_raise_one_alarm(repository: Path) -> None:
    commits = commit(repository, 0, "one"), commit(repository, 0, "other")
    measured(repository, "sort", 1.1, commits, both=True)
    night = look(request(repository, false_per_month=100), NOW)
    night.choose()
    [alarm] = night.alarms
    assert "; also duration_s of " in str(alarm)
    assert not look(request(repository, false_per_month=100), NOW).suspicions


@pytest.mark.parametrize(("level", "names"), [(1.1, "abc"), (1.0, "abc"), (0.9, "a")])
def test_the_host_blames_no_version_and_a_steady_or_faster_case_is_not_suspected(
    repository: Path, level: float, names: str
) -> None:
    commits = commit(repository, 0, "one"), commit(repository, 0, "other")
    for name in names:
        measured(repository, name, level, commits, confirm=CONFIRM)
    night = look(request(repository), NOW)
    assert night.choose() == []
    assert len(night.suspicions) == (len(names) if level > 1 else 0)
    assert all("it blames no version" in str(one) for one in night.suspicions)


def test_the_same_commit_cannot_be_confirmed(repository: Path) -> None:
    one = commit(repository, 0, "one")
    measured(repository, "sort", 1.1, (one, one), confirm=CONFIRM)
    night = look(request(repository), NOW)
    assert night.choose() == []
    assert "the commit is the same as before; look at the host" in str(night.suspicions[0])


def test_no_more_is_confirmed_than_the_month_has(repository: Path) -> None:
    commits = commit(repository, 0, "one"), commit(repository, 0, "other")
    for name, level in (("a", 1.1), ("b", 1.2), ("c", 1.0), ("d", 1.0), ("e", 1.0)):
        measured(repository, name, level, commits, confirm=CONFIRM)
    night = look(request(repository), NOW)
    night.account.confirmations = 1
    assert len(night.choose()) == 1
    assert sum("confirmations are spent" in str(one) for one in night.suspicions) == 1


def test_a_damaged_account_is_named(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "alarms.json").write_text("[]")
    with pytest.raises(InputError, match=r"alarms\.json is no account of alarms"):
        look(request(repository), NOW)
