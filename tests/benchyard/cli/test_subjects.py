"""Whatever else would be measured now: every command says so, and none pools it with the rest."""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from benchyard.results.campaigns import earlier_campaigns
from benchyard.results.folders import Results

CLASS = """
import helping
import mylib
import yourlib

from benchyard.case.resource import CommandResult, Resource, command


class Mine(Resource):
    def version(self) -> str:
        return mylib.VERSION

    @command
    def work(self) -> CommandResult:
        return CommandResult({"answer": helping.ANSWER})
"""
SITE = "site/yourlib-0.dist-info/METADATA"
GIT = ("git", "-c", "user.name=x", "-c", "user.email=x@x", "-c", "commit.gpgsign=false")


@dataclass(frozen=True)
class Project:
    """A case whose class uses a helper beside it, a library in a repository, and a package."""

    root: Path
    prefix: tuple[str, ...] = ()

    @property
    def results(self) -> Path:
        return self.root / "cases" / "mine" / "results"

    def call(self, *arguments: str, code: int = 0) -> "subprocess.CompletedProcess[str]":
        where = os.pathsep.join(str(self.root / name) for name in ("library", "site", "classes"))
        ended = subprocess.run(
            [*self.prefix, Path(sys.executable).with_name("benchyard"), *arguments],
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": where},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert ended.returncode == code, ended.stderr
        return ended

    def run(self, *more: str) -> "subprocess.CompletedProcess[str]":
        options = ("--direct", "--runs", "2", "--cooldown", "0", "--publish", "none")
        return self.call("run", "cases/mine", "--resources", "classes", *options, *more)

    def document(self, *arguments: str) -> Any:
        return json.loads(self.call(*arguments, "--json").stdout)

    def commit(self, message: str) -> None:
        for arguments in (("add", "."), ("commit", "-qm", message)):
            subprocess.run([*GIT, "-C", self.root / "library", *arguments], check=True)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    write(tmp_path / "classes" / "mine.py", CLASS)
    write(tmp_path / "classes" / "helping.py", "ANSWER = 42\n")
    write(tmp_path / "library" / "mylib" / "__init__.py", 'VERSION = "1"\n')
    write(tmp_path / "site" / "yourlib.py", "")
    write(tmp_path / SITE, facts_of("1.0"))
    step = {"@id": "a", "name": "a", "resource": "Mine", "command": "work"}
    write(tmp_path / "cases" / "mine" / "data" / "shared" / "in.txt", "one")
    case = {"name": "mine", "steps": [step]}
    write(tmp_path / "cases" / "mine" / "metadata.json", json.dumps(case))
    subprocess.run([*GIT, "init", "-q", tmp_path / "library"], check=True)
    made.commit("first")
    return made


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def facts_of(version: str) -> str:
    return f"Metadata-Version: 2.1\nName: yourlib\nVersion: {version}\n"


#: What is changed (a file and its new text), and how that is told.
MINE, LIBRARY = "cases/mine/data/shared/in.txt", "library/mylib"
CHANGES = (
    (MINE, "two", "files of the case"),
    ("classes/helping.py", "ANSWER = 43\n", "code of Mine"),
    (SITE, facts_of("2.0"), "yourlib 1.0 and 2.0"),
    (f"{LIBRARY}/more.py", "", "commit of package mylib "),
    (
        f"{LIBRARY}/__init__.py",
        'VERSION = "1"  # tried out\n',
        "uncommitted changes in package mylib",
    ),
)


@pytest.mark.slow
def test_every_command_tells_what_changed(project: Project) -> None:
    project.run()
    again = project.run()
    assert f"mine: nothing to do: 2 of 2 done on {platform.node()}, 20" in again.stderr
    before = project.document("stats", "cases/mine", "--resources", "classes")
    file, text, words = CHANGES[0]
    write(project.root / file, text)
    assert_begins_anew(project, words)
    assert_told_apart(project, before, words)


@pytest.mark.slow
def test_each_change_begins_anew(project: Project) -> None:
    project.run()
    for number, (file, text, words) in enumerate(CHANGES[1:], 1):
        write(project.root / file, text)
        if words.startswith("commit"):
            project.commit("second")
        assert_begins_anew(project, words)
        assert len(earlier_campaigns(project.results)) == number


def assert_begins_anew(project: Project, words: str) -> None:
    plan = project.document("suite", "--changed", "--dry-run", "--resources", "classes")
    assert f"changed since the runs were done: {words}" in plan["cases"][0]["why"]
    said = project.run().stderr
    assert "mine has changed since runs 1-2 were done on " in said
    assert f": {words}" in said


def assert_told_apart(project: Project, before: Any, words: str) -> None:
    [earlier] = earlier_campaigns(project.results)
    assert [*Results(earlier).done()] == [*Results(project.results).done()] == [1, 2]
    stats = ("stats", "cases/mine", "--resources", "classes")
    newest, old = project.document(*stats, "--campaign", "all")["cases"]
    assert newest["summary"]["n_runs"] == old["summary"]["n_runs"] == 2
    assert old["summary"]["subject"] == before["cases"][0]["summary"]["subject"]
    assert newest["summary"]["subject"]["digest"] != old["summary"]["subject"]["digest"]
    assert "earlier: 1 campaign; benchyard stats --campaign all" in project.call(*stats).stdout
    compared = project.call("compare", "cases/mine").stdout
    assert f"baseline cases/mine/results/earlier/{earlier.name} (2 runs)" in compared
    assert words.partition(" ")[0] in compared


@pytest.mark.slow
@pytest.mark.requires("mount")
def test_another_host_measures_anew(project: Project) -> None:
    project.run()
    script = 'hostname elsewhere && exec "$@"'
    there = Project(project.root, ("unshare", "--uts", "sh", "-c", script, "sh"))
    before = project.document("stats", "cases/mine", "--resources", "classes")
    plan = there.document("suite", "--changed", "--dry-run", "--resources", "classes")
    words = f"host {platform.node()} and elsewhere"
    assert words in plan["cases"][0]["why"]
    assert f": {words}" in there.run().stderr
    assert_told_apart(there, before, "host")


@pytest.mark.slow
def test_runs_of_two_subjects_in_one_folder_have_a_table_each(project: Project) -> None:
    project.run()
    write(project.root / SITE, facts_of("2.0"))
    more = ("--runs", "3", "--keep")
    assert "goes on with runs of something else" in project.run(*more).stderr
    [case] = project.document("stats", "cases/mine", "--resources", "classes")["cases"]
    assert [run["run"] for run in case["summary"]["runs"]] == [3]
    [other] = case["summary"]["other_subjects"]
    assert [run["run"] for run in other["runs"]] == [1, 2]
    printed = project.call("stats", "cases/mine", "--resources", "classes").stdout
    assert "runs 1-2 measured something else, told apart: yourlib 1.0 and 2.0" in printed
    assert "\nmine, runs 1-2\n" in printed


@pytest.mark.slow
def test_a_commit_of_the_cases_own_repository_is_a_notice(project: Project) -> None:
    commit = repository(project.root / "cases")
    project.run()
    commit()
    said = project.run().stderr
    assert "mine: its repository has another commit (" in said
    assert "mine: nothing to do: 2 of 2" in said
    assert earlier_campaigns(project.results) == []


def repository(folder: Path) -> Callable[[], object]:
    """Begin a repository with a commit; return what makes another one."""
    subprocess.run([*GIT, "init", "-q", folder], check=True)
    empty = [*GIT, "-C", folder, "commit", "--allow-empty", "-qm", "x"]
    subprocess.run(empty, check=True)
    return lambda: subprocess.run(empty, check=True)


@pytest.mark.slow
def test_a_repository_that_the_case_names_is_what_is_measured(project: Project) -> None:
    file = project.root / "cases" / "mine" / "metadata.json"
    case = json.loads(file.read_text())
    file.write_text(json.dumps({**case, "subject": {"repository": "../../other"}}))
    commit = repository(project.root / "other")
    project.run()
    commit()
    assert ": commit of repository ../../other " in project.run().stderr
