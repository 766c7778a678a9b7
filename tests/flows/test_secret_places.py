"""A secret in every place that a case has for one: found in no file, name, log or database."""

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.children import ending
from tests.conftest import MakeCase, RunBenchyard, process
from tests.databases import put_database

_WORD = "Zq7x-0123456789-abcdefghij-Zq7x"
_LINES = "begin Zq7x\n    inner+line/Zq7x\n\tother line Zq7x\nend"
_SAID = '"$WORD" "$LINES"'
_MARK = "Zq7x"
_PROGRAM = Path(sys.executable).with_name("benchyard")
#: Random instants of each kind of lab.
KILLS = int(os.environ.get("BENCHYARD_KILLS", "20"))


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


def surroundings(folder: Path, way: str) -> dict[str, str]:
    """Return the environment of a lab whose every file lies in `folder`."""
    if way == "prefect":
        put_database(folder / "home" / "prefect.db")
    (folder / "tmp").mkdir()
    return os.environ | {
        "PREFECT_HOME": str(folder / "home"),
        "BENCHYARD_HOME": str(folder / "lab"),
        "TMPDIR": str(folder / "tmp"),
        "WORD": _WORD,
        "LINES": _LINES,
    }


def files_that_tell(folder: Path) -> Iterator[Path]:
    for file in folder.rglob("*"):
        with suppress(FileNotFoundError):
            if _MARK in file.name or (file.is_file() and _MARK.encode() in file.read_bytes()):
                yield file


def commands_that_tell() -> set[str]:
    """Return the names of the programs of this host that have the secret in their arguments."""
    told: set[str] = set()
    for one in psutil.process_iter():
        with suppress(psutil.Error):
            if _MARK in " ".join(one.cmdline()):
                told.add(f"{one.name()} of {one.cmdline()}")
    return told


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("way", ["direct", "prefect"])
def test_a_secret_is_nowhere(
    case_folder: MakeCase, run_benchyard: RunBenchyard, tmp_path: Path, way: str
) -> None:
    folder, environment = case_folder("places", *steps()), surroundings(tmp_path, way)

    options = [f"--{way}"]
    ended = run_benchyard("run", folder, "--runs", "1", *options, env=environment, timeout=900)

    assert ended.returncode in {0, 1}, ended.stderr
    assert _MARK not in ended.stdout + ended.stderr
    assert not list(files_that_tell(tmp_path))
    assert list((tmp_path / "lab" / "archive").rglob("*.json")), "nothing was published"
    events = (folder / "results" / "run_1" / "events.jsonl").read_text()
    assert "benchyard:attempt-end" in events
    run = folder / "results" / "run_1"
    assert {file.name for file in run.glob("process/own/*")} == {"a-******", "b-******"}
    assert (run / "process" / "said.txt").read_text().startswith("****** ")
    record = json.loads((run / "run.json").read_text())
    outcomes = {step["name"]: step["outcome"] for step in record["steps"]}
    assert outcomes["file"] == outcomes["own"] == "completed"
    exposed = [one for one in record["warnings"] if "among the arguments of 'sh'" in one]
    assert len(exposed) == 1


@pytest.mark.soak
@pytest.mark.parametrize("way", ["direct", "prefect"])
def test_a_secret_is_nowhere_after_a_kill(case_folder: MakeCase, tmp_path: Path, way: str) -> None:
    folder, environment = case_folder("places", *steps()), surroundings(tmp_path, way)
    options = [f"--{way}"]
    lab = [str(_PROGRAM), "run", str(folder), "--runs", "1", "--cooldown", "0", *options]
    chance, longest = random.Random(2026), 0.0  # noqa: S311 - instants, not secrets
    seen: set[str] = set()
    for kill in range(KILLS + 1):
        begun = time.monotonic()
        with ending(
            subprocess.Popen([*lab, "--force"], env=environment, stderr=subprocess.PIPE, text=True)
        ) as process_:
            until = begun + (chance.uniform(0, longest) if kill else 900)
            while process_.poll() is None and time.monotonic() < until:
                seen |= commands_that_tell()
            process_.kill()
            _, said = process_.communicate()
        longest = longest or time.monotonic() - begun
        assert _MARK not in said
        # Programs name their own files, which a killed lab leaves where they worked.
        told = [file for file in files_that_tell(tmp_path) if ".work" not in file.parts]
        assert not told, f"kill {kill}"
    assert subprocess.run([*lab, "--force"], env=environment, check=False).returncode in {0, 1}
    assert not list(files_that_tell(tmp_path))
    # The program of a step is called as the case says; nothing else may say it.
    assert seen
    assert all(one.startswith("sh of") for one in seen), seen
