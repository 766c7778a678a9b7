"""Which distributions an environment has, and in which version."""

import sys
import venv
from pathlib import Path

import pytest

from benchyard.case.subject.environments import imported, installed, search_path
from tests.benchyard.case.subject.conftest import install, site_of
from tests.repositories import git


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    venv.create(tmp_path / "venv", with_pip=False)
    return tmp_path / "venv"


def versions(environment: Path, without: tuple[Path, ...] = ()) -> dict[str, str]:
    return dict(installed(search_path(str(environment / "bin" / "python"), ()), without))


def editable(environment: Path, project: Path) -> None:
    install(site_of(environment), "mylib", "1.0", url=project.as_uri(), dir_info={"editable": True})


def test_names_are_normalized_and_versions_read_anew(environment: Path) -> None:
    for version in ("0.6.2", "4.0.0"):
        install(site_of(environment), "Markdown_It.py", version)
        assert versions(environment) == {"markdown-it-py": version}
    metadata = site_of(environment) / "Markdown_It_py-4.0.0.dist-info" / "METADATA"
    metadata.write_text("Name: Markdown_It.py\nVersion: 4.0.1\n")
    assert versions(environment) == {"markdown-it-py": "4.0.1"}


def test_what_is_left_of_a_distribution_is_none(environment: Path) -> None:
    for name, text in (("empty", ""), ("wrong", "Name: wrong\n")):
        (site_of(environment) / f"{name}-1.0.dist-info").mkdir()
        (site_of(environment) / f"{name}-1.0.dist-info" / "METADATA").write_text(text)
    install(site_of(environment), "broken", "1.0", url="x")
    (site_of(environment) / "broken-1.0.dist-info" / "direct_url.json").write_text("[1]")
    assert versions(environment) == {}


def test_an_editable_project_in_a_repository_has_its_commit(
    environment: Path, repository: Path
) -> None:
    editable(environment, repository)
    module = repository / "mylib.py"
    seen: list[str] = []
    for code in ("A = 1\n", "A = 2\n"):
        module.write_text(code)
        git(repository, "add", ".")
        seen.append(versions(environment)["mylib"])
        git(repository, "commit", "-qm", code)
        seen.append(versions(environment)["mylib"])
    assert len(set(seen)) == 4
    assert [" with changes " in version for version in seen] == [True, False, True, False]
    assert all(version.startswith("1.0 (commit ") for version in seen)


@pytest.mark.parametrize("ignored", [False, True])
def test_an_editable_project_that_git_does_not_track_has_the_digest_of_its_code(
    environment: Path, repository: Path, tmp_path: Path, *, ignored: bool
) -> None:
    project = repository / "ignored" if ignored else tmp_path / "project"
    (project / "results").mkdir(parents=True)
    editable(environment, project)
    seen: list[str] = []
    for code in ("A = 1\n", "A = 2\n"):
        (project / "mylib.py").write_text(code)
        (project / "README.md").write_text(code)
        (project / "results" / "answer.py").write_text(code)
        seen.append(versions(environment, (project / "results",))["mylib"])
    assert len(set(seen)) == 2
    assert all(version.startswith("1.0 (files ") for version in seen)
    (project / "README.md").write_text("other words")
    (project / "results" / "answer.py").write_text("other words")
    assert versions(environment, (project / "results",))["mylib"] == seen[1]


def test_a_distribution_from_a_repository_has_its_commit(environment: Path) -> None:
    commit = {"vcs": "git", "commit_id": "0123456789abcdef"}
    install(site_of(environment), "mylib", "1.0", url="https://x/y.git", vcs_info=commit)
    assert versions(environment) == {"mylib": "1.0 (commit 0123456789)"}


def test_a_distribution_from_a_local_folder_has_the_digest_of_its_files(environment: Path) -> None:
    seen: list[str] = []
    for code in ("A = 1\n", "A = 2\n", "A = 2\n"):
        install(site_of(environment), "mylib", "1.0", code, url="file:///x/mylib", dir_info={})
        seen.append(versions(environment)["mylib"])
    assert seen[0] != seen[1] == seen[2]
    assert seen[0].startswith("1.0 (files ")


def test_modules_belong_to_the_distributions_that_own_their_files(
    environment: Path, tmp_path: Path
) -> None:
    site, project = site_of(environment), tmp_path / "project"
    (project / "mylib").mkdir(parents=True)
    for name in ("used", "unused", "with-egg"):
        install(site, name, "1.0")
    (site / "with_egg-1.0.dist-info" / "RECORD").unlink()
    editable(environment, project)
    modules = [site / "used.py", site / "with_egg.py", site / "unknown.py"]
    folders = [str(folder) for folder in search_path(str(environment / "bin" / "python"), ())]
    assert str(site) in folders
    found = imported(map(str, modules), folders, ())
    assert found == {"used": "1.0", "with-egg": "1.0"}
    found = imported([str(project / "mylib" / "x.py")], folders, ())
    assert list(found) == ["mylib"]


def test_the_variables_of_a_step_lead_to_further_folders(environment: Path, tmp_path: Path) -> None:
    install(tmp_path, "mylib", "1.0")
    python = str(environment / "bin" / "python")
    folders = search_path(python, (("PYTHONPATH", str(tmp_path)),))
    assert installed(folders, ()) == {"mylib": "1.0"}
    assert installed(search_path(python, ()), ()) == {}


def test_what_is_no_interpreter_has_no_environment(tmp_path: Path) -> None:
    assert search_path(str(tmp_path / "absent"), ()) == ()
    assert search_path("/bin/false", ()) == ()
    assert "click" in installed(search_path(sys.executable, ()), ())
