"""``benchyard.toml`` and ``benchyard config``."""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest import mock

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.cli import project_file
from benchyard.cli.group import COMMANDS, cli
from benchyard.cli.project_file import GENERAL, options_of
from benchyard.core.errors import InputError
from tests.benchyard.cli.conftest import Cli
from tests.conftest import MakeCase, process


@pytest.fixture(autouse=True)
def no_file_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BENCHYARD_CONFIG", raising=False)


@pytest.fixture
def project(tmp_path: Path, case_folder: MakeCase) -> Path:
    case_folder("sorts", process("one", "true"))
    (tmp_path / "benchyard.toml").write_text(
        'root = "cases"\nruns = 2\ncooldown = 0\npublish = "none"\n[run]\ndirect = true\n'
    )
    return tmp_path


def defaults(run_here: Cli, name: str, cwd: Path) -> dict[str, Any]:
    told = run_here("config", name, "--json", cwd=cwd)
    return json.loads(told.out)["commands"][name]


def test_a_file_gives_the_defaults_of_what_is_executed(project: Path, run_here: Cli) -> None:
    deep = project / "cases" / "sorts" / "data"
    ended = run_here("run", "sorts", "-v", cwd=deep)
    assert f"defaults from {project / 'benchyard.toml'}" in ended.err
    runs = sorted(run.name for run in (project / "cases/sorts/results").glob("run_*"))
    assert runs == ["run_1", "run_2"]


def test_a_file_to_write_is_named_as_on_the_command_line(project: Path, run_here: Cli) -> None:
    (project / "benchyard.toml").write_text('[time]\nexport-json = "made.json"\nruns = 2\n')
    run_here("time", "true", cwd=project)
    assert json.loads((project / "made.json").read_text())["commands"]


def test_the_command_line_wins(project: Path, run_here: Cli) -> None:
    planned = run_here("run", "--runs", "5", "--dry-run", "--json", cwd=project)
    assert len(json.loads(planned.out)["runs"]) == 5
    named = run_here("run", "--root", "nix", cwd=project, code=2)
    assert "there is no folder 'nix'" in named.err


def test_a_table_of_a_command_wins_over_keys_for_all(project: Path, run_here: Cli) -> None:
    file = project / "benchyard.toml"
    file.write_text(file.read_text() + "runs = 7\n")
    found = defaults(run_here, "run", project)
    assert found["runs"] == {"default": "7", "from": "run.runs"}
    assert found["cooldown"] == {"default": "0", "from": "cooldown"}
    assert found["seed"] == {"default": None, "from": None}
    assert defaults(run_here, "suite", project)["runs"] == {"default": "2", "from": "runs"}
    timing = defaults(run_here, "time", project)["runs"]
    assert timing["from"] is None, "they are none of a case"


def test_paths_begin_in_the_folder_of_the_file(project: Path, run_here: Cli) -> None:
    (project / "old").mkdir()
    (project / "benchyard.toml").write_text(
        'root = "cases"\nresources = ["a", "/b"]\nresults = "out"\n'
        '[run]\nbaseline = "old@1-2"\n[suite]\nbaseline = "previous"\n'
    )
    found = defaults(run_here, "run", project / "cases")
    assert {name: found[name]["default"] for name in ("root", "resources", "results")} == {
        "root": str(project / "cases"),
        "resources": [str(project / "a"), "/b"],
        "results": str(project / "out"),
    }
    assert found["baseline"]["default"] == str(project / "old@1-2")
    assert defaults(run_here, "run", project)["root"]["default"] == "cases"
    assert defaults(run_here, "suite", project)["baseline"]["default"] == "previous"


def test_everything_that_is_wrong_is_told_at_once(project: Path, run_here: Cli) -> None:
    (project / "benchyard.toml").write_text(
        'rusn = 1\ncooldown = "x"\nrun = 3\n[rnu]\na = 1\n[order]\n[suite]\ncooldwn = 3\n'
        'force = "yes"\npublish = ["a"]\nseed = true\n[compare]\nthreshold = "2"\n'
    )
    ended = run_here("config", cwd=project, code=2)
    assert ended.out == ""
    for text in (
        "unknown key 'rusn'; did you mean 'runs'?",
        "unknown key 'run': write [run], and its options below",
        "cooldown: 'x' is not",
        "unknown table [rnu]; did you mean 'run'?",
        "unknown table [order]: write order = …",
        "suite.cooldwn: benchyard suite has no such option; did you mean 'cooldown'?",
        "suite.force: write true or false",
        "suite.publish: write one value, as behind --publish, not a list",
        "suite.seed: write a text or a number",
        "compare.threshold: '2' is no percentage",
    ):
        assert text in ended.err
    assert "did you mean 'runs'" in run_here("list", cwd=project, code=2).err
    run_here("--no-config", "list", cwd=project)


def test_a_file_that_is_named(project: Path, run_here: Cli, tmp_path: Path) -> None:
    other = tmp_path / "cases" / "other.toml"
    other.write_text("runs = 4\n")
    told = run_here("--config", other, "config", "--json", cwd=project)
    assert json.loads(told.out)["file"] == str(other)
    with mock.patch.dict(os.environ, BENCHYARD_CONFIG=str(other)):
        assert defaults(run_here, "run", project)["runs"]["default"] == "4"
    missing = run_here("--config", "nix.toml", "list", cwd=project, code=2)
    assert "nix.toml: No such file" in missing.err


def test_the_search_ends_at_the_root_of_a_repository(project: Path, run_here: Cli) -> None:
    (project / "cases" / ".git").mkdir()
    told = run_here("config", cwd=project / "cases" / "sorts")
    assert told.out.startswith("no benchyard.toml here or above")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_file_of_another_user_is_refused(project: Path, run_here: Cli) -> None:
    os.chown(project / "benchyard.toml", 4242, -1)
    run_here("--config", "benchyard.toml", "list", cwd=project)
    refused = run_here("list", cwd=project, code=2)
    assert "belongs to another user" in refused.err


@pytest.mark.parametrize(
    "content",
    [b"runs = ", b"\xff\xfe", b"a" * 3_000_000, b"x = " + b"[" * 100_000, b"a = 1\na = 2", b"\0"],
)
def test_what_is_no_toml_is_one_sentence(project: Path, run_here: Cli, content: bytes) -> None:
    (project / "benchyard.toml").write_bytes(content)
    ended = run_here("list", cwd=project, code=2)
    assert "benchyard.toml: not readable as TOML" in ended.err
    assert len(ended.err) < 300


def test_what_is_no_file_is_refused_at_once(project: Path, run_here: Cli) -> None:
    file = project / "benchyard.toml"
    file.unlink()
    os.mkfifo(file)
    assert "is a named pipe" in run_here("list", cwd=project, code=2).err
    file.unlink()
    file.mkdir()
    assert "Is a directory" in run_here("list", cwd=project, code=2).err


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.dates(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.sampled_from(sorted(set(COMMANDS) - {"config"})), st.data())
def test_any_value_becomes_a_default_or_a_sentence(name: str, data: st.DataObject) -> None:
    context = click.Context(cli)
    command = cli.get_command(context, name)
    assert command is not None
    keys = st.sampled_from([*options_of(command), *GENERAL, "nix"])
    file = project_file.ProjectFile(
        Path("/p/benchyard.toml"),
        data.draw(st.dictionaries(keys, values, max_size=4)),
        {name: data.draw(st.dictionaries(keys, values, max_size=4))},
    )
    with suppress(InputError):
        project_file.apply(file, context, COMMANDS, [name])
        assert context.default_map is not None
        assert set(context.default_map[name]) <= {one.name for one in command.params}
