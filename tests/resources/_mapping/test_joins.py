"""Maps that refer to other maps, on real databases, with each engine that can be had."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import RdfFormat, parse

from tests.resources._databases.conftest import IMAGES, QUICK

pytestmark = [pytest.mark.requires("docker"), pytest.mark.slow]

#: Files and the tables that they become. The last two people have no partner in some join, and
#: the last town has none.
TABLES = {
    "people": "id,boss,town\n1,2,x\n2,2,y\n4,2,x\n3,9,NULL\n5,NULL,q\n",
    "towns": "code,name\nx,Xanten\ny,Yvoir\nz,Zadar\n",
}
PREFIXES = """\
@base <http://ex.com/> .
@prefix ex: <http://example.com/> .
@prefix rr: <http://www.w3.org/ns/r2rml#> .
"""
TWO_MAPS = """\
<#tables> rr:logicalTable [ rr:tableName "people" ] ;
    rr:subjectMap [ rr:template "http://ex.com/person/{id}" ] ;
    rr:predicateObjectMap [ rr:predicate ex:tables ; rr:objectMap [
        rr:parentTriplesMap <#towns> ;
        rr:joinCondition [ rr:child "town" ; rr:parent "code" ] ] ] .
<#queries> rr:logicalTable [ rr:sqlQuery "SELECT id, town FROM people" ] ;
    rr:subjectMap [ rr:template "http://ex.com/person/{id}" ] ;
    rr:predicateObjectMap [ rr:predicate ex:queries ; rr:objectMap [
        rr:parentTriplesMap <#towns_of_query> ;
        rr:joinCondition [ rr:child "town" ; rr:parent "code" ] ] ] .
<#both> rr:logicalTable [ rr:tableName "people" ] ;
    rr:subjectMap [ rr:template "http://ex.com/person/{id}" ] ;
    rr:predicateObjectMap [ rr:predicate ex:both ; rr:objectMap [
        rr:parentTriplesMap <#towns_of_query> ;
        rr:joinCondition [ rr:child "town" ; rr:parent "code" ] ] ] .
<#same_table> rr:logicalTable [ rr:tableName "people" ] ;
    rr:subjectMap [ rr:template "http://ex.com/person/{id}" ] ;
    rr:predicateObjectMap [ rr:predicate ex:same_table ; rr:objectMap [
        rr:parentTriplesMap <#bosses> ;
        rr:joinCondition [ rr:child "boss" ; rr:parent "id" ] ] ] .

<#towns> rr:logicalTable [ rr:tableName "towns" ] ;
    rr:subjectMap [ rr:template "http://ex.com/town/{name}" ] .
<#towns_of_query> rr:logicalTable [ rr:sqlQuery "SELECT code, name FROM towns" ] ;
    rr:subjectMap [ rr:template "http://ex.com/town/{name}" ] .
<#bosses> rr:logicalTable [ rr:tableName "people" ] ;
    rr:subjectMap [ rr:template "http://ex.com/boss/{id}" ] .
"""
ITSELF = """\
<#itself> rr:logicalTable [ rr:tableName "people" ] ;
    rr:subjectMap [ rr:template "http://ex.com/person/{id}" ] ;
    rr:predicateObjectMap [ rr:predicate ex:itself ; rr:objectMap [
        rr:parentTriplesMap <#itself> ;
        rr:joinCondition [ rr:child "boss" ; rr:parent "id" ] ] ] .
"""
#: The same row of the same table.
ROW = """\
<#row> rr:logicalTable [ rr:tableName "people" ] ;
    rr:subjectMap [ rr:template "http://ex.com/person/{id}" ] ;
    rr:predicateObjectMap [ rr:predicate ex:row ; rr:objectMap [ rr:parentTriplesMap <#town> ] ] .
<#town> rr:logicalTable [ rr:tableName "people" ] ;
    rr:subjectMap [ rr:template "http://ex.com/town/{town}" ] .
"""
TOWNS = {1: "town/Xanten", 2: "town/Yvoir", 4: "town/Xanten"}
BOSS = dict.fromkeys((1, 2, 4), 2)
#: Name to a mapping and what must come of it: predicate to person to the rest of the object.
JOINS: dict[str, tuple[str, dict[str, dict[int, str]]]] = {
    "two maps": (
        TWO_MAPS,
        {
            "tables": TOWNS,
            "queries": TOWNS,
            "both": TOWNS,
            "same_table": {person: f"boss/{boss}" for person, boss in BOSS.items()},
        },
    ),
    "the same row": (ROW, {"row": {1: "town/x", 2: "town/y", 4: "town/x", 5: "town/q"}}),
    "itself": (ITSELF, {"itself": {person: f"person/{boss}" for person, boss in BOSS.items()}}),
}
PORTS = {"PostgreSQL": 5432, "MySQL": 3306}


def wanted(names: Sequence[str]) -> set[str]:
    return {
        f"<http://ex.com/person/{person}> <http://example.com/{predicate}> <http://ex.com/{value}>"
        for name in names
        for predicate, pairs in JOINS[name][1].items()
        for person, value in pairs.items()
    }


def statements(file: Path) -> set[str]:
    return {str(quad.triple) for quad in parse(path=str(file), format=RdfFormat.N_QUADS)}


EACH = [(name,) for name in JOINS]
#: What each engine makes right, of one mapping after the other: one version writes a join of a map
#: with itself in single letters, one makes nothing of MySQL's same row. Who reads all mappings
#: alike gets them as one; SDM-RDFizer is told another way where one is of the same row.
ENGINES = [
    ("MorphKGC", "morph-kgc", "PostgreSQL", [tuple(JOINS)]),
    ("SDMRDFizer", "sdm-rdfizer", "PostgreSQL", [("two maps",), ("the same row",)]),
    ("SDMRDFizer", "sdm-rdfizer-krown", "MySQL", [("two maps", "itself")]),
]
#: Each takes a quarter of a minute.
LONG_ENGINES = [
    ("MorphKGC", "morph-kgc", "MySQL", EACH),
    ("SDMRDFizer", "sdm-rdfizer", "MySQL", [("two maps",), ("the same row",)]),
    ("SDMRDFizer", "sdm-rdfizer-krown", "PostgreSQL", EACH),
]


@pytest.mark.parametrize(
    ("name", "image", "kind", "mappings"),
    [
        pytest.param(
            *(name, image, kind, mappings),
            marks=[pytest.mark.requires(f"image:{image}", f"image:{kind.lower()}"), *more],
            id=f"{image}-{kind}",
        )
        for engines, more in ((ENGINES, []), (LONG_ENGINES, [pytest.mark.long]))
        for name, image, kind, mappings in engines
    ],
)
def test_joins(
    started: Callable[..., Any], name: str, image: str, kind: str, mappings: list[tuple[str, ...]]
) -> None:
    database = started(kind, image=IMAGES[kind], **QUICK[kind])
    for table, rows in TABLES.items():
        (database.workspace.shared / f"{table}.csv").write_text(rows)
        database.load(f"{table}.csv", table)
    engine = started(name, image=f"benchyard-test/{image}")
    access = ("root", "root", kind, PORTS[kind], "db", kind)
    for names in mappings:
        maps = "".join(JOINS[each][0] for each in names)
        (engine.workspace.shared / "joins.ttl").write_text(PREFIXES + maps)
        result = engine.execute_mapping("joins.ttl", "out.nt", "ntriples", *access)
        assert statements(result.output) == wanted(names), names
