"""Mappings as engines want them: the same statements in other words."""

from pathlib import Path

import pytest
from pyoxigraph import Dataset

from benchyard.core.errors import CommandFailedError
from resources._mapping import Database
from resources._mapping.mappings import (
    connect,
    move_sources,
    name_classes,
    name_formulations,
    read_mapping,
    turtle,
)

POSTGRESQL = Database("me", "secret", "PostgreSQL", 5432, "db", "PostgreSQL")
PREFIXES = """\
@base <http://ex.com/> .
@prefix ex: <http://ex.com/> .
@prefix rr: <http://www.w3.org/ns/r2rml#> .
@prefix rml: <http://semweb.mmlab.be/ns/rml#> .
@prefix ql: <http://semweb.mmlab.be/ns/ql#> .
@prefix d2rq: <http://www.wiwiss.fu-berlin.de/suhl/bizer/D2RQ/0.1#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
"""
SAMPLES = Path(__file__).resolve().parents[4] / "shared" / "krown-samples"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "mapping.ttl"


def graph(file: Path, body: str) -> Dataset:
    file.write_text(PREFIXES + body)
    return read_mapping(file, file.name)


def same(one: Dataset, other: Dataset) -> bool:
    """Tell whether two graphs say the same, whatever their blank nodes are called."""
    from pyoxigraph import CanonicalizationAlgorithm  # noqa: PLC0415 - needed here alone

    for each in (one, other):
        each.canonicalize(CanonicalizationAlgorithm.UNSTABLE)
    return one == other


DATABASE = """\
[ a d2rq:Database ; d2rq:jdbcDSN "jdbc:postgresql://PostgreSQL:5432/db" ;
  d2rq:jdbcDriver "jdbc:postgresql" ; d2rq:username "me" ; d2rq:password "secret" ]"""


def test_a_logical_table_becomes_a_logical_source(file: Path, tmp_path: Path) -> None:
    mapping = graph(
        file,
        """<#m> a rr:TriplesMap ;
        rr:logicalTable [ a rr:LogicalTable ; rr:tableName "t" ; rr:sqlVersion rr:SQL2008 ] ;
        rr:subjectMap [ rr:template "http://ex.com/{id}" ] ;
        rr:predicateObjectMap [ rr:predicate ex:p ; rr:objectMap [ rr:column "c" ] ] .""",
    )
    connect(mapping, POSTGRESQL)
    wanted = graph(
        tmp_path / "wanted.ttl",
        f"""<#m> a rr:TriplesMap ;
        rml:logicalSource [ a rml:LogicalSource ; rr:sqlVersion rr:SQL2008 ; rr:tableName "t" ;
            rml:source {DATABASE} ] ;
        rr:subjectMap [ rr:template "http://ex.com/{{id}}" ] ;
        rr:predicateObjectMap [ rr:predicate ex:p ; rr:objectMap [ rml:reference "c" ] ] .""",
    )
    assert same(mapping, wanted)


def test_a_view_becomes_a_query(file: Path, tmp_path: Path) -> None:
    mapping = graph(file, '<#m> rr:logicalTable [ rr:sqlQuery "SELECT 1" ] .')
    connect(mapping, POSTGRESQL)
    wanted = graph(
        tmp_path / "wanted.ttl",
        f"""<#m> a rr:TriplesMap ; rml:logicalSource [
            a rml:LogicalSource ; rr:sqlVersion rr:SQL2008 ; rml:query "SELECT 1" ;
            rml:source {DATABASE} ] .""",
    )
    assert same(mapping, wanted)


def test_two_maps_may_have_one_table(file: Path) -> None:
    mapping = graph(
        file, '<#a> rr:logicalTable _:t . <#b> rr:logicalTable _:t . _:t rr:tableName "t" .'
    )
    connect(mapping, POSTGRESQL)
    text = turtle(mapping)
    assert text.count("rml:logicalSource") == 2
    assert text.count('rr:tableName "t"') == 2
    assert "logicalTable" not in text


def test_a_map_that_reads_a_file_stays(file: Path) -> None:
    body = '<#m> rml:logicalSource [ rml:source "a.csv" ; rml:referenceFormulation ql:CSV ] .'
    mapping = graph(file, body)
    before = turtle(mapping)
    connect(mapping, POSTGRESQL)
    name_formulations(mapping)
    assert turtle(mapping) == before


def test_each_database_is_referred_to_in_sql(file: Path, tmp_path: Path) -> None:
    source = f'rr:tableName "t" ; rml:source {DATABASE} ; rml:referenceFormulation'
    mapping = graph(file, f"<#m> rml:logicalSource [ {source} rr:SQL2008 ] .")
    name_formulations(mapping)
    wanted = graph(tmp_path / "wanted.ttl", f"<#m> rml:logicalSource [ {source} ql:SQL ] .")
    assert same(mapping, wanted)


@pytest.mark.parametrize(
    ("condition", "databases"),
    [('; rr:joinCondition [ rr:child "a" ; rr:parent "b" ]', 2), ("", 1)],
)
def test_maps_have_one_database_where_rows_are_the_same(
    file: Path, condition: str, databases: int
) -> None:
    mapping = graph(
        file,
        f"""<#a> rr:logicalTable [ rr:tableName "t" ] ; rr:predicateObjectMap [
            rr:predicate ex:p ; rr:objectMap [ rr:parentTriplesMap <#b> {condition} ] ] .
        <#b> rr:logicalTable [ rr:tableName "t" ] .""",
    )
    connect(mapping, POSTGRESQL)
    assert turtle(mapping).count("a d2rq:Database") == databases


def test_types_become_classes(file: Path, tmp_path: Path) -> None:
    rest = 'rr:predicateObjectMap [ rr:predicate ex:p ; rr:objectMap [ rr:column "c" ] ] .'
    mapping = graph(
        file,
        f"""<#m> rr:subjectMap [ rr:template "x{{id}}" ] ;
        rr:predicateObjectMap [ a rr:PredicateObjectMap ;
            rr:predicateMap [ rr:constant rdf:type ] ; rr:objectMap [ rr:constant ex:A ] ] ;
        rr:predicateObjectMap [ rr:predicate rdf:type ; rr:object ex:B, ex:C ] ; {rest}""",
    )
    name_classes(mapping, file.name)
    wanted = graph(
        tmp_path / "wanted.ttl",
        f'<#m> rr:subjectMap [ rr:template "x{{id}}" ; rr:class ex:A, ex:B, ex:C ] ; {rest}',
    )
    assert same(mapping, wanted)


@pytest.mark.parametrize(
    "map_",
    [
        "rr:predicate rdf:type, ex:p ; rr:object ex:A",
        "rr:predicate rdf:type ; rr:object ex:A ; rr:graph ex:g",
        "rr:predicate ex:p ; rr:object ex:A",
    ],
)
def test_what_says_more_than_a_type_stays(file: Path, map_: str) -> None:
    body = f'<#m> rr:subjectMap [ rr:template "x{{id}}" ] ; rr:predicateObjectMap [ {map_} ] .'
    mapping = graph(file, body)
    before = turtle(mapping)
    name_classes(mapping, file.name)
    assert turtle(mapping) == before


def test_a_type_that_is_no_constant_is_an_error(file: Path) -> None:
    mapping = graph(
        file,
        """<#m> rr:subjectMap [ rr:template "x{id}" ] ;
        rr:predicateObjectMap [ rr:predicate rdf:type ; rr:objectMap [ rr:column "c" ] ] .""",
    )
    with pytest.raises(CommandFailedError, match="rdf:type that is not constant"):
        name_classes(mapping, file.name)


def test_sources_move(file: Path) -> None:
    mapping = graph(
        file, '<#a> rml:source "/data/shared/a b.csv" . <#b> rml:source "/else/b.csv", <#db> .'
    )
    move_sources(mapping, "/data/shared/", "/run/shared/")
    text = turtle(mapping)
    assert '"/run/shared/a b.csv"' in text
    assert '"/else/b.csv"' in text


def test_what_is_no_mapping_is_told_with_its_place(file: Path) -> None:
    file.write_text("<a> <b>\n nonsense")
    with pytest.raises(CommandFailedError, match=r"'mapping\.ttl' cannot be read: .* line 2"):
        read_mapping(file, file.name)


def test_the_suffix_tells_the_format(tmp_path: Path) -> None:
    file = tmp_path / "mapping.nt"
    file.write_text('<http://a> <http://b> "c" .\n')
    assert len(read_mapping(file, file.name)) == 1


def test_relative_names_are_the_same_wherever_a_run_lies(tmp_path: Path) -> None:
    texts: list[str] = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        file = tmp_path / name / "mapping"
        file.write_text("<#m> <#p> [ <#q> _:x ] , _:x .")
        texts.append(turtle(read_mapping(file, file.name)))
    assert texts[0] == texts[1]


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the samples of KROWN are not here")
def test_the_mappings_of_krown_can_all_be_converted() -> None:
    files = sorted(SAMPLES.rglob("*.ttl"))
    assert files
    for file in files:
        mapping = read_mapping(file, file.name)
        tables = turtle(mapping).count("rr:tableName")
        connect(mapping, POSTGRESQL)
        text = turtle(mapping)
        assert text.count("rml:logicalSource") == tables
        assert "rr:column" not in text
        name_classes(mapping, file.name)
