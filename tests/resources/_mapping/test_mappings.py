"""Mappings as engines want them: the same statements in other words."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pyoxigraph import CanonicalizationAlgorithm, Dataset

from benchyard.core.errors import CommandFailedError
from resources._mapping import Database
from resources._mapping.mappings import in_rml, read_mapping, turtle, with_classes

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


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "mapping.ttl"


def written(file: Path, body: str) -> Path:
    file.write_text(PREFIXES + body)
    return file


def source(words: str) -> str:
    return f"<#m> rml:logicalSource [ {words} ; rml:source {DATABASE} ] ."


def graph(file: Path) -> Dataset:
    """Read a mapping; two that say the same are equal, whatever their blank nodes are called."""
    found = read_mapping(file, file.name)
    found.canonicalize(CanonicalizationAlgorithm.UNSTABLE)
    return found


def to_database(file: Path) -> str:
    return in_rml(file, file.name, POSTGRESQL)


def in_sql(file: Path) -> str:
    return in_rml(file, file.name, POSTGRESQL, formulations=True)


def to_classes(file: Path) -> str:
    return with_classes(file, file.name)


DATABASE = """\
[ a d2rq:Database ; d2rq:jdbcDSN "jdbc:postgresql://PostgreSQL:5432/db" ;
  d2rq:jdbcDriver "jdbc:postgresql" ; d2rq:username "me" ; d2rq:password "secret" ]"""


REST = 'rr:predicateObjectMap [ rr:predicate ex:p ; rr:objectMap [ rr:column "c" ] ] .'
TABLE = f"""<#m> a rr:TriplesMap ; rr:subjectMap [ rr:template "http://ex.com/{{id}}" ] ;
    rr:logicalTable [ a rr:LogicalTable ; rr:tableName "t" ; rr:sqlVersion rr:SQL2008 ] ; {REST}"""
SOURCE = f"""<#m> a rr:TriplesMap ; rr:subjectMap [ rr:template "http://ex.com/{{id}}" ] ;
    rml:logicalSource [ a rml:LogicalSource ; rr:sqlVersion rr:SQL2008 ; rr:tableName "t" ;
        rml:source {DATABASE} ] ; {REST.replace("rr:column", "rml:reference")}"""
QUERY = """<#m> a rr:TriplesMap . <#m> rml:logicalSource [ a rml:LogicalSource ;
    rr:sqlVersion rr:SQL2008 ; rml:query "SELECT 1" ; rml:source """
TYPES = f"""<#m> rr:subjectMap [ rr:template "x{{id}}" ] ;
    rr:predicateObjectMap [ a rr:PredicateObjectMap ;
        rr:predicateMap [ rr:constant rdf:type ] ; rr:objectMap [ rr:constant ex:A ] ] ;
    rr:predicateObjectMap [ rr:predicate rdf:type ; rr:object ex:B, ex:C ] ; {REST}"""
CLASSES = f'<#m> rr:subjectMap [ rr:template "x{{id}}" ; rr:class ex:A, ex:B, ex:C ] ; {REST}'
IN_SQL = 'rr:tableName "t" ; rml:referenceFormulation'


@pytest.mark.parametrize(
    ("body", "change", "wanted"),
    [
        (TABLE, to_database, SOURCE),
        (
            '<#m> rr:logicalTable [ rr:sqlQuery "SELECT 1" ] .',
            to_database,
            f"{QUERY} {DATABASE} ] .",
        ),
        (source(f"{IN_SQL} rr:SQL2008"), in_sql, source(f"{IN_SQL} ql:SQL")),
        (TYPES, to_classes, CLASSES),
    ],
    ids=["table", "view", "formulation", "types"],
)
def test_what_it_becomes(
    file: Path, tmp_path: Path, body: str, change: Callable[[Path], str], wanted: str
) -> None:
    (tmp_path / "changed.ttl").write_text(change(written(file, body)))
    assert graph(tmp_path / "changed.ttl") == graph(written(tmp_path / "wanted.ttl", wanted))


def test_two_maps_may_have_one_table(file: Path) -> None:
    text = to_database(
        written(
            file, "<#a> rr:logicalTable _:t . <#b> rr:logicalTable _:t . _:t rr:tableName 't' ."
        )
    )
    assert text.count("rml:logicalSource") == 2
    assert text.count('rr:tableName "t"') == 2
    assert "logicalTable" not in text


TYPED = '<#m> rr:subjectMap [ rr:template "x{id}" ] ; rr:predicateObjectMap '


@pytest.mark.parametrize(
    "body",
    [
        '<#m> rml:logicalSource [ rml:source "a.csv" ; rml:referenceFormulation ql:CSV ] .',
        TYPED + "[ rr:predicate rdf:type, ex:p ; rr:object ex:A ] .",
        TYPED + "[ rr:predicate rdf:type ; rr:object ex:A ; rr:graph ex:g ] .",
        TYPED + "[ rr:predicate ex:p ; rr:object ex:A ] .",
    ],
)
def test_what_reads_a_file_or_says_more_than_a_type_stays(file: Path, body: str) -> None:
    before = turtle(read_mapping(written(file, body), file.name))
    for change in (to_database, in_sql, to_classes):
        assert change(file) == before


def test_a_type_that_is_no_constant_is_an_error(file: Path) -> None:
    written(file, TYPED + '[ rr:predicate rdf:type ; rr:objectMap [ rr:column "c" ] ] .')
    with pytest.raises(CommandFailedError, match="rdf:type that is not constant"):
        to_classes(file)


def test_what_is_no_mapping_is_told_with_its_place(file: Path) -> None:
    file.write_text("<a> <b>\n nonsense")
    with pytest.raises(CommandFailedError, match=r"'mapping\.ttl' cannot be read: .* line 2"):
        read_mapping(file, file.name)


def test_relative_names_are_the_same_wherever_a_run_lies(tmp_path: Path) -> None:
    texts: list[str] = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        file = tmp_path / name / "mapping"
        file.write_text("<#m> <#p> [ <#q> _:x ] , _:x .")
        texts.append(turtle(read_mapping(file, file.name)))
    assert texts[0] == texts[1]
