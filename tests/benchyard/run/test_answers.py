"""Steps that must give the same answer as an earlier step of their run."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from benchyard.cli import call
from tests.conftest import MakeCase, process

Execute = Callable[..., dict[str, Any]]


@pytest.fixture
def executed(case_folder: MakeCase) -> Execute:
    """Execute steps once; return the record of their run."""

    def execute(*steps: Mapping[str, Any]) -> dict[str, Any]:
        folder = case_folder("answers", *steps)
        call(["run", str(folder), "--direct", "--runs", "1", "--cooldown", "0"])
        return json.loads((folder / "results" / "run_1" / "run.json").read_text())

    return execute


def outcomes(record: Mapping[str, Any]) -> dict[str, str]:
    return {step["id"]: step["outcome"] for step in record["steps"]}


def error_of(record: Mapping[str, Any], step_id: str) -> str:
    [step] = [step for step in record["steps"] if step["id"] == step_id]
    return step["attempts"][-1]["error"]["message"]


def saying(name: str, text: str, file: str | None = None, **keys: Any) -> Mapping[str, Any]:
    """Declare a step that says a text, on its standard output or into a file."""
    parameters = {} if file is None else {"stdout_file": file}
    return process(name, f"printf '{text}'", parameters=parameters, **keys)


def equal_to(other: str, **more: Any) -> dict[str, Any]:
    return {"equal_to": other, **more}


def test_the_same_answer_completes_and_another_one_fails_with_the_difference(
    executed: Execute,
) -> None:
    record = executed(
        saying("a", "x,y\\n1,2\\n", "a.csv"),
        saying("b", "x,y\\n1,2\\n", "b.csv", check=equal_to("a")),
        saying("c", "x,y\\n1,3\\n", "c.csv", check=equal_to("a"), may_fail=True, retries=0),
    )
    assert outcomes(record) == {"a": "completed", "b": "completed", "c": "tolerated"}
    said = error_of(record, "c")
    assert said.startswith("wrong answer in 'c.csv': not equal to the answer of 'a'\n")
    assert said.endswith("-1,2\n+1,3")


FAILING: dict[str, Any] = {"may_fail": True, "retries": 0}
NEAR = equal_to("a", tolerance=0.01, any_order=True)
LARGE = "yes | head -c 1500000"


@pytest.mark.parametrize(
    "steps",
    [
        # Each output is moved away when the next step makes a file of its name.
        (
            saying("a", "1\\n", "it.csv"),
            saying("b", "2\\n", "it.csv"),
            saying("c", "1\\n", "it.csv", check=equal_to("a")),
            saying("d", "1\\n", "it.csv", check=equal_to("b"), **FAILING),
        ),
        (
            saying("a", "k,v\\np,1.0\\nq,2.0\\n", "a.csv"),
            saying("b", "k,v\\nq,2.001\\np,1.001\\n", "b.csv", check=NEAR),
            saying("c", "k,v\\nq,2.1\\np,1.001\\n", "c.csv", check=NEAR, **FAILING),
        ),
        (
            saying("a", "hello", repeat=2),
            saying("b", "hello", check=equal_to("a")),
            saying("c", "hallo", check=equal_to("a"), **FAILING),
        ),
        # What is large is compared by a process of its own.
        (
            process("a", LARGE, parameters={"stdout_file": "a.txt"}),
            process("b", LARGE, parameters={"stdout_file": "b.txt"}, check=equal_to("a")),
            process("c", "echo y", check=equal_to("a"), **FAILING),
        ),
    ],
    ids=["one name", "tolerance and order", "what programs say", "large"],
)
def test_only_the_last_step_gives_another_answer(
    executed: Execute, steps: tuple[Mapping[str, Any], ...]
) -> None:
    told = list(outcomes(executed(*steps)).values())
    assert told == ["completed"] * (len(steps) - 1) + ["tolerated"]


def test_a_step_that_failed_has_no_answer(executed: Execute) -> None:
    failing = process("a", "printf x; exit 3", may_fail=True, retries=0)
    record = executed(failing, saying("b", "x", check=equal_to("a")))
    assert outcomes(record) == {"a": "tolerated", "b": "failed"}
    assert error_of(record, "b") == "the step 'a' gave no answer to compare with"


def test_nothing_of_it_stays(executed: Execute, tmp_path: Path) -> None:
    executed(saying("a", "1", "a.csv"), saying("b", "1", "b.csv", check=equal_to("a")))

    run = tmp_path / "cases" / "answers" / "results" / "run_1"
    assert [file.name for file in sorted((run / "process").iterdir())] == ["a.csv", "b.csv"]
    assert (run / "process" / "a.csv").stat().st_nlink == 1
    assert not (run / ".work").exists()


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("aa", "there is no step with the id 'aa'; did you mean 'a'?"),
        ("b", "is the step itself; name another one"),
        ("two", "'two' makes t1 and t2; its own check must say which"),
        ("bad", "'bad' is expected to fail, so it gives no answer"),
        ("", "must not be empty"),
        (5, "must be a string"),
        ("\x1b[2J", "there is no step with the id"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    case_folder: MakeCase,
    capsys: pytest.CaptureFixture[str],
    wanted: object,
    message: str,
) -> None:
    two = {"stdout_file": "t1", "stderr_file": "t2"}
    folder = case_folder(
        "refused",
        saying("a", "1"),
        process("two", "true", parameters=two),
        process("bad", "false", expect_failure=True),
        saying("b", "1", check={"equal_to": wanted}),
    )
    assert call(["validate", str(folder)]) == 2
    line = capsys.readouterr().out.splitlines()[0]
    assert "$.steps[3].check.equal_to: " in line
    assert message in line
    assert "\x1b" not in line


def test_answers_in_a_circle_are_refused(
    case_folder: MakeCase, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = case_folder(
        "circle",
        saying("a", "1", needs=[], check=equal_to("b")),
        saying("b", "1", needs=[], check=equal_to("a")),
    )
    assert call(["validate", str(folder)]) == 2
    assert "the steps wait for each other: a → b → a" in capsys.readouterr().out


def test_the_other_step_may_come_from_the_matrix(
    case_folder: MakeCase, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = case_folder(
        "matrix",
        saying("a", "1"),
        saying("b", "2", needs=[]),
        saying("c", "1", check=equal_to("${matrix.other}")),
        matrix={"other": ["a", "b"]},
    )
    assert call(["run", str(folder), "--direct", "--runs", "1", "--cooldown", "0"]) == 1
    assert "matrix[other=b]" in capsys.readouterr().err.splitlines()[-1]
