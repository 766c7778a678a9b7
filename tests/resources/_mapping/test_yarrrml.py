"""The YARRRML parser: how it is called."""

from typing import Any

import pytest


@pytest.mark.parametrize(
    ("options", "after"),
    [
        ({}, ("-p",)),
        ({"pretty": False}, ()),
        ({"r2rml": True}, ("-c", "-f", "R2RML", "-p")),
        ({"r2rml": True, "pretty": False}, ("-c", "-f", "R2RML")),
    ],
)
def test_a_mapping(
    engine: Any, calls: Any, options: dict[str, bool], after: tuple[str, ...]
) -> None:
    calls.makes = {"/data/shared/out.ttl": "<a> <b> <c> .\n"}
    result = engine("YARRRML").transform_mapping("data.csv", "out.ttl", **options)
    files = ("-i", "/data/shared/data.csv", "-o", "/data/shared/out.ttl")
    assert calls.command == (*files, *after)
    assert calls.specs[0].image == "kgconstruct/yarrrml:v1.3.6"
    assert result.output.read_text() == "<a> <b> <c> .\n"
