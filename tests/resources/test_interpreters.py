"""Embedded databases whose library comes from another Python environment."""

import json
import platform
import subprocess
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchyard.case.resource import Workspace
from benchyard.core.errors import InputError, NotReadyError
from resources.duckdb import DuckDB, DuckDBSettings
from resources.embedded import EmbeddedDatabase, SQLite, SQLiteSettings
from tests.conftest import MakeCase, RunBenchyard
from tests.resources._databases.conftest import made, query

Open = Callable[..., EmbeddedDatabase[Any]]

#: An engine that can do nothing but say which it is.
FAKE = "__version__ = '{version}'"


def environment(folder: Path, version: str | None = None) -> Path:
    """Make a virtual environment; in it a module duckdb of a version, if one is given."""
    venv.create(folder, with_pip=False, symlinks=True)
    if version is not None:
        [site] = folder.glob("lib/python*/site-packages")
        (site / "duckdb.py").write_text(FAKE.format(version=version))
    return folder


def test_the_process_is_that_of_the_environment(
    tmp_path: Path, open_database: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = environment(tmp_path / "other place")
    monkeypatch.setenv("PATH", f"{place}/bin")
    for python in (str(place), "python", f"{place}/bin/python"):
        database = open_database("SQLite", {"python": python})
        [pid] = database.pids()
        assert f"{place}/bin/python" in Path(f"/proc/{pid}/cmdline").read_text()
        assert query(database, "SELECT sqlite_version() AS v")[1] == [database.version()]
        assert database.facts() == {"python_version": platform.python_version()}


def test_the_version_is_that_of_the_library_there(tmp_path: Path, workspace: Workspace) -> None:
    places = [str(environment(tmp_path / v, v)) for v in ("1.2.2", "1.3.0-dev45")]
    told = [DuckDB.installed({"python": place}) for place in places]
    assert told == [{"version": "1.2.2"}, {"version": "1.3.0.dev45"}]
    database = DuckDB(DuckDBSettings(python=places[0]), workspace)
    database.initialize()
    assert database.version() == "1.2.2"


def test_without_the_setting_it_is_the_lab_s_own(workspace: Workspace) -> None:
    database = SQLite(SQLiteSettings(), workspace)
    database.initialize()
    assert database.facts() == {}
    assert SQLite.installed({}) == {"version": database.version()}


@pytest.mark.parametrize(
    ("name", "python", "said"),
    [
        *(
            ("DuckDB", python, "there is no Python interpreter .*must name one")
            for python in ("/no/such/python", "no-such-python-anywhere", "~nobody-x/bin")
        ),
        ("DuckDB", "FOLDER/no", "no Python interpreter in the folder 'FOLDER/no'"),
        ("DuckDB", "FOLDER/empty", "install it there: FOLDER/empty/bin/python -m pip install"),
        *(
            ("SQLite", program, f"{program} cannot (load|be asked for) SQLite: ")
            for program in ("true", "false", "cat")
        ),
    ],
)
def test_what_is_no_interpreter_with_the_library_is_told(
    tmp_path: Path, workspace: Workspace, name: str, python: str, said: str
) -> None:
    (tmp_path / "no").mkdir()
    if "empty" in python:
        environment(tmp_path / "empty")
    database = made(name, workspace, python=python.replace("FOLDER", str(tmp_path)))
    with pytest.raises(NotReadyError, match=said.replace("FOLDER", str(tmp_path))):
        database.initialize()


@pytest.mark.parametrize("python", ["", "venv/bin/python", "./x", "../python"])
@pytest.mark.parametrize("settings", [DuckDBSettings, SQLiteSettings])
def test_a_relative_path_is_refused(settings: Any, python: str) -> None:
    with pytest.raises(InputError, match="must be a path from / on"):
        settings(python=python)


@pytest.mark.long
def test_two_versions_of_duckdb_take_turns(
    case_folder: MakeCase, run_benchyard: RunBenchyard, tmp_path: Path
) -> None:
    for version in ("1.4.2", "2.0.1"):
        place = tmp_path / f"duckdb-{version}"
        venv.create(place, with_pip=True)
        install = [place / "bin" / "python", "-m", "pip", "install", "-q", f"duckdb=={version}"]
        subprocess.run(install, check=True, capture_output=True)
    folder = case_folder(
        "versions",
        {
            "resource": "DuckDB",
            "command": "execute_query_file",
            "parameters": {"query_file": "version.sql", "results_file": "version.csv"},
            "check": {"pattern": r"^v${matrix.duckdb}$"},
        },
        data={"version.sql": "SELECT version() AS v;"},
        matrix={"duckdb": ["1.4.2", "2.0.1"]},
        resources={"DuckDB": {"python": str(tmp_path / "duckdb-${matrix.duckdb}")}},
    )
    order = ("--order", "round-robin", "--direct", "--runs", "2", "--cooldown", "0")
    ended = run_benchyard("run", folder, *order)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    begun: list[tuple[str, str]] = []
    for file in folder.glob("results/*/run_*/run.json"):
        record = json.loads(file.read_text())
        version = record["resources"]["DuckDB"]["version"]
        assert record["subject"]["versions"]["DuckDB"] == {"version": version}
        assert file.parent.parent.name == f"duckdb={version}"
        begun.append((record["started_at"], version))
    assert [version for _, version in sorted(begun)] == ["1.4.2", "2.0.1"] * 2
