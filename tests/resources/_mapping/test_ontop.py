"""Ontop: how it is called, and what it is given."""

from typing import Any

import pytest

from benchyard.case.parameters import signature_of
from resources._containers import engine_config
from resources.ontop import OntopVirtualize

MAPPING = "/data/mapping_converted.r2rml.ttl"
PROPERTIES = "/data/config.properties"


@pytest.mark.parametrize(
    ("kind", "driver", "scheme"),
    [
        ("PostgreSQL", "org.postgresql.Driver", "jdbc:postgresql"),
        ("MySQL", "com.mysql.cj.jdbc.Driver", "jdbc:mysql"),
    ],
)
def test_materialize(
    engine: Any, calls: Any, database: dict[str, Any], kind: str, driver: str, scheme: str
) -> None:
    calls.makes = {"/data/shared/out.nt": "<a> <b> <c> .\n"}
    parameters = database | {"rdb_type": kind, "rdb_password": "root"}
    resource = engine("OntopMaterialize")
    result = resource.execute_mapping("mapping.ttl", "out.nt", "ntriples", **parameters)
    before = ("/ontop/ontop", "materialize", "-f", "ntriples")
    files = ("-m", MAPPING, "-o", "/data/shared/out.nt", "-p", PROPERTIES)
    assert calls.command == (*before, *files)
    assert calls.specs[0].image == "kgconstruct/ontop:v5.0.0"
    assert calls.environment == {
        "ONTOP_JAVA_ARGS": "-Xmx8000000000 -Xms8000000000",
        "ONTOP_LOG_LEVEL": "info",
    }
    assert calls.seen[0][PROPERTIES].splitlines() == [
        f"jdbc.url={scheme}://PostgreSQL:5432/db",
        f"jdbc.driver={driver}",
        "jdbc.user=root",
        "jdbc.password=root",
    ]
    assert set(calls.modes.values()) == {0o600}
    assert result.output.read_text() == "<a> <b> <c> .\n"


def test_a_case_may_set_the_environment(engine: Any, calls: Any, database: dict[str, Any]) -> None:
    calls.makes = {"/data/shared/out.nt": ""}
    resource = engine("OntopMaterialize", environment={"ONTOP_LOG_LEVEL": "debug"}, memory="1GB")
    resource.execute_mapping("mapping.ttl", "out.nt", "ntriples", **database)
    assert calls.environment == {
        "ONTOP_JAVA_ARGS": "-Xmx536870912 -Xms536870912",
        "ONTOP_LOG_LEVEL": "debug",
    }


def test_the_endpoint_is_published_on_loopback_alone(engine: Any) -> None:
    config: Any = engine_config(engine("OntopVirtualize")._specification())
    bound = config["HostConfig"]["PortBindings"]
    assert bound == {"8888/tcp": [{"HostIp": "127.0.0.1", "HostPort": ""}]}


def test_an_endpoint_has_no_output_and_takes_the_formats_of_krown() -> None:
    signature = signature_of(OntopVirtualize.execute_mapping)
    assert "output_file" not in signature.annotations
    properties: Any = signature.schema()["properties"]
    assert properties["serialization"]["enum"] == [
        "ntriples",
        "nquads",
        "turtle",
        "rdfjson",
        "rdfxml",
        "jsonld",
        "csv",
    ]
