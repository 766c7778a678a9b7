"""No small file takes minutes or gigabytes, whatever it holds.

Each is read by a process of its own under limits of the kernel, far above what it takes: what is
not linear misses them by a factor. All of them are forked from one, which has imported all.
"""

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

#: CPU seconds and bytes of address space of one command; it takes 1 to 5 s and 0.2 to 0.5 GB.
CPU, SPACE = 30, 2 * 10**9
MEGABYTE = 1_000_000
#: Calls a command for each folder, and keeps there what it said and how it ended.
PROGRAM = """
import json, os, resource, sys
from benchyard.cli import call
from contextlib import redirect_stderr, redirect_stdout
limits, command, small, *folders = json.loads(sys.argv[1])
call([*command, "--root", small])
sys.stdout.flush()
for folder in folders:
    child = os.fork()
    if not child:
        for number, most in limits:
            resource.setrlimit(number, (most, most))
        with open(folder + "/said", "w") as said, redirect_stdout(said), redirect_stderr(said):
            code = call([*command, "--root", folder])
        os._exit(code)
    with open(folder + "/code", "w") as code:
        code.write(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))
"""
LIMITS = ((resource.RLIMIT_CPU, CPU), (resource.RLIMIT_AS, SPACE))


def step(**keys: Any) -> dict[str, Any]:
    made = {"resource": "Process", "command": "execute", "parameters": {"arguments": ["true"]}}
    return {**made, **keys}


def with_parameters(**parameters: Any) -> dict[str, Any]:
    return step(parameters={"arguments": ["true"], **parameters})


POINTS: dict[str, Any] = {"n": [*range(10_000)]}
#: Documents and a part of what is said of them; nothing if they are right.
CASES: dict[str, tuple[dict[str, Any], str]] = {
    "10,000 points of 500 steps": (
        {"matrix": POINTS, "steps": [step(name="s${matrix.n}"), *[step()] * 499]},
        "are 500 at 10,000 points of the matrix, together more than 20,000",
    ),
    "10,000 points of a long text": (
        {"matrix": POINTS, "steps": [step(description="x" * 900_000 + "${matrix.n}")]},
        "B of text at its 10,000 points",
    ),
    "one point of a long text": (
        {"matrix": {"a": ["x" * 300_000]}, "steps": [step(name="${matrix.a}" * 50_000)]},
        "B of text at its 1 points",
    ),
    "10,000 points beside a long text": (
        {"matrix": POINTS, "steps": [step(name="s${matrix.n}")], "description": "x" * 900_000},
        "",
    ),
    "names of points with a long text": (
        {"matrix": {**POINTS, "a": ["y" * 400_000]}, "steps": [step()]},
        "B of text at its 10,000 points",
    ),
    "2,000 steps that make one file": (
        {"steps": [with_parameters(stdout_file="x")] * 2_000},
        "",
    ),
    "2,000 steps that make one file side by side": (
        {"steps": [{**with_parameters(stdout_file="x"), "needs": []}] * 2_000},
        "steps 1 and 2 make 'x' side by side",
    ),
    "9,900 steps": ({"steps": [step(**{"@id": str(n)}) for n in range(9_900)]}, ""),
    "8,000 cycles": (
        {"steps": [step(**{"@id": str(n), "needs": [str(n), "0"]}) for n in range(8_000)]},
        "the steps wait for each other: 0 → 0",
    ),
    "8,000 unknown needs": (
        {"steps": [step(**{"@id": f"s{n:09}", "needs": [f"t{n:09}"]}) for n in range(8_000)]},
        "there is no step with the id 't000000000'; did you mean",
    ),
    "400,000 wrong arguments": (
        {"steps": [step(parameters={"arguments": [1] * 400_000})]},
        "arguments[0]: must be a string",
    ),
    "50,000 unknown parameters": (
        {"steps": [step(parameters={f"argument{n}": 1 for n in range(50_000)})]},
        "is unknown here",
    ),
    "40,000 misspelt keys": (
        {"steps": [step()], **{f"descriptio{n}": 1 for n in range(40_000)}},
        "did you mean 'description'?",
    ),
    "10,000 unknown classes": (
        {"steps": [step()], "resources": {f"p{n}": {"class": f"Proces{n}"} for n in range(10_000)}},
        "unknown resource 'Proces0'; did you mean 'Process'?",
    ),
    "an endless reference": ({"steps": [step(description="${matrix." * 100_000)]}, ""),
    "a long pattern": (
        {"steps": [{**with_parameters(stdout_file="x"), "check": {"pattern": "(a|b)" * 180_000}}]},
        "has 900,000 letters",
    ),
}


PLANNED = ("run", "--dry-run", "--direct")


@pytest.mark.parametrize(
    ("command", "names"),
    [
        pytest.param(("validate",), [*CASES], marks=pytest.mark.slow),
        pytest.param(PLANNED, ["10,000 points beside a long text"], marks=pytest.mark.slow),
        pytest.param(("list",), [*CASES], marks=pytest.mark.long),
        pytest.param(PLANNED, [*CASES], marks=pytest.mark.long),
    ],
)
def test_small_files_are_read_within_limits(
    tmp_path: Path, command: tuple[str, ...], names: list[str]
) -> None:
    documents = {"small": {"steps": [step()]}, **{name: CASES[name][0] for name in names}}
    folders = [tmp_path / str(number) for number in range(len(documents))]
    for folder, document in zip(folders, documents.values(), strict=True):
        text = json.dumps({"name": "large", **document}, separators=(",", ":"))
        assert len(text) <= MEGABYTE
        folder.mkdir()
        (folder / "metadata.json").write_text(text)
    wanted = (LIMITS, command, *map(str, folders))
    subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(wanted)], check=True, capture_output=True
    )
    for name, folder in zip(names, folders[1:], strict=True):
        refusal = CASES[name][1] if command != ("list",) else ""
        said = (folder / "said").read_text()
        assert (folder / "code").read_text() == ("2" if refusal else "0"), (name, said[-2_000:])
        assert refusal in said, name
