"""What the programs of steps are: digests, shared objects, environments, repositories."""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

from benchyard.case.subject.programs import (
    CommandLine,
    program_facts,
    python_variables,
    repository_state,
)
from benchyard.core.model import JsonObject
from tests.benchyard.case.subject.conftest import install, site_of
from tests.repositories import git


def facts(*lines: list[str]) -> dict[str, JsonObject]:
    given = [CommandLine("Process", tuple(line), python_variables({})) for line in lines]
    return program_facts(given, (), Path("/absent"))


def environment(folder: Path, version: str = "1.0") -> Path:
    """Make an environment with a package; return its interpreter."""
    venv.create(folder, with_pip=False)
    install(site_of(folder), "mytool", version)
    return folder / "bin" / "python"


def executable(file: Path, text: str) -> Path:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    file.chmod(0o755)
    return file


@pytest.fixture
def library(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a package of the repository on the path; nobody may import it."""
    (repository / "mylib").mkdir()
    (repository / "mylib" / "__init__.py").write_text("raise SystemExit('was imported')\n")
    monkeypatch.setenv("PYTHONPATH", str(repository))


def test_a_program_stands_in_its_repository(repository: Path) -> None:
    program = str(repository / "bin" / "serve")
    found = facts([program, "--port", "1"])
    assert list(found["programs"]) == ["serve"]
    first: Any = found["repositories"]["program serve"]
    assert first["changes"] == "none"
    git(repository, "commit", "-qm", "second", "--allow-empty")
    second: Any = facts(["env", "A=1", program])["repositories"]["program serve"]
    assert second["commit"] != first["commit"]


def test_programs_of_one_name_are_told_apart(repository: Path, tmp_path: Path) -> None:
    other = executable(tmp_path / "new" / "serve", "#!/bin/sh\nexit 1\n")
    programs = facts([str(repository / "bin" / "serve")], [str(other)])["programs"]
    assert sorted(programs) == sorted(map(str, (repository / "bin" / "serve", other)))
    assert len({str(digest) for digest in programs.values()}) == 2


def test_the_version_of_an_installed_package_is_told(tmp_path: Path) -> None:
    python = environment(tmp_path / "venv")
    for text in (
        f"#!{python}\nimport mytool\n",
        f"#!/bin/sh\n'''exec' {python} \"$0\" \"$@\"\n' '''\nimport mytool\n",
    ):
        script = executable(tmp_path / "mytool", text)
        for line in ([str(python), "-m", "mytool"], [str(script)]):
            found = facts(line)
            assert found["packages"] == {"mytool": "1.0"}, line
            assert found["environments"] == {"Process": {"mytool": "1.0"}}, line
            none = {"commit": "none", "changes": "none"}
            assert found["repositories"]["package mytool"] == none


@pytest.mark.usefixtures("library")
def test_a_module_that_python_executes_stands_in_its_repository(tmp_path: Path) -> None:
    repositories = facts([sys.executable, "-m", "mylib.bench", "1"])["repositories"]
    assert "package mylib" in repositories
    text = f"#!{sys.executable}\nimport sys\nfrom mylib import main\n"
    repositories = facts([str(executable(tmp_path / "mytool", text))])["repositories"]
    assert list(repositories) == ["package mylib"]


@pytest.mark.parametrize("arguments", [["no-such-program-anywhere"], ["sort", "/\0", "/absent"]])
def test_what_is_not_there_says_nothing(arguments: list[str]) -> None:
    found = facts(arguments)
    programs, repositories = found["programs"], found["repositories"]
    assert repositories == {}
    assert set(programs) <= {"sort"}


def test_an_interpreter_behind_another_program_has_its_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = environment(tmp_path / "venv")
    monkeypatch.setenv("PATH", f"{python.parent}:{os.environ['PATH']}")
    found = [facts(["env", "A=1", "python", "work.py"])]
    # So has a script among the inputs.
    executable(tmp_path / "work.py", f"#!{python}\n")
    found.append(program_facts([CommandLine("Process", ("./work.py",))], (), tmp_path))
    assert [one["environments"] for one in found] == [{"Process": {"mytool": "1.0"}}] * 2


def test_two_environments_of_a_resource_have_both_versions(tmp_path: Path) -> None:
    pythons = [environment(tmp_path / version, version) for version in ("1.0", "2.0")]
    found = facts(*([str(python), "work.py"] for python in pythons))
    assert found["environments"] == {"Process": {"mytool": "1.0 and 2.0"}}


@pytest.mark.requires("cc")
def test_the_shared_objects_of_a_program_are_those_that_the_loader_maps(tmp_path: Path) -> None:
    (tmp_path / "lib.c").write_text("int f() { return 1; }")
    (tmp_path / "main.c").write_text("int f(); int main() { f(); }")
    library = ["-shared", "-fPIC", "lib.c", "-o", "libours.so"]
    program = ["main.c", "-o", "program", "-L.", "-lours", "-Wl,-rpath,$ORIGIN"]
    for arguments in (library, program):
        subprocess.run([str(shutil.which("cc")), *arguments], cwd=tmp_path, check=True)
    libraries: list[Any] = []
    for text in ("", "another code"):
        with (tmp_path / "libours.so").open("a") as file:
            file.write(text)
        libraries.append(facts([str(tmp_path / "program")])["libraries"]["program"])
    assert [set(found) >= {"libours.so", "libc.so.6"} for found in libraries] == [True, True]
    assert libraries[0]["libours.so"] != libraries[1]["libours.so"]
    assert libraries[0]["libc.so.6"] == libraries[1]["libc.so.6"]


def test_uncommitted_changes_are_told_apart(repository: Path) -> None:
    program = repository / "bin" / "serve"
    told: list[object] = []
    for text in ("#!/bin/sh\n", "#!/bin/sh\ntrue\n", "#!/bin/sh\nfalse\n"):
        program.write_text(text)
        state = repository_state(program)
        assert state is not None
        told.append(state["changes"])
    assert told[0] == "none"
    assert len(set(told)) == 3


def test_what_is_installed_stands_in_no_repository(repository: Path) -> None:
    venv.create(repository / ".venv", with_pip=False)
    none = {"commit": "none", "changes": "none"}
    assert repository_state(repository / ".venv" / "bin" / "python") == none
    folder = repository / "node_modules" / "x"
    folder.mkdir(parents=True)
    assert repository_state(folder) == none
    assert repository_state(repository.rename(repository.with_name(".manager")) / "bin") == none


def test_what_a_run_writes_is_no_change_of_what_is_measured(repository: Path) -> None:
    results = repository / "case" / "results"
    results.mkdir(parents=True)
    (results / "run.json").write_text("1")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "results")
    before = repository_state(repository / "bin" / "serve", [results])
    (results / "run.json").write_text("2")
    assert repository_state(repository / "bin" / "serve", [results]) == before
    assert repository_state(repository / "bin" / "serve") != before


@pytest.mark.usefixtures("library")
def test_packages_have_versions_or_repositories() -> None:
    found = program_facts((), ["click", "mylib", "yaml", "absent_package"], Path("/absent"))
    assert list(found["packages"]) == ["click", "pyyaml"]
    assert found["environments"] == {}
    states = found["repositories"].items()
    known = {name: state["commit"] for name, state in states if isinstance(state, dict)}
    assert known.pop("package mylib") != "none"
    assert set(known.values()) == {"none"}


def test_an_interpreter_that_does_not_answer_has_no_environment(tmp_path: Path) -> None:
    python = executable(tmp_path / "python", "#!/bin/sh\nexit 1\n")
    assert facts([str(python), "work.py"])["environments"] == {}
