"""Conversions of mapping files.

KROWN's cases have one R2RML mapping for all engines. Engines that read RML alone, or need more than
R2RML prescribes, get a copy that says the same.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pyoxigraph import (
    BlankNode,
    Dataset,
    Literal,
    NamedNode,
    Quad,
    RdfFormat,
    Triple,
    parse,
    serialize,
)

from benchyard.core.errors import CommandFailedError
from resources._mapping import Database

_NAMES = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rr": "http://www.w3.org/ns/r2rml#",
    "rml": "http://semweb.mmlab.be/ns/rml#",
    "ql": "http://semweb.mmlab.be/ns/ql#",
    "d2rq": "http://www.wiwiss.fu-berlin.de/suhl/bizer/D2RQ/0.1#",
}

Node = NamedNode | BlankNode | Literal | Triple


def _name(short: str) -> NamedNode:
    prefix, _, local = short.partition(":")
    return NamedNode(_NAMES[prefix] + local)


_TYPE = _name("rdf:type")


def read_mapping(path: Path, name: str) -> Dataset:
    """Read a mapping; a format other than Turtle is told by the file's suffix.

    Args:
        name: Of the file, for errors.

    Raises:
        CommandFailedError: If it is not well-formed.
    """
    form = RdfFormat.from_extension(path.suffix.removeprefix(".")) or RdfFormat.TURTLE
    try:
        # Relative names must become the same in each run, wherever its folder is.
        parsed = list(parse(path=str(path), format=form, base_iri="file:///data/shared/"))
    except SyntaxError as error:
        raise CommandFailedError(f"the mapping '{name}' cannot be read: {error}") from error
    return Dataset(_renamed(parsed))


def _renamed(quads: Iterable[Quad]) -> Iterator[Quad]:
    """Yield quads whose blank nodes are numbered as they come: the parser makes up others."""
    known: dict[BlankNode, BlankNode] = {}
    for quad in quads:
        subject, value = quad.subject, quad.object
        if isinstance(subject, BlankNode):
            subject = known.setdefault(subject, BlankNode(f"n{len(known)}"))
        if isinstance(value, BlankNode):
            value = known.setdefault(value, BlankNode(f"n{len(known)}"))
        yield Quad(subject, quad.predicate, value)


def turtle(mapping: Dataset) -> str:
    """Return a mapping as Turtle, the same text for the same mapping."""
    ordered = sorted((quad.triple for quad in mapping), key=str)
    content = serialize(ordered, format=RdfFormat.TURTLE, prefixes=_NAMES)
    return (content or b"").decode()


# -- RML


def in_rml(path: Path, name: str, database: Database, *, formulations: bool = False) -> str:
    """Return a mapping as RML that names its database: logical tables become logical sources.

    Source: KROWN, for RMLStreamer and SDM-RDFizer; ``rml:query`` for views is RML's own.

    Args:
        name: Of the file, for errors.
        formulations: Whether it tells how databases are referred to.

    Raises:
        CommandFailedError: If it is not well-formed.
    """
    mapping = read_mapping(path, name)
    tables: list[Node] = []
    shared = _has_reference_without_condition(mapping)
    for number, quad in enumerate(_with(mapping, "rr:logicalTable")):
        rows = _rows(mapping, quad.object)
        if rows is None:
            continue
        source = BlankNode(f"source{number}")
        described = BlankNode("database" if shared else f"database{number}")
        mapping.discard(quad)
        # SDM-RDFizer passes over maps without their type in silence.
        _add(mapping, quad.subject, {"rdf:type": _name("rr:TriplesMap")})
        _add(mapping, quad.subject, {"rml:logicalSource": source})
        _add(mapping, source, {**_SOURCE, **rows, "rml:source": described})
        _add(mapping, described, _facts(database))
        tables.append(quad.object)
    # Not before: several maps may have one table in common.
    for table in tables:
        _forget(mapping, table)
    for quad in _with(mapping, "rr:column"):
        mapping.discard(quad)
        _add(mapping, quad.subject, {"rml:reference": quad.object})
    if formulations:
        _name_formulations(mapping)
    return turtle(mapping)


def _has_reference_without_condition(mapping: Dataset) -> bool:
    """Tell whether a map takes the subject of another for the same row.

    For SDM-RDFizer, rows are the same where the database is the same node; and where it is, later
    versions than KROWN's write joins of queries in single letters.
    """
    references = _with(mapping, "rr:parentTriplesMap")
    return any(not list(_values(mapping, each.subject, "rr:joinCondition")) for each in references)


_SOURCE: dict[str, Node] = {
    "rdf:type": _name("rml:LogicalSource"),
    "rr:sqlVersion": _name("rr:SQL2008"),
}


def _rows(mapping: Dataset, table: Node) -> dict[str, Node] | None:
    """Return the property and value by which a logical source names the rows of a table."""
    for old, new in (("rr:tableName", "rr:tableName"), ("rr:sqlQuery", "rml:query")):
        for value in _values(mapping, table, old):
            return {new: value}
    return None


def _facts(database: Database) -> dict[str, Node]:
    return {
        "d2rq:jdbcDSN": Literal(database.jdbc_url()),
        "d2rq:jdbcDriver": Literal(database.driver),
        "d2rq:username": Literal(database.username),
        "d2rq:password": Literal(database.password),
        "rdf:type": _name("d2rq:Database"),
    }


def _name_formulations(mapping: Dataset) -> None:
    """Say of each database that it is referred to in SQL, in a word that SDM-RDFizer takes.

    Without one, it fails on joins from version 4.7.5.13 on. RML's own, ``rr:SQL2008``, fails in
    KROWN's version, which takes letters alone: https://github.com/SDM-TIB/SDM-RDFizer/issues/71
    """
    for source in _with(mapping, "rml:source"):
        if _name("d2rq:Database") in _values(mapping, source.object, "rdf:type"):
            for value in _values(mapping, source.subject, "rml:referenceFormulation"):
                mapping.discard(Quad(source.subject, _name("rml:referenceFormulation"), value))
            _add(mapping, source.subject, {"rml:referenceFormulation": _name("ql:SQL")})


def with_moved_sources(path: Path, name: str, old: str, new: str) -> str:
    """Return a mapping whose sources begin with ``new`` where they begin with ``old``.

    Raises:
        CommandFailedError: If it is not well-formed.
    """
    mapping = read_mapping(path, name)
    for quad in _with(mapping, "rml:source"):
        place = quad.object.value if isinstance(quad.object, Literal) else ""
        if place.startswith(old):
            mapping.discard(quad)
            _add(mapping, quad.subject, {"rml:source": Literal(new + place.removeprefix(old))})
    return turtle(mapping)


# -- classes


def with_classes(path: Path, name: str) -> str:
    """Return a mapping with ``rr:class`` in the place of what maps to a constant ``rdf:type``.

    Ontop demands it. A predicate-object map with a graph of its own stays: its class would get
    into other graphs. Source: KROWN, for Ontop.

    Raises:
        CommandFailedError: If it is not well-formed, or a type is no constant.
    """
    mapping = read_mapping(path, name)
    for quad in _with(mapping, "rr:predicateObjectMap"):
        if not _is_typing(mapping, quad.object):
            continue
        classes = list(_constants(mapping, quad.object, "object"))
        if None in classes:
            raise CommandFailedError(
                f"the mapping '{name}' has an rdf:type that is not constant; Ontop needs rr:class"
            )
        for subject in _values(mapping, quad.subject, "rr:subjectMap"):
            mapping.discard(quad)
            for found in filter(None, classes):
                _add(mapping, subject, {"rr:class": found})
        _forget(mapping, quad.object)
    return turtle(mapping)


def _is_typing(mapping: Dataset, node: Node) -> bool:
    """Tell whether a predicate-object map says what something is, and nothing else."""
    graphs = [*_values(mapping, node, "rr:graph"), *_values(mapping, node, "rr:graphMap")]
    predicates = list(_constants(mapping, node, "predicate"))
    return not graphs and bool(predicates) and all(found == _TYPE for found in predicates)


def _constants(mapping: Dataset, node: Node, part: str) -> Iterator[Node | None]:
    """Yield what the maps of one part of a predicate-object map always yield, None for others."""
    yield from _values(mapping, node, f"rr:{part}")
    for inner in _values(mapping, node, f"rr:{part}Map"):
        yield next(_values(mapping, inner, "rr:constant"), None)


# -- the graph


def _add(mapping: Dataset, node: Node, facts: Mapping[str, Node]) -> None:
    """Add properties to a node."""
    if not isinstance(node, NamedNode | BlankNode):
        raise CommandFailedError(
            f"the mapping has {node} where something with properties must stand"
        )
    for predicate, value in facts.items():
        mapping.add(Quad(node, _name(predicate), value))


def _with(mapping: Dataset, predicate: str) -> list[Quad]:
    """Return the quads of one property, in an order that is the same each time."""
    return sorted(mapping.quads_for_predicate(_name(predicate)), key=str)


def _values(mapping: Dataset, node: Node, predicate: str) -> Iterator[Node]:
    """Yield the values of one property of a node."""
    if isinstance(node, NamedNode | BlankNode):
        wanted = _name(predicate)
        for quad in list(mapping.quads_for_subject(node)):
            if quad.predicate == wanted:
                yield quad.object


def _forget(mapping: Dataset, node: Node) -> None:
    """Take out what is said about a blank node that nothing refers to any more."""
    if not isinstance(node, BlankNode) or list(mapping.quads_for_object(node)):
        return
    for quad in list(mapping.quads_for_subject(node)):
        mapping.discard(quad)
        _forget(mapping, quad.object)
