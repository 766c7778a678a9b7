"""Maps that refer to other maps, on real databases, with each engine that can be had."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.resources._databases.conftest import IMAGES, QUICK
from tests.resources._mapping.conftest import statements

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
PEOPLE, TOWN = (f'rr:tableName "{table}"' for table in TABLES)
OF_PEOPLE, OF_TOWN = (
    f'rr:sqlQuery "SELECT {names}"' for names in ("id, town FROM people", "code, name FROM towns")
)
SAME_TOWN = '; rr:joinCondition [ rr:child "town" ; rr:parent "code" ]'
BOSS_OF = '; rr:joinCondition [ rr:child "boss" ; rr:parent "id" ]'


def subjects(name: str, rows: str, template: str) -> str:
    """Return a map of rows to subjects."""
    table = f"<#{name}> rr:logicalTable [ {rows} ]"
    return f'{table} ; rr:subjectMap [ rr:template "http://ex.com/{template}" ] .\n'


def people(name: str, rows: str, parent: str, condition: str = "") -> str:
    """Return a map of people whose objects are the subjects of another map."""
    return subjects(name, rows, "person/{id}") + (
        f"<#{name}> rr:predicateObjectMap [ rr:predicate ex:{name} ; rr:objectMap [\n"
        f"    rr:parentTriplesMap <#{parent}> {condition} ] ] .\n"
    )


TWO_MAPS = (
    people("tables", PEOPLE, "towns", SAME_TOWN)
    + people("queries", OF_PEOPLE, "towns_of_query", SAME_TOWN)
    + people("both", PEOPLE, "towns_of_query", SAME_TOWN)
    + people("same_table", PEOPLE, "bosses", BOSS_OF)
    + subjects("towns", TOWN, "town/{name}")
    + subjects("towns_of_query", OF_TOWN, "town/{name}")
    + subjects("bosses", PEOPLE, "boss/{id}")
)
ITSELF = people("itself", PEOPLE, "itself", BOSS_OF)
#: The same row of the same table.
ROW = people("row", PEOPLE, "town") + subjects("town", PEOPLE, "town/{town}")
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
