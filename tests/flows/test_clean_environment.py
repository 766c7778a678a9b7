"""What is measured sees one environment, however it was started."""

import os
from pathlib import Path

import pytest

from benchyard.results.record import read_record
from tests.conftest import MakeCase, RunBenchyard, process
from tests.databases import put_database

_SECRETS = {
    "PREFECT_API_AUTH_STRING": "user:hidden-1",
    "BENCHYARD_DATABASE_URL": "postgresql://user:hidden-2@host/x",
    "MY_NAME": "hidden-3",
}
#: What the guard finds the lab's children by; its values belong to one run.
_LABELS = {"BENCHYARD_OWNER", "BENCHYARD_RUN", "BENCHYARD_CHILD"}


def seen(folder: Path) -> dict[str, str]:
    (said,) = folder.glob("results/run_1/process/*stdout*")
    pairs = (line.partition("=") for line in said.read_text().split("\0") if line)
    return {name: value for name, _, value in pairs}


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_program_cannot_tell_how_it_was_started(
    case_folder: MakeCase, run_benchyard: RunBenchyard, tmp_path: Path
) -> None:
    put_database(tmp_path / "home" / "prefect.db")
    environment = {
        **{name: value for name, value in os.environ.items() if name != "DO_NOT_TRACK"},
        "PREFECT_HOME": str(tmp_path / "home"),
        "OMP_NUM_THREADS": "3",
        **_SECRETS,
    }
    found: dict[str, dict[str, str]] = {}
    for way, options in {"direct": ["--direct"], "prefect": ["--prefect"]}.items():
        folder = case_folder(way, process("env", "exec env -0"))
        ended = run_benchyard("run", folder, "--runs", "1", *options, env=environment, timeout=600)
        assert ended.returncode == 0, ended.stderr
        found[way] = seen(folder)
        told = read_record(folder / "results/run_1").variables
        assert set(found[way]) - set(told) <= _LABELS | {"PWD", "_"}  # the shell's own
        assert told["OMP_NUM_THREADS"] == "3"
        assert told["MY_NAME"] is None

    direct, through = found.values()
    differ = {name for name in direct | through if direct.get(name) != through.get(name)}
    assert differ - {"PWD"} == _LABELS
    assert {name for name in direct if name.startswith(("BENCHYARD_", "PREFECT_"))} == _LABELS
    assert direct["MY_NAME"] == "hidden-3"
    assert direct["DO_NOT_TRACK"] == "1"
