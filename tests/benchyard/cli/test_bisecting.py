"""``benchyard bisect``: what is refused, before anything is executed."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.benchyard.cli.conftest import Cli

LISTED = ("bisect", "a", "c", "--versions", "a,b,c")


@pytest.fixture(autouse=True)
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHYARD_HOME", str(tmp_path / "home"))


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (("bisect", "a"), "Missing argument"),
        ((*LISTED,), "Missing argument"),
        (("bisect", "a", "b", "true"), "not a git repository"),
        (("bisect", "a", "x", "--versions", "a,b", "true"), "--versions must have 'x' once"),
        (("bisect", "a", "b", "--versions", "a,b,a", "true"), "--versions must have 'a' once"),
        (("bisect", "b", "a", "--versions", "a,b", "true"), "the oldest first"),
        (("bisect", "a", "a", "--versions", "a,b", "true"), "the oldest first"),
        ((*LISTED, "true | false"), "only a shell understands |"),
        ((*LISTED, "--build", "make && make check", "true"), "only a shell understands &&"),
        ((*LISTED, "--sure", "100%", "true"), "does not lie between 0% and 100%"),
        ((*LISTED, "--timeout", "0", "true"), "--timeout"),
        ((*LISTED, "--state", "/proc", "true"), "is a directory"),
    ],
)
def test_wrong_input_is_refused(run_here: Cli, given: tuple[str, ...], text: str) -> None:
    assert text in run_here(*given, code=2).err


def test_commits_that_are_not_there_are_refused(run_here: Cli, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)  # noqa: S607 - where PATH says
    assert "git rev-parse v1^{commit}: " in run_here("bisect", "v1", "v2", "true", code=2).err


@pytest.mark.parametrize("what", ["command", "build", "versions", "good", "shell"])
def test_a_file_of_another_bisection_is_refused(run_here: Cli, tmp_path: Path, what: str) -> None:
    given = ("--state", "kept.json", "--max-time", "0.001", "--build", "true", "true {version}")
    run_here(*LISTED, *given, code=5)
    file = tmp_path / "kept.json"
    kept = json.loads(file.read_text())
    assert len(kept["pairs"]) == 1
    file.write_text(json.dumps({**kept, "of": {**kept["of"], what: "other"}}))
    said = run_here(*LISTED, *given, code=2)
    assert f"kept.json keeps a bisection with another {what}; name a new file" in said.err
    assert len(json.loads(file.read_text())["pairs"]) == 1


@pytest.mark.parametrize("text", ["", "[]", '{"of": 1}', "{"])
def test_a_damaged_file_is_refused(run_here: Cli, tmp_path: Path, text: str) -> None:
    (tmp_path / "kept.json").write_text(text)
    said = run_here(*LISTED, "--state", "kept.json", "true {version}", code=2)
    assert "kept.json keeps no bisection: " in said.err


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("test {version} != a", "a: exit code 1"),
        ("test {version} != c", "c: exit code 1"),
        ("no-such-program {version}", "a: cannot start 'no-such-program'"),
    ],
)
def test_good_and_bad_must_work(run_here: Cli, line: str, text: str) -> None:
    assert text in run_here(*LISTED, line, code=1).err
