"""PostgreSQL: what its container is made from, and what it alone does."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from benchyard.core.errors import NotReadyError
from tests.resources._databases.conftest import Database, put, query, running
from tests.resources.containers import refusal

pytestmark = [pytest.mark.requires("docker", "image:postgresql"), pytest.mark.slow]

#: A shell, and a connection string, would read it as something else.
SECRET = "it's $secret"  # noqa: S105 - of a container that lives for seconds


@pytest.fixture(scope="module")
def database(tmp_path_factory: Any) -> Generator[Database]:
    parameters = {"work_mem": "8MB", "log_checkpoints": False}
    with running("PostgreSQL", tmp_path_factory.mktemp("run"), parameters=parameters) as up:
        yield up


def test_parameters_arrive_at_the_server(database: Database) -> None:
    assert query(database, "SHOW work_mem") == [["work_mem"], ["8MB"]]
    assert query(database, "SHOW log_checkpoints")[1:] == [["off"]]


def test_vacuum_needs_no_transaction_around_it(database: Database) -> None:
    put(database, "v.csv", "x\n1\n")
    database.load("v.csv", "v")
    database.vacuum()
    database.vacuum(["V"], full=True, analyze=True)
    assert "'nowhere'" in refusal(lambda: database.vacuum(["nowhere"]))
    assert query(database, "SELECT last_vacuum IS NULL FROM pg_stat_user_tables LIMIT 1")


def test_a_dump_with_its_data_is_a_schema(database: Database) -> None:
    put(
        database,
        "dump.sql",
        "SET client_min_messages = warning;\nDROP TABLE IF EXISTS d;\n"
        'CREATE TABLE d ("Mixed" integer, b text);\n'
        'COPY d ("Mixed", b) FROM stdin;\n1\tone; \'\n2\t\\N\n\\.\n\nSELECT 1;\n',
    )
    put(database, "more.csv", "mixed,b\n3,NULL\n")
    assert database.load_sql_schema("dump.sql", []).values == {"rows": 0, "files": 0}
    database.load_sql_schema("dump.sql", [("more.csv", "d")])
    assert query(database, "SELECT * FROM d ORDER BY 1") == [
        ["Mixed", "b"], ["1", "one; '"], ["2", ""], ["3", ""],
    ]  # fmt: skip


def test_a_key_of_the_files_own_is_told(database: Database) -> None:
    put(database, "k.csv", "Key,x\n1,2\n")
    assert "k.csv:1: a column is named 'key'" in refusal(lambda: database.load("k.csv", "k"))


def test_routines_and_dollars_are_one_statement(database: Database) -> None:
    rows = query(
        database,
        "CREATE OR REPLACE FUNCTION f() RETURNS integer LANGUAGE plpgsql AS $body$\n"
        "BEGIN RETURN 1; END; $body$;\n"
        "CREATE OR REPLACE FUNCTION g() RETURNS integer LANGUAGE sql\n"
        "BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; SELECT 2; END;\n"
        "/* a /* nested; */ comment; */ SELECT f() AS f, g() AS g, E'it\\'s;' AS e;\n",
    )
    assert rows == [["f", "g", "e"], ["1", "2", "it's;"]]


def test_a_password_of_ones_own_works(tmp_path: Path) -> None:
    secret = {"POSTGRES_PASSWORD": SECRET}
    with running("PostgreSQL", tmp_path, environment=secret) as database:
        assert query(database, "SELECT 1 AS one") == [["one"], ["1"]]
        assert "secret" not in refusal(lambda: database.execute("SELECT * FROM nowhere"))


def test_a_server_that_does_not_start_is_told_with_its_words(tmp_path: Path) -> None:
    with (
        pytest.raises(NotReadyError, match="no_such_parameter"),
        running("PostgreSQL", tmp_path, parameters={"no_such_parameter": 1}),
    ):
        raise AssertionError
