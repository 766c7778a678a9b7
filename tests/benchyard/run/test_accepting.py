"""``benchyard run --accept``: answers become the expected ones, all of them or none."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchyard.cli import call
from tests.conftest import MakeCase, process, tree

Capture = pytest.CaptureFixture[str]


def accept(folder: Path, *more: str) -> int:
    return call(["run", str(folder), "--accept", *more])


def answering(name: str, text: str, expected: str, **check: Any) -> Mapping[str, Any]:
    """Declare a step that says a text, and must say what a file holds."""
    return process(
        name,
        f"printf '{text}'",
        parameters={"stdout_file": f"out-{name}.csv"},
        check={"equal": expected, **check},
    )


def shared(folder: Path, name: str) -> Path:
    return folder / "data" / "shared" / name


def test_a_file_that_lacks_is_written_and_the_case_completes(
    case_folder: MakeCase, capsys: Capture
) -> None:
    folder = case_folder("new", answering("a", "x\\n1\\n", "expected/deep/a.csv"))
    assert call(["validate", str(folder)]) == 2
    assert "benchyard run --accept writes it" in capsys.readouterr().out
    assert accept(folder) == 0
    assert "expected/deep/a.csv: new (new: a)" in capsys.readouterr().out
    assert shared(folder, "expected/deep/a.csv").read_text() == "x\n1\n"
    assert call(["run", str(folder), "--direct", "--runs", "1", "--cooldown", "0"]) == 0


def test_a_change_is_shown_before_it_is_believed(case_folder: MakeCase, capsys: Capture) -> None:
    data = {"a.csv": "x\n1\n", "b.csv": "x\n5\n"}
    steps = (answering("a", "x\\n2\\n", "a.csv"), answering("b", "x\\n5\\n", "b.csv"))
    folder = case_folder("changed", *steps, data=data)
    assert accept(folder) == 0
    shown = capsys.readouterr()
    assert (
        "a.csv: changed (changed: a)\n--- expected\n+++ found\n@@ record 2 @@\n-1\n+2\n"
        in shown.out
    )
    assert "b.csv: same (changed: b)" in shown.out
    assert "1 file written, 1 as before" in shown.err
    assert shared(folder, "a.csv").read_text() == "x\n2\n"


def test_an_answer_within_the_tolerance_leaves_the_file_alone(case_folder: MakeCase) -> None:
    step = answering("a", "k,v\\nq,2.0001\\np,1.0\\n", "a.csv", tolerance=0.01, any_order=True)
    folder = case_folder("near", step, data={"a.csv": "k,v\np,1\nq,2\n"})
    assert accept(folder) == 0
    assert shared(folder, "a.csv").read_text() == "k,v\np,1\nq,2\n"


def test_a_dry_run_writes_nothing(case_folder: MakeCase, capsys: Capture) -> None:
    folder = case_folder("dry", answering("a", "1\\n", "a.csv"))
    before = tree(folder)
    assert accept(folder, "--dry-run") == 0
    assert "a.csv: new" in capsys.readouterr().out
    assert tree(folder) == before


def test_what_programs_say_without_a_file_is_an_answer(case_folder: MakeCase) -> None:
    folder = case_folder("said", process("a", "printf hello", check={"equal": "said.txt"}))
    assert accept(folder) == 0
    assert shared(folder, "said.txt").read_text() == "hello"


def test_points_and_steps_may_share_a_file_if_they_agree(
    case_folder: MakeCase, capsys: Capture
) -> None:
    steps = (answering("a", "1\\n", "it.csv"), answering("b", "1\\n", "it.csv"))
    folder = case_folder("shared", *steps, matrix={"n": [1, 2]})
    assert accept(folder, "--json") == 0
    [answer] = json.loads(capsys.readouterr().out)["answers"]
    assert (answer["change"], len(answer["steps"])) == ("new", 4)


def test_answers_that_differ_for_one_file_are_refused(
    case_folder: MakeCase, capsys: Capture
) -> None:
    steps = (answering("a", "1\\n", "it.csv"), answering("b", "2\\n", "it.csv"))
    folder = case_folder("quarrel", *steps, data={"it.csv": "0\n"})
    assert accept(folder) == 1
    assert "'quarrel: a' and 'quarrel: b' give different answers" in capsys.readouterr().err
    assert shared(folder, "it.csv").read_text() == "0\n"


@pytest.mark.parametrize(
    ("script", "keys", "message"),
    [
        ("exit 3", {}, "step bad: 'sh' failed"),
        ("echo 1; exit 3", {"may_fail": True, "retries": 0}, "step bad: 'sh' failed"),
        ("echo 1", {"rows": 7}, "1 rows, must be 7"),
        ("echo 1", {"pattern": "x"}, "nothing matches 'x'"),
        ("echo 1", {"equal_to": "a"}, "not equal to the answer of 'a'"),
    ],
)
def test_a_failure_for_another_reason_accepts_nothing(
    case_folder: MakeCase, capsys: Capture, script: str, keys: dict[str, Any], message: str
) -> None:
    criteria = {k: v for k, v in keys.items() if k in {"rows", "pattern", "equal_to"}}
    rest = {k: v for k, v in keys.items() if k not in criteria}
    bad = process("bad", script, check={"equal": "bad.txt", **criteria}, **rest)
    folder = case_folder("refused", answering("a", "2\\n", "a.csv"), bad)
    before = tree(folder)
    assert accept(folder) == 1
    said = capsys.readouterr().err
    assert message in said
    assert "no answer was accepted" in said
    assert tree(folder) == before


def test_a_file_that_a_step_reads_is_not_overwritten(
    case_folder: MakeCase, capsys: Capture
) -> None:
    step = process("a", "tr a b", parameters={"stdin_file": "in.txt"}, check={"equal": "in.txt"})
    folder = case_folder("input", step, data={"in.txt": "a\n"})
    assert accept(folder) == 2
    assert "a step reads or makes a file of that name" in capsys.readouterr().err
    assert shared(folder, "in.txt").read_text() == "a\n"


def test_cases_without_expected_files_are_refused(case_folder: MakeCase, capsys: Capture) -> None:
    folder = case_folder("none", process("a", "echo 1", check={"rows": 1}))
    assert accept(folder) == 2
    assert "has a check with 'equal'" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["../../out.csv", "/tmp/out.csv", "link/out.csv"])
def test_files_outside_stay_as_they_are(
    case_folder: MakeCase, tmp_path: Path, capsys: Capture, name: str
) -> None:
    folder = case_folder("hostile", answering("a", "1\\n", name))
    shared(folder, "link").symlink_to(tmp_path)
    assert accept(folder) == 2
    assert "leads out of data/shared" in capsys.readouterr().err
    assert not (tmp_path / "out.csv").exists()


def test_what_answers_hold_reaches_no_terminal(case_folder: MakeCase, capsys: Capture) -> None:
    step = answering("a", "x\\n\\033[2J\\n", "a.csv")
    folder = case_folder("escape", step, data={"a.csv": "x\n1\n"})
    assert accept(folder) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_repetitions_are_left_out(case_folder: MakeCase, tmp_path: Path) -> None:
    """One execution tells the answer."""
    count = tmp_path / "count"
    step = process(
        "a", f"echo >> {count}; printf 1", warmup=2, repeat=5, check={"equal": "one.txt"}
    )
    assert accept(case_folder("once", step)) == 0
    assert count.read_text() == "\n"
