"""The command that takes alerts: what it gets, and what is said when it cannot."""

import json
import stat
import sys
from pathlib import Path

import pytest

from benchyard.core.errors import BenchyardError, InputError
from benchyard.lab import automations
from benchyard.lab.working import query_seconds
from tasks.alerting import command_file, run_command
from tasks.names import CONTROL, TESTBEDS


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BENCHYARD_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def use(*arguments: str) -> None:
    command_file().write_text(json.dumps({"arguments": arguments}))


def python(script: str) -> tuple[str, ...]:
    return (sys.executable, "-c", script)


def test_it_gets_the_alert_on_stdin_and_its_text_in_a_variable(tmp_path: Path) -> None:
    got = tmp_path / "got"
    use(
        *python(
            f"import os, sys; open({str(got)!r}, 'w').write("
            "sys.stdin.read() + os.environ['BENCHYARD_ALERT'])"
        )
    )
    message = json.dumps({"text": "quick: run 2 failed; $(rm -rf /) \0", "kind": "failed"})

    assert run_command(message) == "quick: run 2 failed; $(rm -rf /) "
    assert got.read_text() == message + "quick: run 2 failed; $(rm -rf /) "


@pytest.mark.parametrize("message", ["", "no JSON", "[1]", '{"text": 5}', "{}", "null"])
def test_a_strange_alert_reaches_it_all_the_same(message: str) -> None:
    use(*python("pass"))

    assert isinstance(run_command(message), str)


def test_a_command_that_fails_says_why() -> None:
    use(*python("import sys; sys.exit('no mail today')"))

    with pytest.raises(BenchyardError, match=r"failed with 1: no mail today"):
        run_command('{"text": "x"}')


def test_without_a_command_it_says_who_writes_one(home: Path) -> None:
    with pytest.raises(BenchyardError, match="benchyard up --alerts COMMAND writes it"):
        run_command("{}")
    use("/no/such/program")
    with pytest.raises(BenchyardError, match="No such file"):
        run_command("{}")
    assert stat.S_IMODE(home.joinpath("lab").stat().st_mode) == 0o700


def test_the_worker_that_gives_it_alerts_asks_more_often_then() -> None:
    before = {pool: query_seconds(pool) for pool in (TESTBEDS, CONTROL)}
    use("true")

    assert query_seconds(TESTBEDS) == before[TESTBEDS]
    assert query_seconds(CONTROL) < 5 < before[CONTROL]


@pytest.mark.parametrize("target", ["", "  ", "ftp://x", "no-such-program-here --x", "echo 'x"])
def test_neither_url_nor_command_is_refused(target: str) -> None:
    with pytest.raises(InputError, match="--alerts"):
        automations.ensure_alerts(target)


def test_a_command_is_split_as_a_shell_does_and_found_on_path() -> None:
    split = vars(automations)["_split"]

    program, *rest = split("sh -c 'echo \"$BENCHYARD_ALERT\"'")
    assert Path(program).is_absolute()
    assert rest == ["-c", 'echo "$BENCHYARD_ALERT"']
