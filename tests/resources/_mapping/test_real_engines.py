"""The engines that can be had, on files and on a real database."""

from collections.abc import Callable
from typing import Any

import pytest

from benchyard.core.errors import CommandFailedError
from tests.resources._databases.conftest import IMAGES, QUICK
from tests.resources._mapping.conftest import DATABASE as PARAMETERS
from tests.resources._mapping.conftest import statements

pytestmark = [pytest.mark.requires("docker"), pytest.mark.slow]

morph_kgc = pytest.mark.requires("image:morph-kgc")
sdm_rdfizer = pytest.mark.requires("image:sdm-rdfizer")
yarrrml = pytest.mark.requires("image:yarrrml")
postgresql = pytest.mark.requires("image:postgresql")

MORPH = {"image": "benchyard-test/morph-kgc"}
SDM = {"image": "benchyard-test/sdm-rdfizer"}


DATABASE = PARAMETERS | {"rdb_password": "root"}


RML = """\
@prefix rr: <http://www.w3.org/ns/r2rml#> .
@prefix rml: <http://semweb.mmlab.be/ns/rml#> .
@prefix ql: <http://semweb.mmlab.be/ns/ql#> .

<http://ex.com/#m> a rr:TriplesMap ;
    rml:logicalSource [ a rml:LogicalSource ; rml:source "/data/shared/data.csv" ;
        rml:referenceFormulation ql:CSV ] ;
    rr:subjectMap [ rr:template "http://ex.com/table/{id}" ] ;
    rr:predicateObjectMap [ rr:predicateMap [ rr:constant <http://example.com/p1> ] ;
        rr:objectMap [ rml:reference "p1" ] ] ,
        [ rr:predicateMap [ rr:constant <http://example.com/p2> ] ;
        rr:objectMap [ rml:reference "id" ] ] .
"""
YARRRML = """\
prefixes: {ex: "http://example.com/"}
mappings:
  row:
    sources: [["/data/shared/data.csv~csv"]]
    s: http://ex.com/table/$(id)
    po: [["ex:p1", "$(p1)"]]
"""
P1 = {
    '<http://ex.com/table/1> <http://example.com/p1> "one"',
    '<http://ex.com/table/2> <http://example.com/p1> "two"',
}
P2 = {line.replace("p1", "p2").replace("one", "1").replace("two", "2") for line in P1}


def put(resource: Any, name: str, content: str) -> str:
    (resource.workspace.shared / name).write_text(content)
    return name


@pytest.mark.parametrize(
    ("name", "settings", "serialization", "more"),
    [
        pytest.param("MorphKGC", MORPH, "ntriples", {}, marks=morph_kgc),
        pytest.param("MorphKGC", MORPH, "nquads", {"multiple_files": True}, marks=morph_kgc),
        pytest.param("SDMRDFizer", SDM, "ntriples", {}, marks=sdm_rdfizer),
    ],
)
def test_files_are_mapped(
    started: Callable[..., Any], name: str, settings: Any, serialization: str, more: Any
) -> None:
    engine = started(name, **settings)
    mapping = put(engine, "files.ttl", RML)
    # Left to itself, Morph-KGC would change this suffix.
    result = engine.execute_mapping(mapping, "sub/out.rdf", serialization, **more)
    assert result.output == engine.workspace.shared / "sub/out.rdf"
    assert statements(result.output) == P1 | P2


@postgresql
@morph_kgc
def test_a_wrong_password_is_told_without_itself(started: Callable[..., Any]) -> None:
    environment = {"POSTGRES_PASSWORD": "the right one"}
    database = started(
        "PostgreSQL", image=IMAGES["PostgreSQL"], **QUICK["PostgreSQL"], environment=environment
    )
    database.load("data.csv", "data")
    engine = started("MorphKGC", **MORPH)
    access = DATABASE | {"rdb_password": "s3cr$t/pw"}
    with pytest.raises(CommandFailedError, match="exit code 1") as failed:
        engine.execute_mapping("mapping.ttl", "out.nt", "ntriples", **access)
    assert "s3cr$t/pw" not in str(failed.value)
    access = DATABASE | {"rdb_password": "the right one"}
    result = engine.execute_mapping("mapping.ttl", "out.nt", "ntriples", **access)
    assert statements(result.output) == P1


@yarrrml
@morph_kgc
def test_yarrrml_becomes_a_mapping_that_an_engine_takes(started: Callable[..., Any]) -> None:
    parser = started("YARRRML", image="benchyard-test/yarrrml")
    rules = put(parser, "rules.yml", YARRRML)
    result = parser.transform_mapping(rules, "other.ttl", r2rml=True)
    assert "logicalTable" in result.output.read_text()
    parser.transform_mapping(rules, "made.ttl")
    result = started("MorphKGC", **MORPH).execute_mapping("made.ttl", "out.nt", "ntriples")
    assert statements(result.output) == P1
