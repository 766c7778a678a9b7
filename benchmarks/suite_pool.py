"""What a suite through the deployments of a lab costs a case, beyond the case's steps.

A whole lab is brought up as a user does, with one worker; ``benchyard suite`` then sends trivial
cases to it, each executed by a process of its own.
"""

import json
import signal
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from benchmarks.lab import begin_with_empty_database, benchyard, environment, free_port
from benchmarks.suite import steps_of, write_cases
from benchmarks.table import Figure, Size, run_program

#: Limit of the lab's own making: seconds a case, beyond its steps.
SECONDS = 8.0
CASES = 20
_CHECKOUT = Path(__file__).resolve().parents[1]
_END_SECONDS = 60.0


def measure(size: Size) -> list[Figure]:
    """Execute the suite once and tell its figures."""
    count = size.of(CASES, 2)
    with tempfile.TemporaryDirectory(prefix="benchyard-benchmark-") as made:
        base = Path(made)
        cases = base / "cases"
        write_cases(cases, count)
        with _lab(base / "home", cases) as variables:
            document = _suite(cases, variables)
        steps = [steps_of(cases / turn["case"]) for turn in document["turns"]]
    turns = [turn["seconds"] for turn in document["turns"]]
    beyond = [turn - step for turn, step in zip(turns, steps, strict=True)]
    whole = (document["seconds"] - sum(steps)) / count
    return [
        Figure(
            f"whole suite beyond its steps, a case, {count} on one worker", [whole], limit=SECONDS
        ),
        Figure("  a case from its begin to its end", beyond),
    ]


@contextmanager
def _lab(home: Path, cases: Path) -> Generator[dict[str, str]]:
    """Bring a lab up and yield the variables of a shell that works with it."""
    (home / "lab").mkdir(parents=True)
    begin_with_empty_database(home / "lab" / "prefect.db")
    variables = environment(home / "prefect") | {"BENCHYARD_HOME": str(home)}
    command = benchyard("up", "--json", "--port", str(free_port()), "--root", cases)
    with subprocess.Popen(
        [*command, "--name", "suite-pool"],
        cwd=_CHECKOUT,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    ) as lab:
        try:
            yield variables | {"PREFECT_API_URL": _address(lab)}
        finally:
            _end(lab)


def _address(lab: "subprocess.Popen[str]") -> str:
    """Return the address of the API, once the lab says that it is up."""
    said = ""
    for line in lab.stdout or ():
        said += line
        with suppress(ValueError):
            return str(json.loads(said)["api"])
    raise RuntimeError("the lab did not come up")


def _end(lab: "subprocess.Popen[str]") -> None:
    lab.send_signal(signal.SIGINT)
    try:
        lab.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        lab.kill()


def _suite(cases: Path, variables: dict[str, str]) -> dict[str, Any]:
    options = ("--runs", "1", "--cooldown", "0", "--publish", "none", "--json")
    ended = subprocess.run(
        benchyard("suite", "--root", cases, "--pool", "testbeds", *options),
        cwd=_CHECKOUT,
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
    )
    if ended.returncode:
        raise RuntimeError(f"the suite failed: {ended.stderr[-2000:] or ended.stdout[-2000:]}")
    return json.loads(ended.stdout)


if __name__ == "__main__":
    run_program(__doc__, measure)
