"""Morph-RDB: how it is called, and what its configuration says."""

from typing import Any

import pytest

CALL = (
    "java",
    "-Xmx8000000000",
    "-Xms8000000000",
    "-cp",
    ".:morph-rdb-dist-3.12.6.jar:dependency/*",
    "es.upm.fi.dia.oeg.morph.r2rml.rdb.engine.MorphRDBRunner",
)


@pytest.mark.parametrize(
    ("kind", "driver", "url"),
    [
        ("PostgreSQL", "org.postgresql.Driver", "jdbc:postgresql://PostgreSQL:5432/db"),
        (
            "MySQL",
            "com.mysql.jdbc.Driver",
            "jdbc:mysql://PostgreSQL:5432/db?allowPublicKeyRetrieval=true&useSSL=false",
        ),
    ],
)
def test_a_mapping(
    engine: Any,
    calls: Any,
    database: dict[str, Any],
    kind: str,
    driver: str,
    url: str,
) -> None:
    calls.makes = {"/data/shared/out.nt": ""}
    parameters = database | {"rdb_type": kind, "rdb_password": "root"}
    engine("MorphRDB").execute_mapping("mapping.ttl", "out.nt", "ntriples", **parameters)
    assert calls.command == (*CALL, "/data", "config.properties")
    assert calls.specs[0].image == "kgconstruct/morph-rdb:v3.12.5"
    assert calls.seen[0]["/data/config.properties"].splitlines() == [
        "mappingdocument.file.path=shared/mapping.ttl",
        "output.file.path=shared/out.nt",
        "output.rdflanguage=N-TRIPLE",
        "database.name[0]=db",
        f"database.driver[0]={driver}",
        f"database.type[0]={kind.lower()}",
        f"database.url[0]={url}",
        "database.user[0]=root",
        "database.pwd[0]=root",
        "no_of_database=1",
    ]
    assert calls.modes == {"config.properties": 0o600}


def test_quads(engine: Any, calls: Any, database: dict[str, Any]) -> None:
    calls.makes = {"/data/shared/sub/out.nq": ""}
    engine("MorphRDB").execute_mapping("mapping.ttl", "sub/out.nq", "nquads", **database)
    settings = calls.seen[0]["/data/config.properties"]
    assert "output.file.path=shared/sub/out.nq\n" in settings
    assert "output.rdflanguage=N-QUADS\n" in settings


@pytest.mark.parametrize(
    ("arguments", "after"),
    [([], ("/data", "config.properties")), (["/data/shared", "own"], ("/data/shared", "own"))],
)
def test_execute(engine: Any, calls: Any, arguments: list[str], after: tuple[str, ...]) -> None:
    engine("MorphRDB").execute(arguments)
    assert calls.command == (*CALL, *after)
