"""The engines that can be had, on files and on a real database."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import RdfFormat, parse

from benchyard.core.errors import CommandFailedError
from tests.resources._databases.conftest import IMAGES, QUICK
from tests.resources._mapping.conftest import DATABASE as PARAMETERS

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


def statements(file: Path) -> set[str]:
    return {str(quad.triple) for quad in parse(path=str(file), format=RdfFormat.N_QUADS)}


def put(resource: Any, name: str, content: str) -> str:
    (resource.workspace.shared / name).write_text(content)
    return name


@morph_kgc
@pytest.mark.parametrize(
    ("serialization", "several"),
    [
        ("ntriples", False),
        ("nquads", True),
        pytest.param("ntriples", True, marks=pytest.mark.long),
        pytest.param("nquads", False, marks=pytest.mark.long),
    ],
)
def test_morph_kgc_on_files(started: Callable[..., Any], serialization: str, several: bool) -> None:
    engine = started("MorphKGC", **MORPH)
    mapping = put(engine, "files.ttl", RML)
    # Left to itself, it would change this suffix.
    result = engine.execute_mapping(mapping, "out.rdf", serialization, multiple_files=several)
    assert result.output == engine.workspace.shared / "out.rdf"
    assert statements(result.output) == P1 | P2


@sdm_rdfizer
def test_sdm_rdfizer_on_files(started: Callable[..., Any]) -> None:
    engine = started("SDMRDFizer", **SDM)
    result = engine.execute_mapping(put(engine, "files.ttl", RML), "sub/out.rdf", "ntriples")
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
@pytest.mark.parametrize("pretty", [True, pytest.param(False, marks=pytest.mark.long)])
def test_yarrrml_becomes_a_mapping_that_an_engine_takes(
    started: Callable[..., Any], pretty: bool
) -> None:
    parser = started("YARRRML", image="benchyard-test/yarrrml")
    parser.transform_mapping(put(parser, "rules.yml", YARRRML), "made.ttl", pretty=pretty)
    engine = started("MorphKGC", **MORPH)
    result = engine.execute_mapping("made.ttl", "out.nt", "ntriples")
    assert statements(result.output) == P1


@yarrrml
def test_yarrrml_becomes_r2rml(started: Callable[..., Any]) -> None:
    parser = started("YARRRML", image="benchyard-test/yarrrml")
    result = parser.transform_mapping(put(parser, "rules.yml", YARRRML), "made.ttl", r2rml=True)
    assert "logicalTable" in result.output.read_text()
