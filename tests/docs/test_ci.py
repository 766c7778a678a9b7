"""The workflows of the page do what it says: their steps are executed, all but the installation."""

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

from tests.conftest import process
from tests.docs.test_docs import block_of

pytestmark = [pytest.mark.slow, pytest.mark.requires("git")]
_WHO = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a"}
_SLOW, _FAST = "sleep 0.15\n", "true\n"
#: What the workflows ask of GitHub, for a pull request and for the main branch.
_PULL = {"github.base_ref": "main", "github.event.pull_request.head.sha": "HEAD"}
_ON_MAIN = "success() && github.ref == 'refs/heads/main'"


class Repository:
    """A clone with a case, and what a provider sets around it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work" / "repository"
        self.summary = folder / "summary.md"
        self._home = folder
        self._git("init", "-q", "--bare", "-b", "main", folder / "origin", at=folder)
        self._git("clone", "-q", folder / "origin", self.folder, at=folder)
        self.commit(_FAST)
        self._git("branch", "-M", "main")
        self._git("push", "-q", "origin", "main")

    def commit(self, script: str) -> None:
        """Let the case do what a script says."""
        case = self.folder / "benchmarks" / "work"
        (case / "data" / "shared").mkdir(parents=True, exist_ok=True)
        (case / "data" / "shared" / "work.sh").write_text(script)
        arguments = ["sh", "work.sh"]
        step = process("work", "", parameters={"arguments": arguments})
        document = {"@id": "work", "name": "work", "steps": [step]}
        (case / "metadata.json").write_text(json.dumps(document))
        (self.folder / ".gitignore").write_text("results/\n")
        self._git("add", ".")
        self._git("commit", "-q", "--allow-empty", "-m", script)

    def begin_with(self, script: str) -> None:
        """Let the case of the main branch do what a script says."""
        self.commit(script)
        self._git("push", "-q", "origin", "HEAD:main")

    def begin_without_benchmarks(self) -> None:
        """Let the main branch have no benchmarks, and a branch the first."""
        self._git("rm", "-rq", "benchmarks")
        self._git("commit", "-q", "-m", "none")
        self._git("push", "-q", "origin", "main")
        self.commit(_FAST)

    def clean(self) -> None:
        """Remove what a job left, as the next checkout does; what is cached stays."""
        self._git("clean", "-ffdxq", "-e", "baseline")

    def execute(self, script: str, **variables: str) -> int:
        """Execute a script as GitHub's shell and GitLab's do, and return its exit code."""
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        given = {**os.environ, **_WHO, "GIT_COMMITTER_EMAIL": "a@b", "PATH": path}
        given |= {"HOME": str(self._home), "BENCHYARD_HOME": str(self._home / "lab"), **variables}
        words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
        return subprocess.run(words, cwd=self.folder, env=given, check=False).returncode

    def _git(self, *words: object, at: Path | None = None) -> None:
        given = {**os.environ, **_WHO, "GIT_COMMITTER_EMAIL": "a@b"}
        called = ["git", "-c", "safe.directory=*", *map(str, words)]
        subprocess.run(called, cwd=at or self.folder, env=given, check=True)


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
    return yaml.safe_load(block_of("ci.md", name))


def steps(workflow: Mapping[str, Any], *, on_main: bool) -> Iterator[str]:
    """Yield the scripts of the only job, but for the installation."""
    (job,) = workflow["jobs"].values()
    for step in job["steps"]:
        condition = step.get("if", "always()")
        assert condition in ("always()", _ON_MAIN)
        wanted = on_main or condition == "always()"
        if "run" in step and step["name"] != "Install Benchyard" and wanted:
            yield step["run"]


def conduct(repository: Repository, name: str, *, on_main: bool = False) -> int:
    """Execute the steps until one fails, and return its exit code; or 0."""
    workflow = github(name)
    set_ = {key: _expand(str(value)) for key, value in workflow["env"].items()}
    set_ |= {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(repository.summary)}
    set_["GITHUB_EVENT_NAME"] = "push" if on_main else "pull_request"
    codes = (repository.execute(one, **set_) for one in steps(workflow, on_main=on_main))
    return next((code for code in codes if code), 0)


def _expand(text: str) -> str:
    for name, value in _PULL.items():
        text = text.replace(f"${{{{ {name} }}}}", value)
    assert "${{" not in text
    return text


def test_github_tells_a_slower_branch_from_main_in_one_job(
    repository: Repository, capfd: pytest.CaptureFixture[str]
) -> None:
    repository.commit(_SLOW)
    assert conduct(repository, "github-in-turns") == 3
    assert failures(repository.folder / "compare.xml") == ["regression"]
    assert "❌ " in repository.summary.read_text()
    assert (repository.folder / "compare.md").read_text() in repository.summary.read_text()
    assert "::error title=regression%3A work%3A work::" in capfd.readouterr().err


@pytest.mark.parametrize("provider", ["github", "gitlab"])
def test_the_gate_passes_an_equal_program(repository: Repository, provider: str) -> None:
    def gate() -> int:
        if provider == "github":
            return conduct(repository, "github-in-turns")
        return conduct_gitlab(repository, "in-turns")

    # Long enough that what other tests take of it is below the smallest change that is called.
    repository.begin_with(_SLOW)
    repository.commit(f"{_SLOW} # the same")
    assert gate() == 0
    assert failures(repository.folder / "compare.xml") == []


def test_a_first_run_has_nothing_to_compare_with(
    repository: Repository, capfd: pytest.CaptureFixture[str]
) -> None:
    repository.begin_without_benchmarks()
    assert conduct(repository, "github-in-turns") == 0
    assert "first run: nothing to compare with" in capfd.readouterr().out


def test_github_compares_with_the_baseline_of_main(repository: Repository) -> None:
    assert conduct(repository, "github-baseline", on_main=True) == 0
    assert [*(repository.folder / "baseline").rglob("run_10/.done")]
    assert failures(repository.folder / "run.xml") == []
    repository.commit(_SLOW)
    repository.clean()
    assert conduct(repository, "github-baseline") == 3
    assert failures(repository.folder / "run.xml") == ["regression"]
    assert (repository.folder / "run.md").read_text() in repository.summary.read_text()


@pytest.mark.parametrize("name", ["github-in-turns", "github-baseline"])
def test_what_github_reads_is_there(name: str) -> None:
    workflow = github(name)
    # YAML 1.1 takes the key "on" for a boolean.
    assert "pull_request" in str({str(key): value for key, value in workflow.items()}["True"])
    assert workflow["permissions"] == {"contents": "read"}
    (job,) = workflow["jobs"].values()
    assert all(("uses" in step) != ("run" in step) for step in job["steps"])
    assert "${{" not in "".join(step.get("run", "") for step in job["steps"])


# -- GitLab


def conduct_gitlab(repository: Repository, job: str, *, on_main: bool = False) -> int:
    pipeline = yaml.safe_load(block_of("ci.md", "gitlab"))
    assert pipeline["default"]["before_script"] == ['pip install "$BENCHYARD"']
    set_ = {"GITLAB_CI": "true", "CI_DEFAULT_BRANCH": "main"}
    set_ |= {"CI_MERGE_REQUEST_IID": "" if on_main else "1"}
    set_ |= {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main"}
    return repository.execute("\n".join(pipeline[job]["script"]), **set_)


def test_gitlab_tells_a_slower_branch_from_main_in_one_job(
    repository: Repository, capfd: pytest.CaptureFixture[str]
) -> None:
    repository.commit(_SLOW)
    assert conduct_gitlab(repository, "in-turns") == 3
    assert failures(repository.folder / "compare.xml") == ["regression"]
    assert "section_start:" in capfd.readouterr().err


def test_gitlab_compares_with_the_baseline_of_main(repository: Repository) -> None:
    assert conduct_gitlab(repository, "against-baseline", on_main=True) == 0
    repository.commit(_SLOW)
    repository.clean()
    assert conduct_gitlab(repository, "against-baseline") == 3
    assert failures(repository.folder / "run.xml") == ["regression"]
    metrics = (repository.folder / "metrics.txt").read_text()
    assert 'benchyard_regressions{case="work"} 1\n' in metrics
