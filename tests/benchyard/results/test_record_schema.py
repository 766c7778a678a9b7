"""The published schema of ``run.json`` equals the one generated from the record's classes.

``python tests/benchyard/results/test_record_schema.py`` writes it anew.
"""

import json
import re
from typing import Any

import msgspec

from benchyard import schemas
from benchyard.core.model import Outcome
from benchyard.results import record
from benchyard.results.record import FORMAT, VERSION, RunRecord

_ARGUMENT = re.compile(r"^    (\w+): (.+(?:\n      .+)*)", re.MULTILINE)


def generated() -> dict[str, Any]:
    """Return the schema of the record, with the descriptions that its classes have."""
    [reference], parts = msgspec.json.schema_components([RunRecord], ref_template="#/$defs/{name}")
    for name, part in parts.items():
        _describe(part, getattr(record, name, Outcome))
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


def _describe(part: dict[str, Any], kind: type) -> None:
    text = re.sub(r"\n    ", "\n", kind.__doc__ or "").replace("``", "`").replace("None", "null")
    part["description"] = " ".join(text.partition("\n\n")[0].split())
    told = {name: " ".join(what.split()) for name, what in _ARGUMENT.findall(text)}
    for name in part.get("properties", {}):
        if name in told:
            part["properties"][name]["description"] = told[name]


def test_the_published_schema_is_the_generated_one() -> None:
    assert schemas.load("run") == json.loads(json.dumps(generated()))


if __name__ == "__main__":
    from pathlib import Path

    FILE = Path(schemas.__file__).with_name("run.schema.json")
    FILE.write_text(json.dumps(generated(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
