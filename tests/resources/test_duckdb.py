"""DuckDB alone: settings, its own errors about files, and the library staying away."""

import importlib.metadata
import sys
from collections.abc import Callable
from typing import Any

import pytest

from benchyard.case.resource import Workspace
from benchyard.core.errors import CommandFailedError, InputError, NotReadyError, SettingsError
from resources.duckdb import DuckDB, DuckDBSettings
from resources.embedded import EmbeddedDatabase
from tests.conftest import MakeCase, RunBenchyard, process
from tests.resources._databases.conftest import query
from tests.resources.containers import run_python

Open = Callable[..., EmbeddedDatabase[Any]]
Put = Callable[[str, str], str]


def test_version_is_the_library_s(workspace: Workspace, open_database: Open) -> None:
    version = DuckDB(DuckDBSettings(), workspace).version()
    assert version == importlib.metadata.version("duckdb")
    assert query(open_database("DuckDB"), "SELECT version() AS v")[1] == [f"v{version}"]


def test_settings_reach_the_engine(open_database: Open) -> None:
    database = open_database("DuckDB", {"threads": 1, "memory_limit": "256MiB"})
    rows = query(
        database,
        "SELECT current_setting('threads') AS t, current_setting('memory_limit') AS m, "
        "current_setting('autoinstall_known_extensions') AS a",
    )
    assert rows[1] == ["1", "256.0 MiB", "false"]


def test_wrong_settings_are_told(open_database: Open) -> None:
    with pytest.raises(InputError, match="threads is 0"):
        DuckDBSettings(threads=0)
    with pytest.raises(NotReadyError, match=r"DuckDB cannot open its database: .*'parsecs'"):
        open_database("DuckDB", {"memory_limit": "12 parsecs"})


def test_a_value_of_the_wrong_type_is_named_with_its_line(open_database: Open, put: Put) -> None:
    database = open_database("DuckDB")
    put("s.sql", "CREATE TABLE t (a INTEGER, b VARCHAR);")
    put("t.csv", 'a,b\n1,"two\nlines"\nfoo,x\n')
    with pytest.raises(CommandFailedError, match=r"(?s)DuckDB: t\.csv:4: .*\"foo\" to 'INTEGER'"):
        database.load("t.csv", "t", "s.sql")
    put("t.tbl", "1|x|\nfoo|y|\n")
    with pytest.raises(CommandFailedError, match=r"(?s)DuckDB: t\.tbl:2: .*\"foo\" to 'INTEGER'"):
        database.load("t.tbl", "t", "s.sql")


def test_statements_that_describe_are_queries_and_changes_are_not(
    open_database: Open, put: Put
) -> None:
    database = open_database("DuckDB")
    database.execute("CREATE TABLE t (a INTEGER)")
    assert query(database, "DESCRIBE t")[1][:2] == ["a", "INTEGER"]
    assert query(database, "PRAGMA table_info('t')")[1][1] == "a"
    assert query(database, "INSERT INTO t VALUES (5) RETURNING a") == [["a"], ["5"]]
    put("q.sql", "INSERT INTO t VALUES (6); SET threads = 1")
    assert database.execute_query_file("q.sql").values == {"rows": None}


def test_the_lab_s_own_process_does_not_load_the_library() -> None:
    code = "import sys, resources; resources.find(); print('_duckdb' in sys.modules)"
    assert "False" in run_python("-c", code, timeout=60)


def test_only_who_names_no_interpreter_needs_the_lab_s_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    DuckDBSettings(python="/opt/duckdb-1.2.2")
    with pytest.raises(SettingsError, match=r"DuckDB needs duckdb"):
        DuckDBSettings()


@pytest.mark.parametrize(("name", "text"), [("t.csv", "a,b\n1,x\n"), ("t.tbl", "x|1|\n")])
def test_an_equals_sign_in_a_path_is_no_column(
    open_database: Open, put: Put, name: str, text: str
) -> None:
    """DuckDB 1.3 could load no CSV from below such a folder."""
    database = open_database("DuckDB")
    put("s.sql", "CREATE TABLE t (b VARCHAR, a INTEGER);")
    put(f"year=2024/{name}", text)
    database.load(f"year=2024/{name}", "t", "s.sql")
    assert query(database, "SELECT * FROM t") == [["b", "a"], ["x", "1"]]


@pytest.mark.slow
def test_every_point_of_a_matrix_loads_its_csv_and_sees_no_equals_sign(
    case_folder: MakeCase, run_benchyard: RunBenchyard
) -> None:
    load = {"csv_file": "t.csv", "table": "t", "schema_file": "s.sql"}
    step = {"@id": "load", "name": "load", "resource": "DuckDB", "command": "load"}
    folder = case_folder(
        "points",
        {**step, "parameters": load},
        process("look", "pwd; readlink -f ."),
        data={"t.csv": "a\n1\n", "s.sql": "CREATE TABLE t (a INTEGER);"},
        matrix={"scale": [0.1, 1]},
    )

    ended = run_benchyard("run", folder, "--direct", "--runs", "1", "--cooldown", "0")

    assert ended.returncode == 0, ended.stderr
    for point in ("scale=0.1", "scale=1"):
        run = folder / "results" / point / "run_1"
        said = (run / "process/02-look.stdout.txt").read_text()
        assert str(folder / "results/.work") in said
        assert "=" not in said
    assert not (folder / "results/.work").exists()
