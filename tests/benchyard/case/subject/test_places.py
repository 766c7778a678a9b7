"""In which repositories measured programs and packages stand."""

import subprocess
import sys
import venv
from pathlib import Path

import pytest

from benchyard.case.subject.places import Programs, package_facts, repository_state
from benchyard.core.model import JsonObject

GIT = ["git", "-c", "user.name=x", "-c", "user.email=x@x", "-c", "commit.gpgsign=false"]


def program_facts(arguments: list[str]) -> tuple[JsonObject, JsonObject]:
    measured = Programs()
    measured.add(arguments)
    programs, _, repositories = measured.facts()
    return programs, repositories


def git(folder: Path, *arguments: str) -> None:
    subprocess.run([*GIT, "-C", str(folder), *arguments], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "engine"
    (folder / "bin").mkdir(parents=True)
    program = folder / "bin" / "serve"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    git(tmp_path, "init", "-q", str(folder))
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    return folder


def test_a_program_stands_in_its_repository(repository: Path) -> None:
    program = repository / "bin" / "serve"
    programs, repositories = program_facts([str(program), "--port", "1"])
    assert list(programs) == ["serve"]
    first = repositories["program serve"]
    assert isinstance(first, dict)
    assert first["changes"] == "none"
    git(repository, "commit", "-qm", "second", "--allow-empty")
    _, after = program_facts([str(program)])
    second = after["program serve"]
    assert isinstance(second, dict)
    assert second["commit"] != first["commit"]


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


def test_a_program_behind_another_one_counts(repository: Path) -> None:
    _, repositories = program_facts(["env", "A=1", str(repository / "bin" / "serve")])
    assert "program serve" in repositories


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


def test_programs_of_one_name_are_told_apart(repository: Path, tmp_path: Path) -> None:
    other = tmp_path / "new" / "serve"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\nexit 1\n")
    other.chmod(0o755)
    measured = Programs()
    for program in (repository / "bin" / "serve", other):
        measured.add([str(program)])
    programs, _, _ = measured.facts()
    assert sorted(programs) == sorted(map(str, (repository / "bin" / "serve", other)))
    assert len({str(digest) for digest in programs.values()}) == 2


def test_the_version_of_an_installed_package_is_told(tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv" / "bin" / "python"
    [site] = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    (site / "mytool.py").write_text("")
    facts = site / "mytool-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: mytool\nVersion: 1.0\n")
    script = tmp_path / "mytool"
    for text in (
        f"#!{python}\nimport mytool\n",
        f"#!/bin/sh\n'''exec' {python} \"$0\" \"$@\"\n' '''\nimport mytool\n",
    ):
        script.write_text(text)
        script.chmod(0o755)
        for line in ([str(python), "-m", "mytool"], [str(script)]):
            measured = Programs()
            measured.add(line)
            _, packages, repositories = measured.facts()
            assert packages == {"mytool": "1.0"}, line
            none = {"commit": "none", "changes": "none"}
            assert repositories["package mytool"] == none


def test_a_module_that_python_executes_stands_in_its_repository(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / "mylib").mkdir()
    (repository / "mylib" / "__init__.py").write_text("raise SystemExit('was imported')\n")
    monkeypatch.setenv("PYTHONPATH", str(repository))
    _, repositories = program_facts([sys.executable, "-m", "mylib.bench", "1"])
    assert "package mylib" in repositories


def test_a_package_script_leads_to_its_package(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / "mylib").mkdir()
    (repository / "mylib" / "__init__.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", str(repository))
    script = tmp_path / "mytool"
    script.write_text(f"#!{sys.executable}\nimport sys\nfrom mylib import main\n")
    script.chmod(0o755)
    _, repositories = program_facts([str(script)])
    assert list(repositories) == ["package mylib"]


def test_packages_have_versions_or_repositories(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / "yourlib").mkdir()
    (repository / "yourlib" / "__init__.py").write_text("")
    monkeypatch.setattr(sys, "path", [str(repository), *sys.path])
    versions, repositories = package_facts(["click", "yourlib", "yaml", "absent_package"])
    assert list(versions) == ["click", "PyYAML"]
    known = {
        name: state["commit"] for name, state in repositories.items() if isinstance(state, dict)
    }
    assert known.pop("package yourlib") != "none"
    assert set(known.values()) == {"none"}


@pytest.mark.parametrize(
    "arguments", [[], ["no-such-program-anywhere"], ["sort", "/\0", "/absent"]]
)
def test_what_is_not_there_says_nothing(arguments: list[str]) -> None:
    programs, repositories = program_facts(arguments)
    assert repositories == {}
    assert set(programs) <= {"sort"}
