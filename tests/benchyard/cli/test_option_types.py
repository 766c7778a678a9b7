"""Options that take numbers, and names of files and folders."""

import os
from pathlib import Path

import click
import pytest

from benchyard.cli.option_types import Cooldown, Seconds
from tests.benchyard.cli.conftest import Cli


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("text", ["nan", "-nan", "-inf", "infinity", "1e999", "x"])
@pytest.mark.parametrize(
    ("command", "option"),
    [
        *(("run", "--interval"), ("run", "--cooldown"), ("doctor", "--look"), ("up", "--grace")),
        *(("time", "--min-time"), ("time", "--max-time"), ("time", "--timeout")),
    ],
)
def test_what_is_no_number_of_seconds_is_refused_in_a_sentence(
    command: str, option: str, text: str, cli: Cli
) -> None:
    said = cli(command, option, text, code=2)
    assert said.out == ""
    [line] = [line for line in said.err.splitlines() if option in line]
    assert line.startswith(f"Error: Invalid value for '{option}': ")


def test_seconds_lie_between_the_bounds() -> None:
    kind = Seconds(0, 60)
    assert [kind.convert(text, None, None) for text in ("0", "0.25", "60", 5)] == [0, 0.25, 60, 5]
    assert Cooldown(0, 60).convert("auto", None, None) is None
    for one in (kind, Cooldown(0, 60)):
        for text in ("-1", "60.1", "nan", "Auto", ""):
            with pytest.raises(click.BadParameter):
                one.convert(text, None, None)
    with pytest.raises(click.BadParameter, match="'inf' is no number of seconds"):
        Seconds().convert("inf", None, None)


@pytest.mark.parametrize("text", ["nan", "inf", "1e3", "-1", "1" + "0" * 400, "1" * 5000])
@pytest.mark.parametrize(
    ("command", "option"),
    [
        *(("run", "--seed"), ("time", "--seed"), ("profile", "--limit"), ("publish", "--retries")),
        *(("suite", "--runs"), ("trace", "--run"), ("up", "--port")),
    ],
)
def test_what_is_no_whole_number_of_use_is_refused(
    command: str, option: str, text: str, cli: Cli
) -> None:
    said = cli(command, option, text, code=2)
    assert f"Error: Invalid value for '{option}': " in said.err


@pytest.mark.parametrize("address", ["s3://lab/r", "https://lab/r", "file:///tmp/r"])
@pytest.mark.parametrize(
    "words",
    [
        *("run --results", "list --root", "run --resources", "new", "time true --save"),
        *("pack x -o", "reproduce", "serve"),
    ],
)
def test_an_address_is_no_path(words: str, address: str, here: Path, cli: Cli) -> None:
    assert f"{address} is an address" in cli(*words.split(), address, code=2).err
    assert list(here.iterdir()) == []


def test_an_address_in_the_project_file_is_no_path(here: Path, cli: Cli) -> None:
    (here / "benchyard.toml").write_text('results = "s3://lab/r"')
    assert "results: s3://lab/r is an address" in cli("run", code=2).err


@pytest.mark.parametrize("same", ["a", "./a", "link", "hard"])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("time", "cat", "--input", "{}", "--stdout", "a"), "'--stdout': --input reads a already"),
        (
            ("time", "cat", "--export-json", "{}", "--input", "a"),
            "'--input': --export-json writes to a already",
        ),
    ],
)
def test_what_a_command_reads_it_does_not_overwrite(
    same: str, words: tuple[str, ...], said: str, here: Path, cli: Cli
) -> None:
    (here / "a").write_text("[]")
    (here / "link").symlink_to("a")
    (here / "hard").hardlink_to(here / "a")
    assert said in cli(*(word.format(same) for word in words), code=2).err
    assert (here / "a").read_text() == "[]"


def test_a_trace_does_not_overwrite_what_it_is_made_of(here: Path, cli: Cli) -> None:
    (here / "t.json").write_text("[]")
    said = cli("trace", here / "t.json", "-o", here / "t.json", code=2).err
    assert f"--output writes to {here / 't.json'} already" in said


@pytest.mark.parametrize(
    ("first", "second"), [("a", "./a"), ("there", "link"), ("there", "hard"), ("new", "to-new")]
)
def test_two_options_do_not_write_one_file(first: str, second: str, here: Path, cli: Cli) -> None:
    (here / "there").write_text("kept")
    (here / "link").symlink_to("there")
    (here / "hard").hardlink_to(here / "there")
    (here / "to-new").symlink_to("new")
    for one, other in ((first, second), (second, first)):
        said = cli("time", "touch done", "--export-json", one, "--export-csv", other, code=2).err
        assert f"'--export-csv': --export-json writes to {Path(other)} already" in said
    assert (here / "there").read_text() == "kept"
    assert not (here / "done").exists()


def test_a_device_takes_what_several_options_write(here: Path, cli: Cli) -> None:
    null, runs = os.devnull, ("time", "cat", "--runs", "6", "--input", os.devnull)
    cli(*runs, "--stdout", null, "-o", null, "--export-csv", null)
    cli(*runs, "--save", "case")
    assert [*(here / "case" / "data" / "shared").iterdir()] == []


@pytest.mark.parametrize("words", ["time cat --input", "reproduce", "serve --token-file"])
def test_what_is_read_is_a_file(words: str, here: Path, cli: Cli) -> None:
    os.mkfifo(here / "pipe")
    for name, why in (
        ("pipe", "is a named pipe, not a file"),
        ("/dev/zero", "is a device, not a file"),
        ("missing", "does not exist"),
    ):
        said = cli(*words.split(), name, code=2).err
        assert f"{name} {why}" in said.replace("'", "")
