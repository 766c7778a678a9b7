"""Morph-KGC: how it is called, and what its configuration says."""

from configparser import ConfigParser, ExtendedInterpolation
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from benchyard.core.errors import CommandFailedError

INI = "/data/config_morphkgc.ini"


def read(text: str) -> dict[str, dict[str, str]]:
    """Read a configuration as Morph-KGC does."""
    parser = ConfigParser(interpolation=ExtendedInterpolation())
    parser.read_string(text)
    return {name: dict(parser[name]) for name in parser.sections()}


def test_a_mapping_of_files(engine: Any, calls: Any) -> None:
    calls.makes = {"/data/output/out.nt": "<s> <p> <o> .\n"}
    resource = engine("MorphKGC")
    result = resource.execute_mapping("mapping.ttl", "out.nt", "ntriples")
    assert calls.command == ("python3", "-m", "morph_kgc", INI)
    assert calls.specs[0].image == "kgconstruct/morph-kgc:v2.2.0"
    assert read(calls.seen[0][INI]) == {
        "CONFIGURATION": {"output_format": "N-TRIPLES", "output_file": "/data/output/out.nt"},
        "DataSource0": {"mappings": "/data/shared/mapping.ttl"},
    }
    assert result.output == resource.workspace.shared / "out.nt"
    assert result.output.read_text() == "<s> <p> <o> .\n"
    assert result.values["files"] == 1


def test_its_folder_is_read_only_and_lies_outside_of_the_results(engine: Any, calls: Any) -> None:
    calls.makes = {"/data/output/out.nt": ""}
    resource = engine("MorphKGC")
    resource.execute_mapping("mapping.ttl", "out.nt", "ntriples")
    mounts = {mount.target: mount for mount in calls.specs[0].mounts}
    assert mounts["/data"].source == resource.workspace.own
    assert mounts["/data"].read_only
    assert not mounts["/data/shared"].read_only
    assert not mounts["/data/output"].read_only
    assert calls.modes == {"config_morphkgc.ini": 0o600}


@pytest.mark.parametrize(
    ("kind", "scheme"),
    [("PostgreSQL", "postgresql+psycopg2"), ("MySQL", "mysql+pymysql")],
)
def test_a_database_arrives_unchanged(
    engine: Any, calls: Any, database: dict[str, Any], kind: str, scheme: str
) -> None:
    calls.makes = {"/data/output/out.nq": ""}
    parameters = database | {"rdb_type": kind}
    engine("MorphKGC").execute_mapping("mapping.ttl", "out.nq", "nquads", **parameters)
    settings = read(calls.seen[0][INI])
    url = urlsplit(settings["DataSource0"]["db_url"])
    assert (url.scheme, url.hostname, url.port, url.path) == (scheme, "postgresql", 5432, "/db")
    assert unquote(url.password or "") == database["rdb_password"]
    assert settings["CONFIGURATION"]["output_format"] == "N-QUADS"


def test_names_with_dollars_are_not_taken_for_references(engine: Any, calls: Any) -> None:
    resource = engine("MorphKGC")
    (resource.workspace.shared / "${a}.ttl").write_text("")
    calls.makes = {"/data/output/$b.nt": ""}
    resource.execute_mapping("${a}.ttl", "$b.nt", "ntriples")
    settings = read(calls.seen[0][INI])
    assert settings["DataSource0"]["mappings"] == "/data/shared/${a}.ttl"
    assert settings["CONFIGURATION"]["output_file"] == "/data/output/$b.nt"


def test_several_files_are_joined_in_the_order_of_their_names(engine: Any, calls: Any) -> None:
    calls.makes = {"/data/output/2-1.nt": "<c> .", "/data/output/1-1.nt": "<a> .\n<b> .\n"}
    resource = engine("MorphKGC")
    result = resource.execute_mapping("mapping.ttl", "out.nt", "ntriples", multiple_files=True)
    settings = read(calls.seen[0][INI])["CONFIGURATION"]
    assert settings == {"output_format": "N-TRIPLES", "output_dir": "/data/output"}
    assert result.output.read_text() == "<a> .\n<b> .\n<c> .\n"
    assert result.values["files"] == 2


def test_defect_33_nothing_but_the_output_is_left_beside_the_inputs(
    engine: Any, calls: Any
) -> None:
    calls.makes = {"/data/output/1.nt": "", "/data/output/2.nt": ""}
    resource = engine("MorphKGC")
    resource.execute_mapping("mapping.ttl", "sub/out.nt", "ntriples", multiple_files=True)
    left = {path.name for path in resource.workspace.shared.iterdir()}
    assert left == {"mapping.ttl", "data.csv", "sub"}


def test_no_file_is_an_error(engine: Any, calls: Any) -> None:
    del calls
    with pytest.raises(CommandFailedError, match=r"wrote no file for its output 'out\.nt'"):
        engine("MorphKGC").execute_mapping("mapping.ttl", "out.nt", "ntriples")


@pytest.mark.parametrize(
    ("arguments", "after"), [([], (INI,)), (["/data/shared/own.ini"], ("/data/shared/own.ini",))]
)
def test_execute(engine: Any, calls: Any, arguments: list[str], after: tuple[str, ...]) -> None:
    engine("MorphKGC").execute(arguments)
    assert calls.command == ("python3", "-m", "morph_kgc", *after)
