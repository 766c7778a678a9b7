"""The sample repository of the page and its workflows do what it says: all is executed but pip."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

from tests.docs.test_docs import block_of

pytestmark = [pytest.mark.slow, pytest.mark.requires("git"), pytest.mark.requires("cc")]
PAGE = "how-to/ci.md"
_WHO = {
    **dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "a"),
    **dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "a@b"),
}
_FAST, _SLOW = 0, 150_000
#: What the workflows ask of GitHub for a pull request.
_PULL = {
    "github.base_ref": "main",
    "github.event.pull_request.head.sha": "HEAD",
    "github.event.pull_request.number": "17",
    "github.token": "token",
    "github.repository": "some/where",
    "github.event.workflow_run.id": "99",
    "github.event.workflow_run.head_sha": "measured",
}


class Repository:
    """A clone of the page's repository, and what a provider sets around it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work" / "repository"
        self.summary = folder / "summary.md"
        self.home = folder
        self._git("init", "-q", "--bare", "-b", "main", folder / "origin", at=folder)
        self._git("clone", "-q", folder / "origin", self.folder, at=folder)
        self.commit(_FAST)
        self._git("branch", "-M", "main")
        self._git("push", "-q", "origin", "main")

    def commit(self, microseconds: int, comment: str = "") -> None:
        """Let the program take so much longer."""
        case = self.folder / "benchmarks" / "wordcount"
        (case / "data" / "shared").mkdir(parents=True, exist_ok=True)
        (case / "data" / "shared" / "words.txt").write_text("one two\nthree\n")
        (case / "metadata.json").write_text(block_of(PAGE, "program-case"))
        source = block_of(PAGE, "program-source")
        (self.folder / "src").mkdir(exist_ok=True)
        (self.folder / "src" / "wordcount.c").write_text(
            f"/* {comment} */\n#include <unistd.h>\n"
            + source.replace("int words = 0;", f"int words = usleep({microseconds});")
        )
        (self.folder / ".gitignore").write_text("build/\nresults/\n")
        self._git("add", ".")
        self._git("commit", "-q", "--allow-empty", "-m", "change")

    def begin_with(self, microseconds: int) -> None:
        """Let the program of the main branch take so long."""
        self.commit(microseconds)
        self._git("push", "-q", "origin", "HEAD:main")

    def begin_without_benchmarks(self) -> None:
        """Let the main branch have no benchmarks, and a branch the first."""
        self._git("rm", "-rq", "benchmarks")
        self._git("commit", "-q", "-m", "none")
        self._git("push", "-q", "origin", "main")
        self.commit(_FAST)

    def execute(self, script: str, **variables: str) -> int:
        """Execute a script as GitHub's shell and GitLab's do, and return its exit code."""
        path = f"{self.home}/bin:{Path(sys.executable).parent}:{os.environ['PATH']}"
        home = {"HOME": str(self.home), "BENCHYARD_HOME": str(self.home / "lab")}
        words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
        given = {**os.environ, **_WHO, **home, "PATH": path, **variables}
        return subprocess.run(words, cwd=self.folder, env=given, check=False).returncode

    def _git(self, *words: object, at: Path | None = None) -> None:
        called = ["git", "-c", "safe.directory=*", *map(str, words)]
        subprocess.run(called, cwd=at or self.folder, env={**os.environ, **_WHO}, check=True)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    (tmp_path / "work").mkdir()
    return Repository(tmp_path)


def failures(file: Path) -> list[str | None]:
    root = ET.parse(file).getroot()  # noqa: S314 - made here
    assert len(list(root.iter("testcase"))) >= 1
    return [one.get("type") for one in root.iter("failure")]


# -- GitHub


def github(name: str) -> dict[str, Any]:
    return yaml.safe_load(block_of(PAGE, name))


def scripts(workflow: Mapping[str, Any]) -> Iterator[str]:
    """Yield the scripts of the only job, but for the installation."""
    (job,) = workflow["jobs"].values()
    for step in job["steps"]:
        assert ("uses" in step) != ("run" in step)
        if "run" in step and step["name"] != "Install Benchyard":
            assert "${{" not in step["run"], "a script that GitHub expands can be injected into"
            yield step["run"]


def conduct(repository: Repository, name: str) -> int:
    """Execute the steps until one fails, and return its exit code; or 0."""
    workflow = github(name)
    (job,) = workflow["jobs"].values()
    given = {**workflow.get("env", {}), **job.get("env", {})}
    variables = {key: _expand(str(value)) for key, value in given.items()}
    variables |= {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(repository.summary)}
    codes = (repository.execute(script, **variables) for script in scripts(workflow))
    return next((code for code in codes if code), 0)


def _expand(text: str) -> str:
    for name, value in _PULL.items():
        text = text.replace(f"${{{{ {name} }}}}", value)
    assert "${{" not in text
    return text


def conduct_gitlab(repository: Repository) -> int:
    job = yaml.safe_load(block_of(PAGE, "gitlab"))["in-turns"]
    variables = {"GITLAB_CI": "true", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main"}
    return repository.execute("\n".join(job["script"]), **variables)


def test_github_finds_a_slower_branch_in_one_job(
    repository: Repository, capfd: pytest.CaptureFixture[str]
) -> None:
    repository.commit(_SLOW)
    assert conduct(repository, "github-in-turns") == 3
    assert failures(repository.folder / "compare.xml") == ["regression"]
    comment = (repository.folder / "comment" / "compare.md").read_text()
    assert "❌ " in comment
    assert "files src: baseline " in comment
    assert "files of the case" not in comment
    assert comment in repository.summary.read_text()
    assert "::error title=regression%3A wordcount%3A Count words::" in capfd.readouterr().err


@pytest.mark.parametrize("provider", ["github", "gitlab"])
def test_the_gate_passes_an_equal_program(repository: Repository, provider: str) -> None:
    # Long enough that what other tests take of it is below the smallest change that is called.
    repository.begin_with(_SLOW)
    repository.commit(_SLOW, "the same")
    if provider == "github":
        assert conduct(repository, "github-in-turns") == 0
    else:
        assert conduct_gitlab(repository) == 0
    assert failures(repository.folder / "compare.xml") == []


def test_first_benchmarks_have_nothing_to_compare_with(repository: Repository) -> None:
    repository.begin_without_benchmarks()
    assert conduct(repository, "github-in-turns") == 0
    assert "nothing to compare with" in (repository.folder / "comment/compare.md").read_text()


def test_gitlab_finds_a_slower_branch_in_one_job(
    repository: Repository, capfd: pytest.CaptureFixture[str]
) -> None:
    repository.commit(_SLOW)
    assert conduct_gitlab(repository) == 3
    assert failures(repository.folder / "compare.xml") == ["regression"]
    assert "section_start:" in capfd.readouterr().err


_GH = """#!/bin/sh
case "$1 $2" in
"run download") echo '17; evil' > number.txt; echo text > compare.md;;
"pr view") echo "$MEASURED";;
"pr comment") echo "$@" > "$HOME/commented";;
esac
"""


def test_the_comment_goes_to_the_pull_request_that_was_measured(repository: Repository) -> None:
    gh = repository.home / "bin" / "gh"
    gh.parent.mkdir()
    gh.write_text(_GH)
    gh.chmod(0o755)
    [script] = scripts(github("github-comment"))
    assert repository.execute(script, MEASURED="other", HEAD="measured", RUN="99") != 0
    assert not (repository.home / "commented").exists()
    assert repository.execute(script, MEASURED="measured", HEAD="measured", RUN="99") == 0
    assert "pr comment 17 --body-file compare.md" in (repository.home / "commented").read_text()


def test_what_executes_a_fork_s_code_may_write_nothing() -> None:
    measuring, commenting = github("github-in-turns"), github("github-comment")
    # YAML 1.1 takes the key "on" for a boolean.
    triggers = [
        {str(key): value for key, value in one.items()}["True"] for one in (measuring, commenting)
    ]
    assert list(triggers[0]) == ["pull_request"]
    assert triggers[1]["workflow_run"]["workflows"] == [measuring["name"]]
    assert measuring["permissions"] == {"contents": "read"}
    assert "secrets." not in json.dumps(measuring)
    assert "uses" not in json.dumps(commenting)


def test_a_machine_that_keeps_results_compares_with_the_runs_before(repository: Repository) -> None:
    build = next(one for one in scripts(github("github-in-turns")) if "cc -O2" in one)
    measure = block_of(PAGE, "baseline").replace(" --new", " --new --runs 8 --cooldown 0")
    repository.begin_with(_FAST)
    repository.execute(f"mkdir ../base && cp -r src ../base && {build}")
    repository.execute(measure)
    repository.commit(_SLOW)
    repository.execute(build)
    assert repository.execute(measure) == 3
    assert failures(repository.folder / "run.xml") == ["regression"]
