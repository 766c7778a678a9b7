"""How long a user waits for the command line: help, a list, a validation.

Beside it, in processes of their own on the same files and with the same schema: KROWN's way,
``json.load`` and ``jsonschema.validate`` for each file; the same with one validator for all files;
and the floor, ``json.load`` alone. None of them looks at resources, parameters, files or graphs.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.generated import (
    Shape,
    krown_like,
    ours_alike,
    ours_different,
    write_campaign,
)
from benchmarks.lab import benchyard, wall_seconds
from benchmarks.table import Figure, Size, run_program
from benchyard import schemas

HELP_SECONDS = 0.06
LIST_SECONDS = 0.45
VALIDATE_SECONDS = 5.0

SHAPES: dict[str, Shape] = {
    "like KROWN's": krown_like,
    "ours, alike": ours_alike,
    "ours, all different": ours_different,
}
#: Cases that one file of a shape declares: the points of its matrix.
POINTS = {"like KROWN's": 1, "ours, alike": 2, "ours, all different": 2}
_SCHEMA = Path(schemas.__file__).with_name("case.schema.json")
_IMPORTED = (
    "import sys; from benchyard.cli import call; code = call(sys.argv[1:]); "
    "print('imported' if 'prefect' in sys.modules else 'clean'); sys.exit(code)"
)


def measure(size: Size) -> list[Figure]:
    """Measure everything on freshly written campaigns."""
    with tempfile.TemporaryDirectory(prefix="benchyard-benchmark-") as made:
        base = Path(made)
        times = _interleaved([benchyard("--help")], base, size.of(9))
        figures = [Figure("benchyard --help", times[0], limit=HELP_SECONDS)]
        for name, shape in SHAPES.items():
            few, many = size.of(1_000, 10), size.of(10_000, 20)
            figures += _beside_others(name, shape, base / f"{shape.__name__}-few", few, size)
            figures += _large(name, shape, base / f"{shape.__name__}-many", many, size)
        return figures


def _beside_others(name: str, shape: Shape, root: Path, count: int, size: Size) -> list[Figure]:
    write_campaign(root, count // POINTS[name], shape)
    validate = benchyard("validate", "--root", root)
    commands = [benchyard("list", "--root", root), validate, _peer("once", root)]
    listed, validated, once = _interleaved(commands, root, size.of(7))
    # KROWN's way takes ten seconds a round: fewer of them, each beside one more of ours.
    each, beside = _interleaved([_peer("each", root), validate], root, size.of(3), warm=False)
    title = f"{count:,} cases {name}"
    return [
        Figure(f"benchyard list, {title}", listed, limit=LIST_SECONDS),
        Figure(f"Prefect imported by it, {title}", [_imports_prefect(root)], "", 0),
        Figure(f"benchyard validate, {title}", [*validated, *beside]),
        Figure(f"KROWN's way, {title}", each),
        Figure(f"one validator for all, {title}", once),
    ]


def _large(name: str, shape: Shape, root: Path, count: int, size: Size) -> list[Figure]:
    write_campaign(root, count // POINTS[name], shape)
    commands = [benchyard("validate", "--root", root), _peer("once", root), _peer("none", root)]
    validated, once, floor = _interleaved(commands, root, size.of(5))
    title = f"{count:,} cases {name}"
    return [
        Figure(f"benchyard validate, {title}", validated, limit=VALIDATE_SECONDS),
        Figure(f"one validator for all, {title}", once),
        Figure(f"floor json.load, {title}", floor),
    ]


def _peer(way: str, root: Path) -> list[str]:
    program = Path(__file__).with_name("peer_loading.py")
    return [sys.executable, str(program), way, str(_SCHEMA), str(root)]


def _interleaved(
    commands: Sequence[Sequence[str]], folder: Path, rounds: int, *, warm: bool = True
) -> list[list[float]]:
    """Return the whole-process times of each command, taken in turn after one warm-up."""
    times: list[list[float]] = [[] for _ in commands]
    for number in range(rounds + warm):
        for command, taken in zip(commands, times, strict=True):
            took = wall_seconds(command, folder)
            if number or not warm:
                taken.append(took)
    return times


def _imports_prefect(root: Path) -> int:
    command = [sys.executable, "-c", _IMPORTED, "list", "--root", str(root)]
    ended = subprocess.run(
        command,
        cwd=root,
        env=os.environ,
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
    )
    return int(ended.stdout.splitlines()[-1] != "clean")


if __name__ == "__main__":
    run_program(__doc__, measure)
