"""MySQL and MariaDB: what the container is made from, and what they alone do."""

from collections.abc import Generator
from typing import Any

import pytest

from tests.resources._databases.conftest import Database, put, query, running
from tests.resources.containers import refusal

pytestmark = [pytest.mark.requires("docker", "image:mysql"), pytest.mark.slow]


@pytest.fixture(scope="module")
def database(tmp_path_factory: Any) -> Generator[Database]:
    variables = {"max_connections": 17}
    with running("MySQL", tmp_path_factory.mktemp("run"), variables=variables) as up:
        yield up


def test_variables_arrive_at_the_server(database: Database) -> None:
    assert query(database, "SELECT @@max_connections AS n") == [["n"], ["17"]]


def test_a_wrong_file_leaves_no_row(database: Database) -> None:
    put(database, "s.sql", "CREATE TABLE IF NOT EXISTS kept (a INTEGER);")
    put(database, "k.csv", "a\n1\n")
    database.load("k.csv", "kept", "s.sql")
    put(database, "k.csv", "a\n2\nthree\n")
    assert "k.csv:3: Incorrect integer value: 'three'" in refusal(
        lambda: database.load("k.csv", "kept", "s.sql")
    )
    put(database, "k.csv", "a\n4\n")
    put(database, "open.csv", 'a\n"5\n')
    pairs: Any = [{"file": name, "table": "kept"} for name in ("k.csv", "open.csv")]
    assert "open.csv:" in refusal(lambda: database.load_multiple(pairs, "s.sql"))
    assert query(database, "SELECT a FROM kept") == [["a"], ["1"]]


def test_two_files_for_one_new_table_are_told(database: Database) -> None:
    put(database, "k.csv", "a\n1\n")
    twice: Any = [{"file": "k.csv", "table": "t"}, {"file": "k.csv", "table": "T"}]
    assert "two files" in refusal(lambda: database.load_multiple(twice))


def test_a_delimiter_that_a_schema_leaves_behind_hangs_nothing(database: Database) -> None:
    put(database, "s.sql", "DELIMITER //\nCREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END//\n")
    database.load_sql_schema("s.sql", [])
    assert query(database, "CALL p()") == [["2"], ["2"]]


def test_an_empty_answer_with_two_columns_of_one_name(database: Database) -> None:
    put(database, "q.sql", "SELECT 1 AS a, 2 AS a FROM (SELECT 1) t WHERE 1 = 0")
    assert database.execute_query_file("q.sql", "q.csv").values == {"rows": 0}
    assert database.workspace.file("q.csv").read_text() == ""


def test_tables_are_written_anew(database: Database) -> None:
    put(database, "o.csv", "a\n1\n")
    database.load("o.csv", "o")
    database.optimize(["O"])
    database.optimize()


def test_the_program_of_mariadbs_newer_images_is_found(database: Database) -> None:
    database._hang_up()
    database._program = "mysql-that-is-not-there"
    database.execute("SELECT 1")
    assert database._program == "mariadb"
