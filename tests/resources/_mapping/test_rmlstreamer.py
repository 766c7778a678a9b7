"""RMLStreamer: how it is called, the mapping that it gets, and its many files."""

from typing import Any

from pyoxigraph import RdfFormat, parse

CALL = ("java", "-Xmx8000000000", "-Xms8000000000", "-jar", "/rmlstreamer/rmlstreamer.jar")
CONVERTED = "/data/mapping_converted.rml.ttl"


def test_a_mapping_of_files(engine: Any, calls: Any) -> None:
    calls.makes = {"/data/output/1": "<a> .\n"}
    result = engine("RMLStreamer").execute_mapping("mapping.ttl", "out.nt", "ntriples")
    files = ("toFile", "-o", "/data/output", "-m", "/data/shared/mapping.ttl")
    assert calls.command == (*CALL, *files)
    assert calls.specs[0].image == "kgconstruct/rmlstreamer:v2.5.0"
    assert calls.seen == [{}]
    assert result.output.read_text() == "<a> .\n"


def test_a_database_is_named_in_a_copy_of_the_mapping(
    engine: Any, calls: Any, database: dict[str, Any]
) -> None:
    calls.makes = {"/data/output/1": "<a> .\n"}
    resource = engine("RMLStreamer")
    resource.execute_mapping("mapping.ttl", "out.nt", "ntriples", **database)
    assert calls.command[-2:] == ("-m", CONVERTED)
    triples = {
        (str(quad.predicate), getattr(quad.object, "value", ""))
        for quad in parse(calls.seen[0][CONVERTED], format=RdfFormat.TURTLE)
    }
    d2rq = "http://www.wiwiss.fu-berlin.de/suhl/bizer/D2RQ/0.1#"
    assert (f"<{d2rq}jdbcDSN>", "jdbc:postgresql://PostgreSQL:5432/db") in triples
    assert (f"<{d2rq}jdbcDriver>", "jdbc:postgresql") in triples
    assert (f"<{d2rq}username>", "root") in triples
    assert (f"<{d2rq}password>", database["rdb_password"]) in triples
    assert calls.modes == {"mapping_converted.rml.ttl": 0o600}


def test_the_password_is_in_no_argument_and_no_result(
    engine: Any, calls: Any, database: dict[str, Any]
) -> None:
    calls.makes = {"/data/output/1": "<a> .\n"}
    resource = engine("RMLStreamer")
    resource.execute_mapping("mapping.ttl", "out.nt", "ntriples", **database)
    assert database["rdb_password"] not in str(calls.specs[0])
    kept = [path for path in resource.workspace.shared.rglob("*") if path.is_file()]
    assert not any(database["rdb_password"] in path.read_text() for path in kept)


def test_files_are_joined_in_order_and_lines_stay_whole(engine: Any, calls: Any) -> None:
    calls.makes = {
        "/data/output/2": "<d> .\n",
        "/data/output/.1.inprogress": "<a> .\n<b> .",
        "/data/output/1": "<c> .\n",
    }
    result = engine("RMLStreamer").execute_mapping("mapping.ttl", "out.nt", "ntriples")
    assert result.output.read_text() == "<a> .\n<b> .\n<c> .\n<d> .\n"
    assert result.values["files"] == 3


def test_no_triples_are_an_empty_output(engine: Any, calls: Any) -> None:
    resource = engine("RMLStreamer")
    result = resource.execute_mapping("mapping.ttl", "out.nt", "ntriples")
    assert result.output.read_bytes() == b""
    assert result.values["files"] == 0
    assert {path.name for path in resource.workspace.shared.iterdir()} == {
        "mapping.ttl",
        "data.csv",
        "out.nt",
    }
    assert calls.specs


def test_execute(engine: Any, calls: Any) -> None:
    engine("RMLStreamer").execute(["toTCPSocket", "-s", "localhost:5005"])
    assert calls.command == (*CALL, "toTCPSocket", "-s", "localhost:5005")
