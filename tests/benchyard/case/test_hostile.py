"""No metadata.json, however mangled, yields a traceback, hides another case or takes long."""

import copy
import json
import resource
from collections.abc import Callable, Generator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchyard.case.loading import Loaded, load
from benchyard.cli import call
from benchyard.core.model import Case
from benchyard.results.layout import point_slug
from tests.benchyard.case.toys import REGISTRY

VALID: dict[str, Any] = {
    "@id": "urn:case",
    "name": "hostile-${matrix.n}",
    "description": "What all others are made from.",
    "tags": ["a", "b"],
    "matrix": {"n": [1, 2], "word": ["x", "y"]},
    "resources": {"Toy": {"threads": "${matrix.n}", "environment": {"A": "b"}}},
    "steps": [
        {
            "@id": "first",
            "name": "Make",
            "resource": "Toy",
            "command": "play",
            "parameters": {"reads": "words.csv", "makes": "out.nt", "mode": "b"},
            "retries": 2,
            "retry_delay": 0.5,
            "timeout": 3,
            "check": {"rows": 2, "equal": "words.csv", "tolerance": 0.1, "pattern": "a+"},
        },
        {
            "@id": "second",
            "resource": "Toy",
            "command": "play",
            "needs": ["first"],
            "parameters": {
                "parts": [{"file": "out.nt", "table": "t"}, {"file": "sub/a.csv", "table": "u"}],
                "fills": "folder-${matrix.word}",
                "count": "${matrix.n}",
            },
            "may_fail": True,
            "warmup": 1,
            "repeat": 2,
        },
        {"resource": "Toy", "command": "anything", "parameters": {"x": {"y": [None]}}},
    ],
}

WEIRD = st.sampled_from(
    [
        *("", " ", ".", "..", "../..", "/", "//", "/etc/passwd", "~", "a\x00b", "\x00", "\x1b[2J"),
        *("\n", "x\n", "\u202e", "\ud800", "\udcff", "\ufffe", "😀", "NaN", "null", "x" * 5_000),
        *("${matrix.n}", "${matrix.}", "${matrix.zzz}", "${matrix.n", "x${matrix.word}y", "$"),
        *("${env:HOME}", "${secret:x}", "%s%n{0}{x}", "'; rm -rf /", "loop", "dangling", "sub"),
        *("first", "second", "step3", "words.csv", "out.nt", "Toy", "Gone", "play", "stop"),
        *("__init__", "__class__", "(", "(a+)+$", "\\", "words.csv/x", "sub/../x", "./"),
        "a/" * 2_100,
    ]
)
NUMBERS = st.sampled_from(
    [0, 1, -1, 2, 1.0, 0.5, -0.0, 1e308, 10**299, -(10**299), 2**63, 31536000, 10**7]
)
SCALARS: st.SearchStrategy[Any] = st.none() | st.booleans() | NUMBERS | WEIRD | st.text()
KNOWN = st.sampled_from(
    [
        *("@id", "name", "description", "tags", "matrix", "resources", "steps", "resource"),
        *("command", "parameters", "needs", "timeout", "retries", "retry_delay", "may_fail"),
        *("expect_failure", "measure", "warmup", "repeat", "check", "rows", "sha256", "equal"),
        *("pattern", "tolerance", "any_order", "file", "reads", "makes", "parts", "paramters"),
    ]
)
KEYS = KNOWN | WEIRD | st.text(max_size=8)
ANYTHING: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
#: What is large for its kind, deep, or text between the bytes of JSON.
LARGE = st.sampled_from(
    [
        *("x" * 100_000, ["x"] * 5_000, [*range(5_000)], {str(n): n for n in range(5_000)}),
        *(json.loads("[" * levels + "]" * levels) for levels in (10, 60, 100, 200)),
        *({"class": "Process"}, {"class": 5}, {"": None}),
    ]
)
PIECES = st.sampled_from(
    [
        *(b"NaN", b"Infinity", b"-", b"1" * 5_000, b"1e999", b"[" * 5_000, b'{"a":' * 2_000),
        *(b"\xff\xfe", b'"\\ud800"', b'"name": "again", ', b",", b"}", b"]", b"\xef\xbb\xbf"),
    ]
)
CASES = Path(__file__).parents[3] / "cases"
SHIPPED = [
    json.loads(file.read_text())
    for file in sorted(CASES.rglob("metadata.json"))
    if "results" not in file.parts
]


def places(value: Any) -> list[tuple[Any, Any]]:
    """List every container in a document with each of its keys."""
    keys: list[Any] = []
    if isinstance(value, dict):
        keys = [*cast("dict[str, Any]", value)]
    elif isinstance(value, list):
        keys = [*range(len(cast("list[Any]", value)))]
    inner = [place for key in keys for place in places(value[key])]
    return [*((value, key) for key in keys), *inner]


def enlarged(document: Any, draw: st.DrawFn) -> Any:
    """Put something large into a copy; last, for nobody can choose among thousands of places."""
    made = copy.deepcopy(document)
    if spots := places(made):
        container, key = draw(st.sampled_from(spots))
        container[key] = copy.deepcopy(draw(LARGE))
    return made


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    """Make a document that was valid once."""
    document = copy.deepcopy(draw(st.sampled_from([VALID, *SHIPPED])))
    for _ in range(draw(st.integers(1, 3))):
        spots = places(document)
        if not spots:
            break
        container, key = draw(st.sampled_from(spots))
        change = draw(st.sampled_from(["replace", "delete", "rename", "swap", "wrap", "double"]))
        value = container[key]
        if change == "delete":
            del container[key]
        elif change == "rename" and type(key) is str:
            container[draw(KEYS)] = container.pop(key)
        elif change == "wrap":
            container[key] = draw(st.sampled_from([[value], {"x": value}, str(value)]))
        elif change == "double" and type(key) is int:
            container.append(copy.deepcopy(value))
        elif change == "swap":
            other, place = draw(st.sampled_from(spots))
            container[key] = copy.deepcopy(other[place])
        else:
            container[key] = draw(WEIRD | ANYTHING)
    return enlarged(document, draw) if draw(st.booleans()) else document


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """Cut off the bytes of a valid document, insert some, or flip a bit."""
    content = encoded(VALID)
    at = draw(st.integers(0, len(content) - 1))
    inserted = draw(st.binary(max_size=4) | PIECES) + content[at:]
    flipped = bytes([content[at] ^ 1]) + content[at + 1 :]
    return content[:at] + draw(st.sampled_from([b"", inserted, flipped]))


def encoded(document: Any) -> bytes:
    return json.dumps(document).encode()


CONTENTS = st.one_of(
    st.binary(max_size=400), ANYTHING.map(encoded), mutated().map(encoded), damaged()
)
_numbers = count()


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Callable[[bytes], Path]:
    """Write documents, each into a case folder of its own with inputs of every kind."""
    root = tmp_path_factory.mktemp("hostile")

    def write(content: bytes) -> Path:
        folder = root / str(next(_numbers))
        shared = folder / "data" / "shared"
        (shared / "sub").mkdir(parents=True)
        (shared / "words.csv").write_text("a\nb\n")
        (shared / "sub" / "a.csv").touch()
        (shared / "loop").symlink_to("loop")
        (shared / "dangling").symlink_to("nowhere")
        (shared / "outside").symlink_to("/etc")
        (folder / "metadata.json").write_bytes(content)
        return folder / "metadata.json"

    return write


#: CPU seconds and bytes that one file may take.
CPU_SECONDS, MEMORY = 5, 500 * 10**6


@contextmanager
def within_limits() -> Generator[None]:
    before = resource.getrusage(resource.RUSAGE_SELF)
    yield
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime <= CPU_SECONDS
    assert (after.ru_maxrss - before.ru_maxrss) * 1024 <= MEMORY


def loads_or_says_why(file: Path) -> Loaded:
    with within_limits():
        loaded = load(file, REGISTRY)
    assert bool(loaded.cases) != bool(loaded.problems)
    assert loaded.name
    for problem in loaded.problems:
        said = str(problem)
        said.encode()
        assert len(said.splitlines()) == 1
        assert said.isprintable()
        assert problem.path.startswith("$")
        assert problem.message
    for case in loaded.cases:
        is_whole(case)
    slugs = {point_slug(case.point) for case in loaded.cases if case.point}
    assert len(slugs) == len([case for case in loaded.cases if case.point])
    return loaded


def is_whole(case: Case) -> None:
    assert case.title.isprintable() or case.name
    ids = [step.id for step in case.steps]
    assert len(set(ids)) == len(ids)
    for step in case.steps:
        assert step.resource in REGISTRY.classes
        assert step.label
        assert set(step.needs) <= set(ids)
        counted = (step.retries, step.warmup, step.repeat)
        assert all(type(number) is int for number in counted)
        assert step.repeat >= 1
        json.dumps(dict(step.parameters), allow_nan=False).encode()


def test_what_the_mutations_start_from_is_valid(place: Callable[[bytes], Path]) -> None:
    loaded = loads_or_says_why(place(encoded(VALID)))
    assert [problem.message for problem in loaded.problems] == []
    assert len(loaded.cases) == 4


HOSTILE = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=300)


@HOSTILE
@given(content=CONTENTS)
def test_any_content(place: Callable[[bytes], Path], content: bytes) -> None:
    loads_or_says_why(place(content))


def says_zero_or_two(place: Callable[[bytes], Path], content: bytes, options: list[str]) -> None:
    folder = place(content).parent
    for words in (["validate"], ["list"], ["run", "--dry-run", "--direct"]):
        more = [] if words[0] == "run" else options
        with within_limits():
            assert call([*words, "--root", str(folder), *more]) in {0, 2}


COMMANDS = given(content=CONTENTS, options=st.sampled_from([[], ["--json"]]))
test_the_command_line_says_zero_or_two = settings(HOSTILE, max_examples=25)(
    COMMANDS(says_zero_or_two)
)
test_it_says_so_ten_thousand_times = pytest.mark.long(
    settings(HOSTILE, max_examples=10_000)(COMMANDS(says_zero_or_two))
)
