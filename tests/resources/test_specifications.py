"""What the containers of servers are made from: for KROWN's classes, to the letter as KROWN's."""

from pathlib import Path
from typing import Any

import pytest

import resources
from benchyard.core.errors import InputError
from resources._containers import Mount
from resources._databases.server import OWN
from tests.resources._databases.conftest import made
from tests.resources.containers import workspace_in

#: A shell, and a connection string, would read it as something else.
SECRET = "it's $secret"  # noqa: S105 - of no container
FUSEKI = ("--tdb2", "--update", "--loc", "/fuseki/databases/DB", "/ds")
OXIGRAPH = ("serve", "--location", "/data", "--bind", "0.0.0.0:7878")
POSTGRESQL = {f"POSTGRES_{name}": "root" for name in ("USER", "PASSWORD")}
VIRTUOSO = {
    "DBA_PASSWORD": "root",
    "VIRT_SPARQL_ResultSetMaxRows": "10000000",
    "VIRT_SPARQL_MaxQueryExecutionTime": "0",
    "VIRT_SPARQL_ExecutionTimeout": "0",
    "VIRT_SPARQL_MaxQueryCostEstimationTime": "0",
    "VIRT_Parameters_MaxVectorSize": "3000000",
    "VIRT_Parameters_NumberOfBuffers": "365072",
    "VIRT_Parameters_MaxDirtyBuffers": "279172",
}


@pytest.mark.parametrize(
    ("name", "image", "command", "ports", "environment"),
    [
        (
            "PostgreSQL",
            "kgconstruct/postgresql:v14.5",
            (),
            [5432],
            POSTGRESQL | {"POSTGRES_DB": "db", "POSTGRES_HOST_AUTH_METHOD": "trust"},
        ),
        (
            "MySQL",
            "kgconstruct/mysql:v8.0",
            None,
            [3306],
            {"MYSQL_ROOT_PASSWORD": "root", "MYSQL_DATABASE": "db"},
        ),
        ("Redis", "redis:7", (), [6379], {}),
        (
            "Fuseki",
            "kgconstruct/fuseki:v4.6.1",
            FUSEKI,
            [3030],
            {"JAVA_OPTIONS": "-Xmx2147483648 -Xms2147483648"},
        ),
        ("Oxigraph", "oxigraph/oxigraph:0.5.13", OXIGRAPH, [7878], {}),
        ("Virtuoso", "kgconstruct/virtuoso:v7.2.7", (), [8890, 1111], VIRTUOSO),
    ],
)
def test_the_container_is_krowns_or_the_official_one(
    tmp_path: Path,
    name: str,
    image: str,
    command: tuple[str, ...] | None,
    ports: list[int],
    environment: dict[str, str],
) -> None:
    spec = made(name, workspace_in(tmp_path), image="", memory="4GB")._specification()
    assert (spec.image, spec.aliases, spec.entrypoint) == (image, (name,), None)
    assert spec.ports == dict.fromkeys(ports, 0)
    assert spec.settings.memory_bytes == 4 * 2**30
    assert environment.items() <= spec.environment.items()
    if command is None:
        assert spec.command[0] == "--secure-file-priv="
    else:
        assert spec.command == command


def test_files_are_where_krown_has_them(tmp_path: Path) -> None:
    space = workspace_in(tmp_path)
    inputs = Mount(space.inputs, str(space.inputs), read_only=True)
    database = Mount(space.own / "database", "/fuseki/databases/DB")
    mounts = {
        name: made(name, space)._specification().mounts
        for name in ("Fuseki", "Virtuoso", "PostgreSQL")
    }
    assert mounts["Fuseki"] == [Mount(space.shared, "/data/shared"), inputs, database]
    assert mounts["Virtuoso"] == [Mount(space.shared, "/usr/share/proj"), inputs]
    assert {mount.target for mount in mounts["PostgreSQL"]} >= {"/data/shared", OWN}


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("PostgreSQL", {"parameters": {"work mem": 1}}, "'work mem' is not the name"),
        ("MySQL", {"variables": {"max connections": 5}}, "'max connections' is not the name"),
        ("Redis", {"parameters": {"a b": 1}}, "'a b' is not the name"),
        ("Redis", {"maxmemory": "much"}, "is no size"),
    ],
)
def test_wrong_settings_are_refused(name: str, settings: dict[str, Any], said: str) -> None:
    found: Any = resources.find().classes[name]
    with pytest.raises(InputError, match=said):
        found.Settings(**settings)


def test_a_password_of_the_cases_own_is_no_argument(tmp_path: Path) -> None:
    given = {"MARIADB_ROOT_PASSWORD": SECRET}
    client = made("MySQL", workspace_in(tmp_path), environment=given)._client()
    assert client.environment["MYSQL_PWD"] == SECRET
    assert not [word for word in client.arguments if "secret" in word]
