import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from benchyard.publish.sinks.datastore.sink import MARKER, fitted

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(), inner, max_size=8),
    max_leaves=40,
)
BODIES: st.SearchStrategy[dict[str, Any]] = st.dictionaries(st.text(), VALUES, max_size=12)


def document(entries: int, extra: str) -> dict[str, Any]:
    made = [
        {"name": f"BM_{n}", "wallTime": n / 7, "extras": {"log": {"stringValue": extra}}}
        for n in range(entries)
    ]
    return {"name": "//t:x", "startTime": "1700000000", "entries": {"entry": made}}


@settings(deadline=None)
@given(BODIES, st.integers(300, 1500), st.text(max_size=400))
def test_is_json_and_never_longer_than_the_limit(
    body: dict[str, Any], limit: int, archived_as: str
) -> None:
    text = fitted(body, limit, archived_as)
    assert len(text.encode()) <= limit
    if len(json.dumps(body)) <= limit:
        assert json.loads(text) == body
    else:
        assert json.loads(text)[MARKER]["bytes"] == len(json.dumps(body))


def test_keeps_names_and_times_of_all_entries_before_any_of_their_details() -> None:
    text = fitted(document(5000, "x" * 300), 1_000_000, "a")
    assert len(text) > 700_000
    assert len(fitted(document(1, "x" * 2_000_000), 1_000_000, "a")) > 700_000
    cut = json.loads(text)
    assert cut["name"] == "//t:x"
    entries = cut["entries"]["entry"]
    kept = [(one["name"], one["wallTime"]) for one in entries]
    assert kept == [(f"BM_{n}", n / 7) for n in range(5000)]
    assert entries[0]["extras"]["log"]["stringValue"].endswith("…")


def test_nesting_does_not_exhaust_the_stack() -> None:
    deep: Any = "x" * 1000
    for _ in range(300):
        deep = {"a": deep, "b": "y" * 10}
    cut = json.loads(fitted({"name": "n", "deep": deep}, 800, "a"))
    assert cut["name"] == "n"
