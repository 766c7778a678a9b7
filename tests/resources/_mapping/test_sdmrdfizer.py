"""SDM-RDFizer: how it is called, and what its configuration says."""

from configparser import ConfigParser, ExtendedInterpolation
from typing import Any

import pytest

INI = "/data/config_sdmrdfizer.ini"
CALL = ("python3", "sdm-rdfizer/rdfizer/run_rdfizer.py")


def read(text: str) -> dict[str, dict[str, str]]:
    """Read a configuration as SDM-RDFizer does."""
    parser = ConfigParser(interpolation=ExtendedInterpolation())
    parser.read_string(text)
    return {name: dict(parser[name]) for name in parser.sections()}


def datasets(name: str, output_format: str) -> dict[str, str]:
    return {
        "number_of_datasets": "1",
        "output_folder": "/data/output",
        "all_in_one_file": "yes",
        "remove_duplicate": "yes",
        "enrichment": "yes",
        "name": name,
        "ordered": "no",
        "large_file": "false",
        "output_format": output_format,
    }


@pytest.mark.parametrize(
    ("serialization", "theirs"),
    [("ntriples", "n-triples"), ("nquads", "n-triples"), ("turtle", "turtle")],
)
def test_a_mapping_of_files(engine: Any, calls: Any, serialization: str, theirs: str) -> None:
    calls.makes = {"/data/output/out.nt": "<s> <p> <o> .\n"}
    result = engine("SDMRDFizer").execute_mapping("mapping.ttl", "out.nt", serialization)
    assert calls.command == (*CALL, INI)
    assert calls.specs[0].image == "kgconstruct/sdm-rdfizer:v4.6.6.5"
    assert read(calls.seen[0][INI]) == {
        "default": {"main_directory": "/data/shared"},
        "datasets": datasets("out", theirs),
        "dataset1": {"name": "out", "mapping": "/data/shared/mapping.ttl"},
    }
    assert result.output.read_text() == "<s> <p> <o> .\n"


@pytest.mark.parametrize(("kind", "theirs"), [("PostgreSQL", "postgres"), ("MySQL", "mysql")])
def test_a_database(
    engine: Any, calls: Any, database: dict[str, Any], kind: str, theirs: str
) -> None:
    calls.makes = {"/data/output/out.nt": ""}
    parameters = database | {"rdb_type": kind}
    engine("SDMRDFizer").execute_mapping("mapping.ttl", "out.nt", "ntriples", **parameters)
    settings = read(calls.seen[0][INI])
    assert settings["datasets"] == datasets("out", "n-triples") | {"dbtype": theirs}
    assert settings["dataset1"] == {
        "name": "out",
        "mapping": "/data/mapping_converted.rml.ttl",
        "user": "root",
        "password": database["rdb_password"],
        "host": "PostgreSQL",
        "port": "5432",
        "db": "db",
    }
    assert set(calls.modes.values()) == {0o600}
    assert database["rdb_password"] not in str(calls.specs[0])


@pytest.mark.parametrize(("arguments", "after"), [([], (INI,)), (["own.ini"], ("own.ini",))])
def test_execute(engine: Any, calls: Any, arguments: list[str], after: tuple[str, ...]) -> None:
    engine("SDMRDFizer").execute(arguments)
    assert calls.command == (*CALL, *after)
