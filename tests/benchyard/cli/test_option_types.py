"""Options that take numbers, and names of files and folders."""

import os
from pathlib import Path

import click
import pytest

from benchyard.cli import call
from benchyard.cli.option_types import Cooldown, Seconds


@pytest.mark.parametrize("text", ["nan", "NaN", "-nan", "inf", "-inf", "infinity", "1e999", "x"])
@pytest.mark.parametrize(
    ("command", "option"),
    [
        *(("run", "--interval"), ("run", "--cooldown"), ("doctor", "--look")),
        *(("time", "--min-time"), ("time", "--max-time"), ("up", "--grace")),
    ],
)
def test_what_is_no_number_of_seconds_is_refused_in_a_sentence(
    command: str, option: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call([command, option, text]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    [line] = [line for line in said.err.splitlines() if option in line]
    assert line.startswith(f"Error: Invalid value for '{option}': ")
    assert "Traceback" not in said.err


def test_seconds_lie_between_the_bounds() -> None:
    kind = Seconds(0, 60)
    assert [kind.convert(text, None, None) for text in ("0", "0.25", "60", 5)] == [0, 0.25, 60, 5]
    for text in ("-1", "60.1", "nan"):
        with pytest.raises(click.BadParameter):
            kind.convert(text, None, None)


def test_without_bounds_endless_is_refused_too() -> None:
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
    command: str, option: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call([command, option, text]) == 2
    assert f"Error: Invalid value for '{option}': " in capsys.readouterr().err


@pytest.mark.parametrize("address", ["s3://lab/r", "https://lab/r", "file:///tmp/r"])
@pytest.mark.parametrize(
    "words",
    [
        *(["run", "--results"], ["list", "--root"], ["run", "--resources"], ["new"]),
        *(["time", "true", "--save"], ["pack", "x", "-o"], ["reproduce"], ["serve"]),
    ],
)
def test_an_address_is_no_path(
    words: list[str],
    address: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert call([*words, address]) == 2
    assert f"{address} is an address" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_an_address_in_the_project_file_is_no_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "benchyard.toml").write_text('results = "s3://lab/r"')
    monkeypatch.chdir(tmp_path / "sub")
    assert call(["run"]) == 2
    assert "results: s3://lab/r is an address" in capsys.readouterr().err


@pytest.mark.parametrize("same", ["a", "./a", "link", "hard"])
@pytest.mark.parametrize(
    "words", [["--input", "{}", "--stdout", "a"], ["--export-json", "{}", "--input", "a"]]
)
def test_what_a_command_reads_it_does_not_overwrite(
    same: str,
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "a").write_text("kept")
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "hard").hardlink_to(tmp_path / "a")
    monkeypatch.chdir(tmp_path)
    assert call(["time", *(word.format(same) for word in words), "cat"]) == 2
    said = capsys.readouterr().err
    first, second = words[0], words[2]
    verb = "reads" if first == "--input" else "writes to"
    assert f"'{second}': {first} {verb} a already" in said
    assert (tmp_path / "a").read_text() == "kept"


def test_a_trace_does_not_overwrite_what_it_is_made_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.json").write_text("[]")
    assert call(["trace", str(tmp_path / "t.json"), "-o", str(tmp_path / "t.json")]) == 2
    assert f"--output writes to {tmp_path / 't.json'} already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("first", "second"), [("a", "./a"), ("there", "link"), ("there", "hard"), ("new", "to-new")]
)
def test_two_options_do_not_write_one_file(
    first: str,
    second: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "there").write_text("kept")
    (tmp_path / "link").symlink_to("there")
    (tmp_path / "hard").hardlink_to(tmp_path / "there")
    (tmp_path / "to-new").symlink_to("new")
    monkeypatch.chdir(tmp_path)
    for one, other in ((first, second), (second, first)):
        words = ["time", "touch done", "--export-json", one, "--export-csv", other]
        assert call(words) == 2
        said = capsys.readouterr().err
        assert f"'--export-csv': --export-json writes to {Path(other)} already" in said
    assert (tmp_path / "there").read_text() == "kept"
    assert not (tmp_path / "done").exists()


def test_a_device_takes_what_several_options_write(tmp_path: Path) -> None:
    null, reads = os.devnull, ["--input", os.devnull, "--output", os.devnull]
    exports = ["--export-json", null, "--export-csv", null]
    assert call(["time", "cat", "--runs", "6", *reads, *exports]) == 0
    case = tmp_path / "case"
    assert call(["time", "cat", "--runs", "6", "--input", null, "--save", str(case)]) == 0
    assert [*(case / "data" / "shared").iterdir()] == []


@pytest.mark.parametrize(
    "words", [["time", "cat", "--input"], ["reproduce"], ["serve", "--token-file"]]
)
def test_what_is_read_is_a_file(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, why in (
        (str(tmp_path / "pipe"), "is a named pipe, not a file"),
        ("/dev/zero", "is a device, not a file"),
        (str(tmp_path / "missing"), "does not exist"),
    ):
        assert call([*words, name]) == 2
        assert f"{name} {why}" in capsys.readouterr().err.replace("'", "")


def test_a_cooldown_is_a_number_of_seconds_or_automatic() -> None:
    cooldown = Cooldown(0, 60)
    assert cooldown.convert("auto", None, None) is None
    assert cooldown.convert("15", None, None) == 15.0
    for wrong in ("Auto", "61", "nan", ""):
        with pytest.raises(click.BadParameter):
            cooldown.convert(wrong, None, None)
