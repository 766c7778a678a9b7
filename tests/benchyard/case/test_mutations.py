"""Mutations of the shipped cases: never a traceback, an internal error, minutes or gigabytes."""

import copy
import json
import os
import random
import resource
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from benchyard.cli import call

CASES = Path(__file__).parents[3] / "cases"
#: CPU seconds and bytes that one file may take.
CPU_SECONDS, MEMORY = 5, 500 * 10**6
PROGRAM = "import sys; from benchyard.cli import call; sys.exit(call(sys.argv[1:]))"

VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1.5, 10**299, -(10**299), 1e308, "", " ", "x" * 100_000, "\x00"),
    *("\ud800", "${matrix.", "${matrix.x}", "${env:HOME}", "${secret:x}", "../../etc/passwd", "/"),
    *(
        "\x1b[2J",
        "a/" * 3_000,
        "(",
        "(a+)+$",
        [],
        {},
        [[]],
        [None],
        {"": None},
        {"class": "Process"},
    ),
    *({"class": 5}, ["x"] * 5_000, [*range(5_000)], {str(n): n for n in range(5_000)}, "\u202e"),
]
#: Pieces of text that are put between bytes.
PIECES = [
    *(b"NaN", b"Infinity", b"-", b"1" * 5_000, b"1e999", b"[" * 5_000, b'{"a":' * 2_000, b"\x00"),
    *(b"\xff\xfe", b'"\\ud800"', b'"name": "again", ', b",", b"}", b"]", b"\xef\xbb\xbf", b"//"),
]


def places(value: Any) -> list[tuple[Any, Any]]:
    """List every container in a document with each of its keys."""
    keys: list[Any] = []
    if isinstance(value, dict):
        keys = [*cast("dict[str, Any]", value)]
    elif isinstance(value, list):
        keys = [*range(len(cast("list[Any]", value)))]
    return [*((value, key) for key in keys), *(p for key in keys for p in places(value[key]))]


def change(document: Any, draw: random.Random) -> None:
    """Change one thing in a document."""
    spots = places(document)
    if not spots:
        return
    container, key = draw.choice(spots)
    other, there = draw.choice(spots)
    value = container[key]
    kind = draw.randrange(6)
    if kind == 0:
        del container[key]
    elif kind == 1 and isinstance(container, dict):
        word = draw.choice([f"{key}s", key[:-1], key.upper(), "", "class", "\x00", "x" * 1_000])
        members = cast("dict[str, Any]", container)
        members[word] = members.pop(key)
    elif kind == 2:
        container[key] = copy.deepcopy(other[there])
    elif kind == 3:
        container[key] = draw.choice([{"x": value}, str(value)])
    elif kind == 4:
        container[key] = nested(value, draw.choice([10, 60, 100, 200]))
    else:
        container[key] = copy.deepcopy(draw.choice([*VALUES, longer(value)]))


def nested(value: Any, levels: int) -> Any:
    for _ in range(levels):
        value = [value]
    return value


def longer(value: Any) -> Any:
    """Repeat what a list holds, to some thousands of values."""
    if not isinstance(value, list):
        return [value] * 2_000
    items = cast("list[Any]", value)
    return items * (1 + 2_000 // (1 + len(places(items))))


def mutated(content: bytes, seed: int) -> bytes:
    draw = random.Random(seed)  # noqa: S311 - each mutation can be made again
    document = json.loads(content)
    for _ in range(draw.randint(0, 3)):
        change(document, draw)
    made = json.dumps(document).encode()
    for _ in range(draw.choice([0, 0, 1, 2])):
        place = draw.randrange(len(made) + 1)
        piece = draw.choice([*PIECES, draw.randbytes(3), b""])
        made = made[:place] + piece + made[place + draw.choice([0, 0, 1, 40]) :]
    return made


Mutate = Callable[[int], Path]


@pytest.fixture
def mutate(tmp_path: Path) -> Mutate:
    """Make mutations of the shipped cases, each beside the inputs of its case."""
    originals = sorted(file for file in CASES.rglob("metadata.json") if "results" not in file.parts)
    assert originals

    def make(seed: int) -> Path:
        original = originals[seed % len(originals)]
        folder = tmp_path / "case"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        if (original.parent / "data").is_dir():
            (folder / "data").symlink_to(original.parent / "data")
        (folder / "metadata.json").write_bytes(mutated(original.read_bytes(), seed))
        return folder

    return make


def judge_in_process(mutate: Mutate, seeds: range, capsys: pytest.CaptureFixture[str]) -> None:
    for seed in seeds:
        folder = mutate(seed)
        before = resource.getrusage(resource.RUSAGE_SELF)
        assert call(["validate", "--root", str(folder)]) in {0, 2}, seed
        after = resource.getrusage(resource.RUSAGE_SELF)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        assert used <= CPU_SECONDS, seed
        assert (after.ru_maxrss - before.ru_maxrss) * 1024 <= MEMORY, seed
        assert "Traceback" not in "".join(capsys.readouterr()), seed


def judge_commands(mutate: Mutate, seeds: range, tmp_path: Path) -> None:
    said = tmp_path / "said"
    commands = (["validate"], ["list", "--json"], ["run", "--dry-run", "--direct"])
    for seed in seeds:
        arguments = [*commands[seed % 3], "--root", str(mutate(seed))]
        with said.open("wb") as stream:
            actions = [(os.POSIX_SPAWN_DUP2, stream.fileno(), number) for number in (1, 2)]
            argv = [sys.executable, "-c", PROGRAM, *arguments]
            pid = os.posix_spawn(sys.executable, argv, os.environ, file_actions=actions)
            _, status, used = os.wait4(pid, 0)
        assert os.waitstatus_to_exitcode(status) in {0, 2}, (seed, said.read_text()[-2_000:])
        assert used.ru_utime + used.ru_stime <= CPU_SECONDS, seed
        assert used.ru_maxrss * 1024 <= MEMORY, seed
        assert b"Traceback" not in said.read_bytes(), seed


def test_mutations_are_judged(mutate: Mutate, capsys: pytest.CaptureFixture[str]) -> None:
    judge_in_process(mutate, range(300), capsys)


@pytest.mark.slow
def test_mutations_are_judged_by_the_real_command(mutate: Mutate, tmp_path: Path) -> None:
    judge_commands(mutate, range(20), tmp_path)


@pytest.mark.long
def test_ten_thousand_mutations_are_judged(
    mutate: Mutate, capsys: pytest.CaptureFixture[str]
) -> None:
    judge_in_process(mutate, range(10_000), capsys)


@pytest.mark.long
def test_hundreds_of_mutations_are_judged_by_the_real_command(
    mutate: Mutate, tmp_path: Path
) -> None:
    judge_commands(mutate, range(300), tmp_path)
