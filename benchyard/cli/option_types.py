"""Paths, seconds and dates on the command line, and options that are made of them."""

import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from benchyard.core.amounts import parse_percent, parse_since
from benchyard.core.errors import InputError

#: A cooldown that is in proportion to the runs.
AUTO = "auto"


class NamedPath(click.Path):
    """A path on the command line; ``--results "$UNSET"`` is refused."""

    def __init__(
        self, *, exists: bool = False, file_okay: bool = True, dir_okay: bool = True
    ) -> None:
        super().__init__(exists=exists, file_okay=file_okay, dir_okay=dir_okay, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; click tells of what it raises by the option's name."""
        if value == "":
            self.fail("an empty text names nothing; give a path, or leave it out", param, ctx)
        return super().convert(value, param, ctx)


class OutputFile(NamedPath):
    """A file to write: its folder is there, and its name has one of the endings given, if any."""

    def __init__(self, *endings: str) -> None:
        super().__init__(dir_okay=False)
        self._endings = endings

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path; fails, in a sentence, for one that cannot be written."""
        file: Path = super().convert(value, param, ctx)
        if self._endings and file.suffix.lower() not in self._endings:
            self.fail(f"{file}: it must end in {' or '.join(self._endings)}", param, ctx)
        if not file.absolute().parent.is_dir():
            self.fail(f"{file}: there is no folder {file.absolute().parent}", param, ctx)
        return file


class ExportFile(OutputFile):
    """A file to write, or ``-`` for stdout."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path; fails, in a sentence, for one that cannot be written."""
        return Path(value) if str(value) == "-" else super().convert(value, param, ctx)


class Seconds(click.FloatRange):
    """A number of seconds within bounds.

    ``click.FloatRange`` alone lets ``nan`` pass, which is neither below nor above any bound.
    """

    name = "seconds"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number; fails, in a sentence, for what is none or out of bounds."""
        seconds: float = super().convert(value, param, ctx)
        if not math.isfinite(seconds):
            self.fail(f"{value!r} is no number of seconds.", param, ctx)
        return seconds


class Cooldown(click.ParamType):  # pyright: ignore[reportMissingTypeArgument]
    """A number of seconds within bounds, or ``auto``, which is None."""

    name = "seconds"

    def __init__(self, least: float, most: float) -> None:
        self._seconds = Seconds(least, most)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float | None:
        """Return the number, or None; fails, in a sentence, for what is neither."""
        return None if value == AUTO else self._seconds.convert(value, param, ctx)


class Percent(click.ParamType):  # pyright: ignore[reportMissingTypeArgument]
    """A share, written as a percentage such as ``1%``."""

    name = "percent"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the share; fails, in a sentence, for what is no percentage."""
        try:
            return parse_percent(str(value))
        except InputError as error:
            self.fail(str(error), param, ctx)


def _since(_: click.Context, __: click.Parameter, text: str | None) -> datetime | None:
    return None if text is None else parse_since(text, datetime.now(UTC))


def _columns(_: click.Context, __: click.Parameter, text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(filter(None, map(str.strip, text.split(","))))


allow_option = click.option(
    "--allow",
    "allowed",
    multiple=True,
    type=NamedPath(),
    help="Folder that flow runs here may name beside the checkout; several times for several.",
)
columns_option = click.option(
    "--columns", callback=_columns, metavar="NAME,...", help="Only these columns, in this order."
)
grace_option = click.option(
    "--grace",
    type=Seconds(0, 604_800),
    help="Seconds that a run gets to finish at SIGTERM; no limit if left out.",
)
since_option = click.option(
    "--since",
    callback=_since,
    metavar="DATE",
    help="Nothing older: a date such as 2026-11-01 (UTC), or 30d, 12h, 2w.",
)
