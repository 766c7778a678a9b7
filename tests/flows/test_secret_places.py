"""A secret in every place that a case has for one: found in no file, name, log or database."""

import json
import os
from pathlib import Path

import pytest

from tests.conftest import MakeCase, RunBenchyard, process
from tests.databases import put_database

_WORD = "Zq7x-0123456789-abcdefghij-Zq7x"
_LINES = "begin Zq7x\n    inner+line/Zq7x\n\tother line Zq7x\nend"
_SAID = '"$WORD" "$LINES"'


def steps() -> list[object]:
    """Let programs say it everywhere; each step may fail."""
    variables = {"environment": {"WORD": "${env:WORD}", "LINES": "${env:LINES}"}}
    # The end of what an error quotes falls into the secret.
    near = f"printf '%s' {_SAID} >&2; printf '%01970d' 0 >&2; exit 3"
    scripts = {
        "stdout": f"echo {_SAID}",
        "stderr": f"echo {_SAID} >&2",
        "cut": near,
        "indented": 'echo "$LINES" | sed "s/^/        /"',
        "arguments": "echo ${env:WORD}; exit 4",
        "missing": "/no/such/${env:WORD}",
    }
    made: list[object] = [
        process(name, script, may_fail=True, retries=1, retry_delay=0, parameters=variables)
        for name, script in scripts.items()
    ]
    kept = {**variables, "stdout_file": "said.txt", "stderr_file": "complained.txt"}
    made.append(process("file", f"echo {_SAID}", parameters=kept))
    own = {**variables, "output_file": "own"}
    made.append(
        process(
            "own", 'mkdir own; echo data > "own/a-$WORD"; echo data > "own/b-$WORD"', parameters=own
        )
    )
    check = {"pattern": "something else"}
    checked = process("check", f"echo {_SAID}", may_fail=True, parameters=variables)
    made.append({**checked, "check": check})
    program = {"arguments": ["${env:WORD}"]}
    made.append({**process("program", "", may_fail=True), "parameters": program})
    return made


@pytest.mark.slow
@pytest.mark.parametrize("way", ["direct", "prefect"])
def test_a_secret_is_nowhere(
    case_folder: MakeCase, run_benchyard: RunBenchyard, tmp_path: Path, way: str
) -> None:
    home = tmp_path / "home"
    if way == "prefect":
        put_database(home / "prefect.db")
    folder = case_folder("places", *steps())
    environment = os.environ | {
        "PREFECT_HOME": str(home),
        "BENCHYARD_HOME": str(tmp_path / "lab"),
        "WORD": _WORD,
        "LINES": _LINES,
    }

    options = ["--direct"] if way == "direct" else []
    ended = run_benchyard("run", folder, "--runs", "1", *options, env=environment, timeout=900)

    assert ended.returncode in {0, 1}, ended.stderr
    assert "Zq7x" not in ended.stdout + ended.stderr
    for file in tmp_path.rglob("*"):
        assert "Zq7x" not in file.name
        if file.is_file():
            assert b"Zq7x" not in file.read_bytes(), file
    run = folder / "results" / "run_1"
    assert {file.name for file in run.glob("process/own/*")} == {"a-******", "b-******"}
    assert (run / "process" / "said.txt").read_text().startswith("****** ")
    record = json.loads((run / "run.json").read_text())
    outcomes = {step["name"]: step["outcome"] for step in record["steps"]}
    assert outcomes["file"] == outcomes["own"] == "completed"
    exposed = [one for one in record["warnings"] if "among the arguments of 'sh'" in one]
    assert len(exposed) == 1
