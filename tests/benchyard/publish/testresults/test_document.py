"""Documents of every version are read; what is none is refused in a sentence that says where."""

import json
import math
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.core.errors import DocumentRejectedError
from benchyard.publish.testresults import Document, parse
from tests.benchyard.publish.testresults.conftest import Schema

START = 1_704_067_200


def document(**more: Any) -> dict[str, Any]:
    return {
        "name": "//t:x",
        "target": "//t:x",
        "startTime": str(START),
        "runTime": 12.5,
        "entries": {"entry": [{"name": "a", "iters": "3", "wallTime": 0.5}, {"name": "b"}]},
        "machineConfiguration": {"hostname": "h"},
        "runConfiguration": {"argument": ["--filter=all"]},
    } | more


def entries(*listed: Any) -> dict[str, Any]:
    return document(entries={"entry": [*listed]})


def read(value: Any, **options: Any) -> Document:
    return parse(json.dumps(value, **options).encode())


def test_a_current_document_is_read(sample: bytes) -> None:
    found = parse(sample)
    assert found.test == "//tensorflow/core/kernels:cast_op_test|NVIDIA_A100"
    assert found.started_at == datetime(2024, 1, 1, tzinfo=UTC)
    assert [(entry.name, entry.wall_time) for entry in found.entries] == [
        ("BM_cpu_float_int64/65536", 3.4172500000000005e-05),
        ("BM_gpu_float_int64/65536", 9.75e-06),
    ]
    assert found.text == sample.decode()
    assert found.entries[1].body["metrics"] == [
        {"name": "gb_per_s", "value": 26.9, "minValue": 20.0}
    ]


def test_names_of_fields_as_in_the_proto_are_the_same_document(
    sample: bytes, schema: Schema
) -> None:
    kept = schema.print(schema.parse(sample.decode()), as_in_proto=True)
    assert '"wall_time"' in kept
    found, other = parse(sample), parse(kept.encode())
    assert found.identity == other.identity
    assert [e.wall_time for e in found.entries] == [e.wall_time for e in other.entries]


def test_a_document_of_the_first_version_is_read() -> None:
    found = read(
        {
            "target": "//tensorflow/core/kernels:cast_op_test",
            "entries": {"entry": [{"name": "BM_cast", "iters": "100", "wallTime": 2e-5}]},
            "buildConfiguration": {"mode": "opt", "config": ["cuda"], "copts": ["-mavx"]},
            "startTime": "1463000000",
            "runConfiguration": {"arguments": ["--benchmarks=all"]},
        }
    )
    assert found.test == "//tensorflow/core/kernels:cast_op_test"
    assert found.entries[0].wall_time == 2e-5
    assert found.arguments == {"benchmarks": "all"}


@pytest.mark.parametrize(
    ("told", "wall_time"),
    [
        *(({}, 0.0), ({"wallTime": None}, 0.0), ({"wallTime": 3}, 3.0), ({"wallTime": "3"}, 3.0)),
        *(({"wallTime": "1.5e-3"}, 0.0015), ({"wallTime": -0.5}, -0.5)),
        *(({"wallTime": "Infinity"}, math.inf), ({"wallTime": "-Infinity"}, -math.inf)),
        *(({"wallTime": math.inf}, math.inf), ({"wall_time": 0.25}, 0.25)),
        *(({"wallTime": "NaN"}, math.nan), ({"wallTime": math.nan}, math.nan)),
    ],
)
def test_wall_times_in_every_form(told: dict[str, Any], wall_time: float) -> None:
    found = read(entries({"name": "a"} | told))
    assert found.entries[0].wall_time == pytest.approx(wall_time, abs=0, rel=0, nan_ok=True)
    assert type(found.entries[0].wall_time) is float
    assert found.identity == read(entries({"name": "a", "wallTime": wall_time})).identity


@pytest.mark.parametrize(
    ("start", "year"), [(0, 1970), ("253402300799", 9999), (1.5, 1970), ("1.7e9", 2023)]
)
def test_start_times_in_every_form(start: object, year: int) -> None:
    assert read(document(startTime=start)).started_at.year == year
    empty: list[dict[str, Any]] = [{}, {"entry": []}, {"entry": None}]
    for none in empty:
        assert read(document(startTime=start, entries=none)).entries == ()


@pytest.mark.parametrize(
    ("told", "microsecond"),
    [
        ("2024-01-01T00:00:00.123456+00:00", 123456),
        ("2024-01-01T01:00:00.999999+01:00", 999999),
        *((f"{other}+00:00", 0) for other in ("2024-01-01T00:00:01", "2023-12-31T23:59:59.9")),
        *(("0001-01-01T00:00:00+14:00", 0), ("soon", 0), ("", 0)),
    ],
)
def test_an_argument_tells_the_moment_within_the_second(told: str, microsecond: int) -> None:
    argument = f"--started-at={told}"
    found = read(document(runConfiguration={"argument": [argument, "--other", "x=y"]}))
    assert found.started_at == datetime(2024, 1, 1, microsecond=microsecond, tzinfo=UTC)
    assert found.arguments == {"started-at": told, "other": ""}


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ([], "all of it is a list, and no object"),
        (document(name=None, target=None), "neither a name nor a target"),
        (document(name=7), "name is a number, and no text"),
        (document(startTime=None), "it has no startTime"),
        (document(startTime="soon"), "startTime is 'soon', and no number"),
        (document(startTime="1704067200000"), "no time in seconds from 1970 to 9999"),
        (document(startTime="9" * 400), "9…, which is larger than any double"),
        (document(entries=None), "it has no entries"),
        (document(entries={"entry": {}}), "entries.entry is an object, and no list"),
        (entries({"name": "a"}, 7), r"entries.entry\[1\] is a number, and no object"),
        (entries({"wallTime": 1}), r"entries.entry\[0\] has no name"),
        (entries({"name": "a", "wallTime": "x" * 99}), "'x{40}'…, and no number"),
        (entries({"name": "a", "wallTime": "1\n"}), r"wallTime is '1\\n', and no number"),
        (document(runConfiguration={"argument": [1]}), "argument is a number, and no text"),
        (document(machineConfiguration={"hostname": 1}), "hostname is a number, and no text"),
        (document(name="\ud800"), "it is no JSON"),
        (entries({"name": "a", "x\udfff": math.nan}), "no JSON that others can read: .*surrogates"),
    ],
)
def test_what_is_no_test_results_is_told_in_a_sentence(value: Any, says: str) -> None:
    with pytest.raises(DocumentRejectedError, match=says):
        read(value)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "it is no JSON: .*empty"),
        (b"{", "it is no JSON: .*line 1 column"),
        (b"\x1f\x8b\x08", "it is no JSON, which is UTF-8"),
        (b"\xff\xfe{\x00}\x00", "it is no JSON, which is UTF-8"),
        (b'{"name": NaN', "it is no JSON: .*line 1 column"),
        (b"1e400", "it is no JSON: .*infinity"),
        (b"[" * 300 + b"]" * 300, "no JSON that others can read: Recursion"),
        (b"[" * 100_000, "it is no JSON: .*depth"),
        (b"[NaN," + b"[" * 100_000, r"it is no JSON: .*(recursion|overflow)"),
        (b"[NaN, " + b"9" * 5000 + b"]", "it is no JSON: Exceeds the limit"),
        (b"[NaN, " + b"9" * 500 + b"]", "no JSON that others can read: Integer"),
    ],
)
def test_what_is_no_json_is_told_in_a_sentence(content: bytes, says: str) -> None:
    with pytest.raises(DocumentRejectedError, match=says) as caught:
        parse(content)
    assert len(str(caught.value)) < 200


def test_a_byte_order_mark_is_not_part_of_the_text() -> None:
    content = json.dumps(document()).encode()
    assert parse(b"\xef\xbb\xbf" + content) == parse(content)


CHANGED = {
    "name": document(name="//t:y"),
    "start": document(startTime=str(START + 1)),
    "host": document(machineConfiguration={"hostname": "g"}),
    "arguments": document(runConfiguration={"argument": ["--filter=some"]}),
    "one argument is two": document(runConfiguration={"argument": ["--filter=", "all"]}),
    "duration": document(runTime=12.6),
    "time of an entry": entries({"name": "a", "wallTime": 0.6}, {"name": "b"}),
    "name of an entry": entries({"name": "a", "wallTime": 0.5}, {"name": "c"}),
    "number of entries": entries({"name": "a", "wallTime": 0.5}),
    "order of entries": entries({"name": "b"}, {"name": "a", "wallTime": 0.5}),
    "no entries": entries(),
}


def test_whatever_tells_two_runs_apart_tells_their_identities_apart() -> None:
    found = [read(document()), *map(read, CHANGED.values())]
    assert len({one.identity for one in found}) == len(found)
    of_entries = [entry.identity for one in found for entry in one.entries]
    assert len(set(of_entries)) == len(of_entries)


def test_a_separator_inside_of_a_name_does_not_make_two_identities_one() -> None:
    one = entries({"name": "a\0b", "wallTime": 1}, {"name": "c", "wallTime": 1})
    other = entries({"name": "a", "wallTime": 1}, {"name": "b\0c", "wallTime": 1})
    assert read(one).identity != read(other).identity
    one, other = document(name="a", startTime=11), document(name="a1", startTime=1)
    assert read(one).identity != read(other).identity


def test_entries_of_one_name_have_identities_of_their_own() -> None:
    same = {"name": "a", "wallTime": 0.5}
    found = read(entries(same, same, same))
    assert len({entry.identity for entry in found.entries}) == 3
    assert found == read(entries(same, same, same))


def test_an_identity_never_changes() -> None:
    """What was published by yesterday's version must be recognized by tomorrow's."""
    found = read(document())
    assert found.identity == "47cb14d6345433fd396a0c0dbb448c6c169d4ad2"
    assert found.entries[1].identity == found.identity[:32] + "00000001"


def test_layout_and_forms_of_numbers_do_not_change_the_identity() -> None:
    found = read(document())
    turned = dict(reversed(document(name="//t:x", startTime=START, runTime="12.5").items()))
    assert read(turned, indent=3, ensure_ascii=False).identity == found.identity


def test_the_environment_of_a_test_is_not_in_the_info() -> None:
    plain = read(document(), indent=1)
    assert plain.info == plain.text
    for run, variables in (("runConfiguration", "envVars"), ("run_configuration", "env_vars")):
        told = {run: {"argument": ["ä"], variables: {"TOKEN": "hunter2"}}}
        found = read(document(**told))
        assert "hunter2" in found.text
        assert "TOKEN" not in found.info
        assert json.loads(found.info) == document(**{run: {"argument": ["ä"]}})


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["NaN", "-Infinity", "1e999", "\ud800", "0", "9" * 5000]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
ENTRY = ("entries", "entry")
PLACES = [
    *((), ("name",), ("target",), ("startTime",), ("runTime",), ("entries",), ENTRY),
    *((*ENTRY, 0), (*ENTRY, 0, "name"), (*ENTRY, 1, "wallTime")),
    *(("machineConfiguration",), ("machineConfiguration", "hostname"), ("runConfiguration",)),
    *(("runConfiguration", "argument"), ("runConfiguration", "argument", 0)),
    ("runConfiguration", "envVars"),
]


def replaced(place: tuple[str | int, ...], value: Any) -> Any:
    if not place:
        return value
    whole: Any = document()
    inner = whole
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = value
    return whole


def reason_against(content: bytes) -> str:
    """Read anything, and return why it was refused; any other error fails the test."""
    try:
        found = parse(content)
    except DocumentRejectedError as error:
        return str(error)
    assert found.test
    assert all(entry.name for entry in found.entries)
    found.info.encode()
    json.dumps([found.body, found.entries[0].body if found.entries else None])
    return ""


@given(st.sampled_from(PLACES), anything)
def test_any_value_at_any_place_is_read_or_refused(place: Any, value: Any) -> None:
    reason = reason_against(json.dumps(replaced(place, value)).encode())
    assert "\n" not in reason


@given(st.binary() | st.text().map(str.encode))
def test_any_bytes_are_refused(content: bytes) -> None:
    assert reason_against(content).startswith("it is no ")
