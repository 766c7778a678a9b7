"""Ports of this host, found wherever a case names an address."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.core.model import Step
from benchyard.run.ports import local_ports

NONE: set[int] = set()
TEXT = st.text(max_size=40)
JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


def step(parameters: Any) -> Step:
    return Step(
        index=1,
        id="a",
        name="a",
        resource="Alpha",
        command="work",
        parameters=parameters,
    )


@pytest.mark.parametrize(
    ("text", "ports"),
    [
        ("http://localhost:8890/sparql", {8890}),
        ("127.0.0.1:5432", {5432}),
        ("[::1]:80/x and jdbc:postgresql://localhost:5432/db", {80, 5432}),
        ("http://localhost/sparql", NONE),
        ("http://example.org:8890/", NONE),
        ("notlocalhost:8890", NONE),
        ("my.localhost:8890", NONE),
        ("10.127.0.0.1:8890", NONE),
        ("localhost:0", NONE),
        ("localhost:65536", NONE),
        ("localhost:123456", NONE),
    ],
)
def test_addresses_on_this_host_are_found(text: str, ports: set[int]) -> None:
    assert local_ports([step({"endpoint": text})]) == ports


def test_they_are_found_at_any_depth() -> None:
    deep = {"a": ["x", {"b": "localhost:81"}], "c": "localhost:82", "d": 83, "e": None}
    assert local_ports([step(deep), step({"f": "localhost:84"})]) == {81, 82, 84}


@given(JSON, st.integers(1, 65535))
def test_any_parameters_can_be_read(value: Any, port: int) -> None:
    found = local_ports([step({"x": value, "y": f"localhost:{port}"})])
    assert port in found
    assert all(0 < one < 65536 for one in found)
