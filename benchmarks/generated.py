"""Campaigns of any size, in two shapes, each case with inputs of its own."""

import json
from collections.abc import Callable
from pathlib import Path

from benchyard.core.model import Json, JsonObject

Shape = Callable[[int], tuple[JsonObject, dict[str, str]]]


def write_campaign(root: Path, count: int, shape: Shape) -> None:
    """Write ``count`` case folders below ``root``.

    Args:
        shape: Number of a case to its metadata and its inputs by name.
    """
    for number in range(count):
        folder = root / f"group-{number // 100:03d}" / f"case-{number:05d}"
        shared = folder / "data" / "shared"
        shared.mkdir(parents=True)
        document, inputs = shape(number)
        (folder / "metadata.json").write_text(json.dumps(document, indent=4), encoding="utf-8")
        for name, content in inputs.items():
            (shared / name).write_text(content, encoding="utf-8")


def krown_like(number: int) -> tuple[JsonObject, dict[str, str]]:
    """Return a case as KROWN's generator writes them: two steps, long ids, flags spelled out."""
    identifier = f"http://example.org/raw/{number}/20/500/duplicates/0/empty/0.0/joins/1-1/"
    load: JsonObject = {
        "@id": f"{identifier}#step1",
        "name": "Load RDB",
        "resource": "SQLite",
        "command": "load",
        "parameters": {"csv_file": f"data_{number}.csv", "table": f"data_{number}"},
        "expect_failure": False,
    }
    arguments: list[Json] = ["rmlmapper", "-m", f"mapping_{number}.ttl", "-s", "ntriples"]
    mapping: JsonObject = {
        "@id": f"{identifier}#step2",
        "name": "Execute RML mapping",
        "resource": "Process",
        "command": "execute",
        "parameters": {"arguments": arguments, "output_file": "out.nt"},
        "expect_failure": False,
    }
    document: JsonObject = {
        "@id": identifier,
        "name": f"raw_{number}_20_500",
        "description": f"Raw Data Values {number} members, 20 properties, and 500 value size",
        "steps": [load, mapping],
    }
    return document, {f"data_{number}.csv": "id,p1\n1,a\n"}


def ours_alike(number: int) -> tuple[JsonObject, dict[str, str]]:
    """Return a case with matrix, needs and checks; all have the same values, as in a campaign."""
    return _ours(number, 0)


def ours_different(number: int) -> tuple[JsonObject, dict[str, str]]:
    """Return the same with values of its own, so that nothing learnt from another case helps."""
    return _ours(number, number)


def _ours(number: int, value: int) -> tuple[JsonObject, dict[str, str]]:
    load: JsonObject = {
        "@id": "load",
        "name": "Load ${matrix.rows} rows",
        "resource": "SQLite",
        "command": "load",
        "parameters": {"csv_file": "data.csv", "table": "data"},
        "measure": False,
    }
    document: JsonObject = {
        "@id": f"urn:example:ours:{number}",
        "name": f"ours-{number}",
        "description": "Two queries side by side, then a count.",
        "tags": ["sql", "generated"],
        "matrix": {"rows": [value + 1, value + 2]},
        "resources": {"SQLite": {"pragmas": {"cache_size": -2000}}},
        "steps": [load, _query("left", value), _query("right", value), _count(value)],
    }
    query = "SELECT * FROM data;\n"
    return document, {"data.csv": "id,p1\n1,a\n", "left.sql": query, "right.sql": query}


def _query(side: str, value: int) -> JsonObject:
    return {
        "@id": side,
        "name": f"Query {side}",
        "resource": "SQLite",
        "command": "execute_query_file",
        "parameters": {"query_file": f"{side}.sql", "results_file": f"{side}.csv"},
        "needs": ["load"],
        "timeout": 60 + value,
        "warmup": 1,
        "repeat": 5,
        "check": {"rows": "${matrix.rows}"},
    }


def _count(value: int) -> JsonObject:
    return {
        "@id": "count",
        "name": "Count",
        "resource": "Process",
        "command": "execute",
        "parameters": {"arguments": ["wc", "-l", "left.csv"], "stdout_file": "count.txt"},
        "needs": ["left", "right"],
        "check": {"pattern": f"^{value}"},
    }
