"""Another version of what a case's program is made of begins another campaign, by name."""

import json
import sys
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchyard.results.campaigns import earlier_campaigns
from benchyard.results.record import read_record
from benchyard.results.subject import differences, subject_of
from tests.benchyard.case.subject.conftest import install, site_of
from tests.benchyard.cli.conftest import Cli
from tests.conftest import MakeCase
from tests.repositories import git

pytestmark = pytest.mark.slow
ONCE = ("--direct", "--cooldown", "0", "--publish", "none", "--runs")
WORK = "import wrapped\nprint(wrapped.VERSION)\n\ndef f():\n    pass\n"


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    venv.create(tmp_path / "venv", with_pip=False)
    site = site_of(tmp_path / "venv")
    install(site, "wrapped", "2.2.2")
    install(site, "unrelated", "1.0")
    return tmp_path / "venv"


def function_step() -> dict[str, Any]:
    parameters = {"function": "work:f", "min_seconds": 0.001, "values": 1, "warmups": 0}
    return {"@id": "a", "resource": "PythonFunction", "command": "call", "parameters": parameters}


def process_step(*arguments: object) -> dict[str, Any]:
    parameters = {"arguments": [str(each) for each in arguments]}
    return {"@id": "a", "resource": "Process", "command": "execute", "parameters": parameters}


def cases(make: MakeCase, environment: Path) -> Iterator[Path]:
    """Make a case of each way to execute the same package."""
    python, tool = environment / "bin" / "python", environment / "bin" / "tool"
    tool.write_text(f"#!{python}\nimport sys\nfrom wrapped import VERSION\nprint(VERSION)\n")
    tool.chmod(0o755)
    data = {"work.py": WORK}
    settings = {"PythonFunction": {"python": str(environment)}}
    yield make("function", function_step(), data=data, resources=settings)
    yield make("process", process_step(python, "work.py"), data=data)
    yield make("script", process_step(tool))


def subjects(case: Path) -> list[Any]:
    records = sorted((case / "results").glob("run_*/run.json"))
    return [json.loads(record.read_text())["subject"] for record in records]


def test_another_version_of_a_package_begins_a_campaign(
    cli: Cli, case_folder: MakeCase, environment: Path
) -> None:
    for case in cases(case_folder, environment):
        cli("run", case, *ONCE, 1)
    install(site_of(environment), "wrapped", "2.4.0")
    for case in (environment.parent / "cases").iterdir():
        said = cli("run", case, *ONCE, 2)
        assert ": wrapped 2.2.2 and 2.4.0; a new campaign begins" in said.err
        assert len(subjects(case)) == 2
        assert len(earlier_campaigns(case / "results")) == 1
        compared = cli("compare", case, "--suspect", "include", code=0)
        assert "changed: packages: wrapped 2.2.2 and 2.4.0\n" in compared.out + compared.err


def test_a_package_that_the_function_does_not_import_is_a_mark(
    cli: Cli, case_folder: MakeCase, environment: Path
) -> None:
    """Earlier runs are set aside only once the function imports it."""
    function, process, _ = cases(case_folder, environment)
    for case in (function, process):
        cli("run", case, *ONCE, 1)
    assert subjects(function)[0]["imported"] == {"PythonFunction": {"wrapped": "2.2.2"}}
    install(site_of(environment), "unrelated", "2.0")
    said = cli("run", function, *ONCE, 2)
    assert "packages that its runs did not import have changed: unrelated 1.0 and 2.0" in said.err
    assert earlier_campaigns(function / "results") == []
    records = [read_record(function / "results" / f"run_{run}") for run in (1, 2)]
    assert differences(*map(subject_of, records)) == ()
    assert ": unrelated 1.0 and 2.0; a new campaign begins" in cli("run", process, *ONCE, 2).err
    (site_of(environment) / "wrapped.py").write_text("import unrelated\nVERSION = '2.2.2'\n")
    said = cli("run", function, *ONCE, 3)
    assert "measured something else: unrelated not imported and 2.0" in said.out + said.err


@pytest.mark.parametrize("in_git", [False, True])
def test_new_code_of_an_editable_package_begins_a_campaign(
    cli: Cli, case_folder: MakeCase, environment: Path, tmp_path: Path, *, in_git: bool
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "wrapped.py").write_text("VERSION = '1.0'\n")
    if in_git:
        git(tmp_path, "init", "-q", str(project))
        git(project, "add", ".")
        git(project, "commit", "-qm", "first")
    site = site_of(environment)
    (site / "wrapped.py").unlink()
    install(site, "wrapped", "1.0", url=project.as_uri(), dir_info={"editable": True})
    (site / "wrapped.pth").write_text(f"{project}\n")
    for case in cases(case_folder, environment):
        cli("run", case, *ONCE, 1)
    (project / "wrapped.py").write_text("VERSION = '1.0'  # faster\n")
    for case in (tmp_path / "cases").iterdir():
        said = cli("run", case, *ONCE, 1)
        assert "wrapped 1.0 (" in said.err
        assert "; a new campaign begins" in said.err
        assert "nothing to do" in cli("run", case, *ONCE, 1).err


def test_a_record_without_packages_tells_of_no_difference(
    cli: Cli, case_folder: MakeCase, environment: Path
) -> None:
    for case in cases(case_folder, environment):
        cli("run", case, *ONCE, 1)
        file = case / "results" / "run_1" / "run.json"
        record = json.loads(file.read_text())
        for part in ("environments", "imported", "libraries", "files", "build"):
            record["subject"].pop(part, None)
        file.write_text(json.dumps(record))
        assert "nothing to do" in cli("run", case, *ONCE, 1).err


# -- programs outside of the case


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Make a repository with a program's sources, what a build makes of them, and a case."""
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    (project / "build").mkdir()
    case = project / "benchmarks" / "count"
    case.mkdir(parents=True)
    step = process_step(sys.executable, "${root:build/count.py}")
    document = {"name": "count", "subject": {"files": "src", "build": ["build/*.py"]}}
    (case / "metadata.json").write_text(json.dumps({**document, "steps": [step]}))
    git(tmp_path, "init", "-q", str(project))
    build(project, "print(1)\n")
    return project


def build(project: Path, text: str) -> None:
    for file in ("src/count.py", "build/count.py"):
        (project / file).write_text(text)


def test_declared_files_and_builds_are_part_of_the_subject(cli: Cli, checkout: Path) -> None:
    case = checkout / "benchmarks" / "count"
    cli("run", case, *ONCE, 1)
    (checkout / "src" / "__pycache__").mkdir()
    (checkout / "src" / "__pycache__" / "count.pyc").write_text("")
    assert "nothing to do" in cli("run", case, *ONCE, 1).err
    build(checkout, "print(1)  # faster\n")
    said = cli("run", case, *ONCE, 1)
    assert ": files src, build build/*.py; a new campaign begins" in said.err
    [step] = read_record(case / "results" / "run_1").steps
    assert step.parameters["arguments"] == [sys.executable, "${root:build/count.py}"]
    (checkout / "build" / "count.py").unlink()
    said = cli("run", case, *ONCE, 1, code=2)
    assert f"'build/*.py' matches no file in {checkout}; build the program first" in said.err


def test_a_setting_may_name_an_environment_of_the_project(
    cli: Cli, case_folder: MakeCase, environment: Path
) -> None:
    (environment.parent / "benchyard.toml").write_text("")
    settings = {"PythonFunction": {"python": "${root:venv}"}}
    data = {"work.py": WORK}
    case = case_folder("rooted", function_step(), data=data, resources=settings)
    cli("run", case, *ONCE, 1)
    [subject] = subjects(case)
    assert subject["imported"] == {"PythonFunction": {"wrapped": "2.2.2"}}
