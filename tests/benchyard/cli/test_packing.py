"""``benchyard pack`` and ``benchyard reproduce``: measured here, packed, measured again."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.benchyard.cli.conftest import Cli
from tests.conftest import MakeCase, RunBenchyard, process, tree

ONCE = ("--direct", "--cooldown", "0", "--publish", "none", "--runs", "1")
CLASS = '''
from benchyard.resource import Resource, command
from _helper import answer

class Mine(Resource):
    """Answers."""

    @command
    def ask(self, wanted: int) -> None:
        """Compare the answer."""
        assert answer() == wanted

    def version(self) -> str:
        """Return what no other has."""
        return "1"
'''
Good = Callable[..., str]


@pytest.fixture
def good(run_here: Cli) -> Good:
    """Return a function that calls what must succeed; give all that it said."""

    def called(*words: str | Path) -> str:
        return "".join(run_here(*words))

    return called


@pytest.fixture
def case(case_folder: MakeCase) -> Path:
    script = "cat data/shared/../shared/in.txt > /dev/null 2>&1; sort in.txt"
    step = process("sort", script, parameters={"stdout_file": "out.txt"})
    folder = case_folder("sorts", step, data={"in.txt": "b\na\n", "copy.txt": "b\na\n"})
    (folder / "data" / "shared" / "deep").mkdir()
    (folder / "data" / "shared" / "deep" / "x").write_text("x")
    (folder / "data" / "shared" / "way").symlink_to("deep")
    (folder / "data" / "shared" / "also.txt").symlink_to("in.txt")
    return folder


@pytest.fixture
def pack(case: Path, good: Good, tmp_path: Path) -> Path:
    good("run", case, *ONCE)
    assert "1 case, 1 run, " in good("pack", case, "-o", "paper.benchyard.zip")
    return tmp_path / "paper.benchyard.zip"


def manifest(pack: Path) -> dict[str, Any]:
    return json.loads(zipfile.ZipFile(pack).read("pack.json"))


def test_a_pack_is_measured_again_beside_what_was_packed(
    pack: Path, good: Good, run_here: Cli, tmp_path: Path
) -> None:
    checked = good("reproduce", pack, "--dry-run")
    assert "verified: " in checked
    assert not (tmp_path / "paper").exists()
    told = json.loads(run_here("reproduce", pack, "--cooldown", "0", "--runs", "2", "--json").out)
    assert told["digest"] in checked
    assert told["comparison"]["format"] == "benchyard-comparison"
    assert "files of the case" not in str(told["comparison"])
    assert len(list((tmp_path / "paper/reproduced/sorts").glob("run_*"))) == 2
    before = tree(tmp_path / "paper" / "results")
    again = good("reproduce", tmp_path / "paper", "--cooldown", "0", "--runs", "3")
    assert "baseline: as packed; candidate: reproduced here" in again
    assert tree(tmp_path / "paper" / "results") == before
    assert len(list((tmp_path / "paper/reproduced/sorts").glob("run_*"))) == 3


def test_what_a_pack_holds(pack: Path, case: Path, good: Good) -> None:
    held, names = manifest(pack), zipfile.ZipFile(pack).namelist()
    assert held["cases"][0]["title"] == "sorts"
    assert held["links"] == {"cases/sorts/data/shared/way": "deep"}
    shared = [name for name in held["files"] if name.startswith("cases/sorts/data/shared/")]
    assert {Path(n).name for n in shared} == {"in.txt", "copy.txt", "also.txt", "x"}
    assert len([name for name in names if name in shared]) == 2
    assert "results/sorts/run_1/run.json" in names
    others = ("metrics.csv", "out.txt", "log.txt")
    assert not [name for name in held["files"] if name.endswith(others)]
    lock = zipfile.ZipFile(pack).read("packages.txt").decode().splitlines()
    assert "benchyard==" in "".join(lock)
    assert all(line.count("==") == 1 for line in lock)
    good("plot", pack, "-o", "pack.svg")
    first = pack.read_bytes()
    good("pack", case, "-o", pack, "--samples")
    assert "results/sorts/run_1/metrics.csv" in manifest(pack)["files"]
    good("pack", case, "-o", pack)
    assert pack.read_bytes() == first


def test_steps_that_cases_share_come_along(
    case_folder: MakeCase, good: Good, run_here: Cli, tmp_path: Path
) -> None:
    case_folder("one", {"include": "../common/steps.json"})
    case_folder("two", {"include": "../common/steps.json"})
    shared = tmp_path / "cases" / "common" / "steps.json"
    shared.parent.mkdir()
    shared.write_text(json.dumps([process("step", "true")]))
    good("run", "cases", *ONCE)
    good("pack", "cases", "-o", "p.zip")
    held = manifest(tmp_path / "p.zip")["files"]
    assert {"cases/one/common/steps.json", "cases/two/common/steps.json"} <= set(held)
    assert "files of the case" not in good("reproduce", "p.zip", "--cooldown", "0")
    shared.write_text(json.dumps([process("step", "echo")]))
    ended = run_here("pack", "cases", "-o", "p.zip", code=2)
    assert "one: files of the case have changed since run 1" in ended.err


def test_everything_that_speaks_against_packing_is_told_at_once(
    case: Path,
    case_folder: MakeCase,
    good: Good,
    run_here: Cli,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = case_folder("other", process("one", "echo ${env:PASSWORD_OF_TEST}"))
    good("run", case, *ONCE)
    shared = case / "data" / "shared"
    linked = case_folder("linked", process("one", "true"))
    (linked / "data" / "shared").rmdir()
    (linked / "data" / "shared").symlink_to(other)
    (shared / "new\nlink").symlink_to("deep")
    (shared / "passwd").symlink_to("/etc/passwd")
    (shared / "folder").symlink_to(other)
    (shared / "nowhere").symlink_to("nothing")
    (shared / "new\nline").write_text("x")
    os.mkfifo(shared / "pipe")
    (shared / "note.txt").write_text("it is correct-horse, is it not")
    monkeypatch.setenv("PASSWORD_OF_TEST", "correct-horse")
    ended = run_here("pack", case, other, linked, "-o", "p.zip", code=2)
    for text in (
        "passwd leads out of cases/sorts/data/shared: put a copy there",
        "folder leads out of cases/sorts/data/shared: put a copy there",
        "nowhere is a link to nothing",
        "new\\nline' has characters that not every system takes",
        "new\\nlink' has characters that not every system takes",
        "cases/linked/data/shared leads out of cases/linked: put a copy there",
        "pipe is a named pipe",
        "note.txt holds the value of a secret",
        "sorts: files of the case have changed since run 1",
        "other has no finished run to compare with",
    ):
        assert text in ended.err
    assert "correct-horse" not in ended.err
    assert not (tmp_path / "p.zip").exists()


@pytest.mark.slow
def test_classes_of_ones_own_come_along(
    case_folder: MakeCase, run_benchyard: RunBenchyard, tmp_path: Path
) -> None:
    """With what they import from beside them, which a PYTHONPATH found where it was measured."""
    step = {"@id": "a", "name": "a", "resource": "Mine", "command": "ask"}
    case = case_folder("asks", {**step, "parameters": {"wanted": "${matrix.n}"}}, matrix={"n": [7]})
    folder = tmp_path / "my classes"
    folder.mkdir()
    (folder / "mine.py").write_text(CLASS)
    (folder / "_helper.py").write_text("def answer() -> int:\n    return 7\n")
    (folder / "unused.py").write_text("raise SystemExit('never loaded')\n")
    here = {"env": {**os.environ, "PYTHONPATH": str(folder)}}
    for words in (["run", *ONCE], ["pack", "-o", "m.tar.zst"]):
        ended = run_benchyard(*words, "--resources", folder, "--", case, **here)
        assert ended.returncode == 0, ended.stderr
    checked = run_benchyard("reproduce", "m.tar.zst", "--dry-run")
    assert "not looked at: Mine, code of the pack" in checked.stdout
    (folder / "mine.py").write_text(CLASS + "# another\n")
    ended = run_benchyard("pack", case, "--resources", folder, "-o", "p.zip", **here)
    assert ended.returncode == 2
    assert "the code of Mine has changed since its runs" in ended.stderr
    shutil.rmtree(folder)
    ended = run_benchyard("reproduce", "m.tar.zst", "--cooldown", "0", "--into", "elsewhere")
    assert ended.returncode == 0, ended.stderr
    assert "code of Mine" not in ended.stdout
    classes = tree(tmp_path / "elsewhere" / "classes" / "1" / "my classes")
    assert {name for name in classes if "__pycache__" not in name} == {"mine.py", "_helper.py"}


def test_a_damaged_pack_is_wrong_input(pack: Path, run_here: Cli, tmp_path: Path) -> None:
    pack.write_bytes(pack.read_bytes()[:-300])
    for options in (("--dry-run",), ()):
        ended = run_here("reproduce", pack, *options, code=2)
        assert "paper.benchyard.zip is no pack, or damaged" in ended.err
    assert not (tmp_path / "paper").exists()


def test_a_program_that_is_not_there_is_told_before_it_fails(
    case_folder: MakeCase, good: Good, run_here: Cli, tmp_path: Path
) -> None:
    tool = tmp_path / "bin" / "our-tool"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    case = case_folder("tools", process("one", "", parameters={"arguments": ["our-tool"]}))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(tool.parent), prepend=os.pathsep)
        good("run", case, *ONCE)
        good("pack", case, "-o", "t.zip")
    assert "the program our-tool is not here" in good("reproduce", "t.zip", "--dry-run")
    ended = run_here("reproduce", "t.zip", "--cooldown", "0", code=1)
    assert "the program our-tool is not here" in ended.out
    assert "baseline: as packed" not in ended.out


@pytest.mark.slow
def test_a_regression_ends_as_in_a_comparison(
    case_folder: MakeCase, good: Good, run_here: Cli, tmp_path: Path
) -> None:
    """Here a step takes long only where a file says so: on the reviewer's host."""
    slow = tmp_path / "slow"
    case = case_folder("waits", process("wait", f"if [ -e {slow} ]; then sleep 0.2; fi"))
    good("run", case, *ONCE[:-1], "8")
    good("pack", case, "-o", "w.zip")
    slow.touch()
    ended = run_here("reproduce", "w.zip", "--cooldown", "0", code=3)
    assert "slower" in ended.out


@pytest.mark.slow
@pytest.mark.requires("unshare")
def test_another_host_with_an_empty_home(pack: Path, tmp_path: Path) -> None:
    """Another name of the host, no network, nobody's home: what differs is told first."""
    place = tmp_path / "reviewer"
    (place / "home").mkdir(parents=True)
    shutil.copy(pack, place)
    program = Path(sys.executable).with_name("benchyard")
    script = f'hostname reviewer && exec "{program}" reproduce {pack.name} --cooldown 0'
    ended = subprocess.run(
        ["unshare", "--uts", "--net", "sh", "-c", script],  # noqa: S607 - where PATH says
        cwd=place,
        env={"HOME": str(place / "home"), "PATH": "/usr/bin:/bin", "BENCHYARD_LOCK": "lock"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    told, _, compared = ended.stdout.partition("baseline: as packed")
    for text in (told, compared):
        assert "candidate reviewer; two machines are never alike" in text
    assert "measured on reviewer" in told
    assert list((place / "home").iterdir()) == []
