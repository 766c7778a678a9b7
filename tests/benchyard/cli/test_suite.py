"""``benchyard suite``: what it would do and why, what it did, and its exit codes."""

import json
from pathlib import Path
from typing import Any

import click
import pytest

from benchyard.cli.suite import command as suite
from benchyard.core.errors import InputError
from tests.conftest import MakeCase, RunBenchyard, process


def dry_run(root: Path, capsys: pytest.CaptureFixture[str], *options: str) -> Any:
    suite(["--root", str(root), "--dry-run", "--json", *options], standalone_mode=False)
    return json.loads(capsys.readouterr().out)


def test_a_dry_run_tells_what_and_why(
    case_folder: MakeCase, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case_folder("a", process("s", "true"))
    (case_folder("bad", process("s", "true")) / "metadata.json").write_text("{")
    document = dry_run(tmp_path / "cases", capsys, "--runs", "2", "--order", "random")
    assert document["cases"][0]["why"] == "no finished run"
    assert document["cases"][1]["problems"]
    assert sorted(turn["runs"] for turn in document["turns"]) == [[1], [2]]
    assert isinstance(document["seed"], int)
    suite(["--root", str(tmp_path / "cases"), "--dry-run"], standalone_mode=False)
    printed = capsys.readouterr().out
    assert "leave out  it is not valid: " in printed
    assert "execute    no finished run" in printed


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--budget", "8"], "'8': write a length of time such as 90m, 8h"),
        (["--budget", "0h"], "budget 0.0: write hours, more than 0"),
        (["--stale", "a week"], "'a week': write a length of time"),
        (["--stale", "9" * 100 + "d"], "write a length of time"),
        (["--force", "--changed"], "leave out changed and stale, or force"),
        (["--publish", "nowhere"], "nowhere"),
    ],
)
def test_what_cannot_be_meant_is_a_sentence(
    tmp_path: Path, options: list[str], sentence: str
) -> None:
    with pytest.raises((InputError, click.BadParameter), match=sentence):
        suite(["--root", str(tmp_path), *options], standalone_mode=False)


@pytest.mark.usefixtures("isolated_lock")
def test_a_pool_needs_a_server(
    case_folder: MakeCase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case_folder("a", process("s", "true"))
    monkeypatch.setattr("benchyard.lab.server.address", lambda: None)
    with pytest.raises(InputError, match="needs the server of a lab: set PREFECT_API_URL"):
        suite(["--root", str(tmp_path), "--pool", "testbeds"], standalone_mode=False)


@pytest.mark.slow
def test_a_suite_from_the_shell(
    case_folder: MakeCase,
    run_benchyard: RunBenchyard,
    prefect_server: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PREFECT_API_URL", prefect_server)
    case_folder("good", process("s", "true"))
    case_folder("bad", process("s", "exit 3"))
    options = ["--runs", "1", "--cooldown", "0", "--publish", "none", "--no-control"]
    ended = run_benchyard("suite", *options, timeout=300)
    assert ended.returncode == 1, ended.stderr
    assert "not as wanted: bad" in ended.stderr
    assert "1 run of 2 cases done, 1 failed, in " in ended.stdout
    again = run_benchyard("suite", "good", *options, "--json", timeout=300)
    assert again.returncode == 0, again.stderr
    document = json.loads(again.stdout)
    assert document["turns"] == []
    assert document["cases"][0]["why"].startswith("all runs are done")
    strict = ("--force", "--baseline", "previous", "--strict")
    judged = run_benchyard("suite", "good", *options, *strict, timeout=300)
    assert judged.returncode == 5, judged.stderr
    assert "cannot tell: nothing to compare with: it is the first campaign" in judged.stderr
