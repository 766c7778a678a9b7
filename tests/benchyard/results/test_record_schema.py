"""The published schema of ``run.json`` equals the one generated from the record's classes.

``python tests/benchyard/results/test_record_schema.py`` writes it anew. Its descriptions are for
readers of the site; a new field needs one first.
"""

import json
from typing import Any

import msgspec

from benchyard import schemas
from benchyard.results.record import FORMAT, VERSION, RunRecord


def generated() -> dict[str, Any]:
    """Return the schema of the record, with the descriptions of the published one."""
    published: Any = schemas.load("run")
    [reference], parts = msgspec.json.schema_components([RunRecord], ref_template="#/$defs/{name}")
    for name, part in parts.items():
        _describe(part, published["$defs"].get(name, published))
    body: dict[str, Any] = parts.pop(reference["$ref"].rpartition("/")[2])
    head = {"format": {"const": FORMAT}, "version": {"const": VERSION}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:benchyard:schema:run:{VERSION}",
        **body,
        "properties": {**head, **body["properties"]},
        "required": [*head, *body["required"]],
        "$defs": parts,
    }


def _describe(part: dict[str, Any], published: dict[str, Any]) -> None:
    part.update(title=published["title"], description=published["description"])
    for name, field in part.get("properties", {}).items():
        field["description"] = published["properties"][name]["description"]


def test_the_published_schema_is_the_generated_one() -> None:
    assert schemas.load("run") == json.loads(json.dumps(generated()))


if __name__ == "__main__":
    from pathlib import Path

    FILE = Path(schemas.__file__).with_name("run.schema.json")
    FILE.write_text(json.dumps(generated(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
