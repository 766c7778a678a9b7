"""The shipped cases are valid, show the whole format, and end as they say."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

import resources
from benchyard import cli, schemas
from benchyard.case.loading import find_metadata, load
from benchyard.core.errors import ExitCode
from benchyard.core.model import Case

CASES = Path(__file__).parents[2] / "cases"
EXAMPLES = sorted(path.parent for path in (CASES / "examples").glob("*/metadata.json"))
TPCH = CASES / "tpch"

PASSWORD = "BENCHYARD_EXAMPLE_PASSWORD"  # noqa: S105 - the name of a variable

#: Example to those of its steps that do not complete.
ENDINGS: Mapping[str, Mapping[str, str]] = {
    "failures": {"tolerated": "tolerated", "late": "tolerated"},
    "secrets": {"login": "tolerated"},
}
Runs = list[tuple[Path, dict[str, Any]]]


@pytest.fixture(autouse=True)
def no_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PASSWORD, raising=False)


def cases_in(folder: Path) -> tuple[Case, ...]:
    """Load the cases of one folder, which must be valid."""
    loaded = load(folder / "metadata.json", resources.find())
    assert [str(problem) for problem in loaded.problems] == []
    return loaded.cases


def document(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "metadata.json").read_text())


#: Steps of milliseconds cost the lab more than a hundredth of their time to start; this host may
#: be disturbed: both are true, and nothing that an example could help.
OF_THE_HOST = re.compile("the lab itself|is suspect")


def execute(name: str, results: Path) -> Runs:
    """Execute one run of each point of an example; return folder and record of each."""
    places = ["--root", str(CASES), "--results", str(results)]
    quick = ["--direct", "--runs", "1", "--cooldown", "0"]
    code = cli.call(["run", str(CASES / "examples" / name), *places, *quick])
    assert code == ExitCode.DONE
    return [(p.parent, json.loads(p.read_text())) for p in sorted(results.rglob("run.json"))]


def steps_of(record: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {step["id"]: step for step in record["steps"]}


# -- all shipped cases


@pytest.mark.parametrize(
    "folder", [p.parent for p in find_metadata(CASES)], ids=lambda p: f"{p.parent.name}-{p.name}"
)
def test_every_shipped_case_is_valid_and_described(folder: Path) -> None:
    for case in cases_in(folder):
        assert case.description
        assert case.tags
        if CASES / "krown" in folder.parents:
            assert {"krown", "container"} <= set(case.tags)


def test_names_and_ids_of_cases_are_unique() -> None:
    documents = [document(path.parent) for path in find_metadata(CASES)]
    for key in ("@id", "name"):
        values = [each[key] for each in documents]
        assert len(values) == len(set(values))


# -- the examples show the format


def test_the_examples_use_every_key_of_the_schema() -> None:
    schema = cast("dict[str, Any]", schemas.load("case"))
    step = schema["$defs"]["step"]["properties"]
    include = schema["$defs"]["include"]["properties"]
    documents = [document(folder) for folder in EXAMPLES]
    steps = [each for made in documents for each in made["steps"]]
    checks = [each["check"] for each in steps if "check" in each]
    # No example can name a repository that it does not bring along (docs/how-to/campaigns.md shows one).
    assert _keys(documents) | {"subject"} == set(schema["properties"])
    assert _keys(steps) == step.keys() | include.keys()
    assert _keys(checks) == set(step["check"]["properties"])


def _keys(documents: list[dict[str, Any]]) -> set[str]:
    return {key for each in documents for key in each}


def test_the_examples_use_both_kinds_of_references() -> None:
    texts = "".join((folder / "metadata.json").read_text() for folder in EXAMPLES)
    kinds = set(re.findall(r"\$\{(matrix\.|env:)", texts))
    assert kinds == {"matrix.", "env:"}
    assert '"${matrix.' in texts, "one stands alone, so that it keeps its type"


def test_the_examples_are_small() -> None:
    inputs = [p for folder in EXAMPLES for p in (folder / "data").rglob("*") if p.is_file()]
    assert sum(p.stat().st_size for p in inputs) < 200_000


def test_the_copies_of_the_words_are_alike() -> None:
    copies = sorted((CASES / "examples").glob("*/data/shared/words.txt"))
    assert len(copies) >= 3
    assert len({copy.read_bytes() for copy in copies}) == 1
    words = copies[0].read_text().splitlines()
    answer = CASES / "examples" / "measuring" / "data" / "shared" / "sorted.txt"
    assert answer.read_text().splitlines() == sorted(words)


# -- the examples end as they say


@pytest.mark.slow
@pytest.mark.parametrize("name", [folder.name for folder in EXAMPLES])
def test_an_example_ends_as_it_says(name: str, tmp_path: Path) -> None:
    runs = execute(name, tmp_path)
    assert len(runs) == len(cases_in(CASES / "examples" / name))
    for folder, record in runs:
        assert (folder / ".done").is_file()
        assert record["outcome"] == "completed"
        assert record["changed_inputs"] == []
        assert [text for text in record["warnings"] if not OF_THE_HOST.search(text)] == []
        outcomes = {i: s["outcome"] for i, s in steps_of(record).items()}
        assert outcomes == {**dict.fromkeys(outcomes, "completed"), **ENDINGS.get(name, {})}


@pytest.mark.slow
def test_the_failures_fail_as_their_names_say(tmp_path: Path) -> None:
    [(_, record)] = execute("failures", tmp_path)
    made = {i: [a["outcome"] for a in step["attempts"]] for i, step in steps_of(record).items()}
    assert made == {
        "tolerated": ["failed", "failed"],
        "expected": ["completed"],
        "late": ["timed_out"],
        "second": ["failed", "completed"],
    }


def test_the_secret_is_used_and_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PASSWORD, "correct-horse-battery")
    [(_, record)] = execute("secrets", tmp_path)
    assert steps_of(record)["login"]["outcome"] == "completed"
    texts = [p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()]
    assert texts
    assert not any(b"correct-horse-battery" in text for text in texts)


# -- TPC-H: one benchmark, three engines


def _files(folder: Path) -> dict[str, bytes]:
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


@pytest.mark.parametrize("engine", ["SQLite", "PostgreSQL"])
def test_tpch_asks_each_engine_for_the_same(engine: str) -> None:
    assert _files(TPCH / "duckdb" / "data")
    assert _files(TPCH / engine.lower() / "data") == _files(TPCH / "duckdb" / "data")
    ours, theirs = (
        (TPCH / name.lower() / "metadata.json").read_text().replace(name, "Engine")
        for name in (engine, "DuckDB")
    )
    steps = [step for step in json.loads(ours)["steps"] if step["command"] != "vacuum"]
    assert steps == json.loads(theirs)["steps"]


def test_tpch_checks_every_answer_at_every_scale_with_a_file_that_has_rows() -> None:
    cases = cases_in(TPCH / "duckdb")
    assert [case.point["scale"] for case in cases] == [0.01, 0.1]
    for case in cases:
        queries = [step for step in case.steps if step.command == "execute_query_file"]
        assert len(queries) == 9
        for step in queries:
            assert step.check is not None
            expected = TPCH / "duckdb/data/shared" / str(step.check.equal)
            assert len(expected.read_text().splitlines()) > 1
