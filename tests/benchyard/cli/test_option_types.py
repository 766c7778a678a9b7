"""Options that take seconds."""

import click
import pytest

from benchyard.cli import call
from benchyard.cli.option_types import Cooldown, Seconds


@pytest.mark.parametrize("text", ["nan", "NaN", "-nan", "inf", "-inf", "infinity", "1e999", "x"])
@pytest.mark.parametrize(
    ("command", "option"), [("run", "--interval"), ("run", "--cooldown"), ("doctor", "--look")]
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


def test_a_cooldown_is_a_number_of_seconds_or_automatic() -> None:
    cooldown = Cooldown(0, 60)
    assert cooldown.convert("auto", None, None) is None
    assert cooldown.convert("15", None, None) == 15.0
    for wrong in ("Auto", "61", "nan", ""):
        with pytest.raises(click.BadParameter):
            cooldown.convert(wrong, None, None)
