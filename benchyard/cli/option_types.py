"""Paths, seconds and dates on the command line, and options that are made of them."""

import math
import os
import sys
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import click

from benchyard.core.amounts import parse_percent, parse_since
from benchyard.core.errors import InputError
from benchyard.core.files import is_address, special
from benchyard.core.outputs import Output

#: A cooldown that is in proportion to the runs.
AUTO = "auto"


CommandT = TypeVar("CommandT", bound=Callable[..., Any])
#: The largest whole number that all readers of JSON keep.
_LARGEST = 2**53


class NamedPath(click.Path):
    """A path on the command line; ``--results "$UNSET"`` and addresses are refused."""

    #: Whether the command writes the file, or else reads it; None for others.
    writes: ClassVar[bool | None] = None

    def __init__(
        self, *, exists: bool = False, file_okay: bool = True, dir_okay: bool = True
    ) -> None:
        super().__init__(exists=exists, file_okay=file_okay, dir_okay=dir_okay, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; click tells of what it raises by the option's name."""
        if value == "":
            self.fail("an empty text names nothing; give a path, or leave it out", param, ctx)
        if is_address(str(value)):
            self.fail(f"{value} is an address, and only paths on this host are taken", param, ctx)
        path: Path = super().convert(value, param, ctx)  # pyright: ignore[reportAssignmentType] - path_type
        if self.writes is not None and ctx is not None:
            _claim(path, self.writes, param, ctx)
        return path


def _claim(path: Path, writes: bool, param: click.Parameter | None, ctx: click.Context) -> None:  # noqa: FBT001 - one of two roles
    """Refuse a file that the command reads and writes."""
    try:
        found = path.stat()
        file: Any = (found.st_dev, found.st_ino)
    except OSError:
        file = os.path.realpath(path)
    if ctx.meta.setdefault(f"{__name__}.files", {}).setdefault(file, writes) != writes:
        # click leaves open what the options before it opened.
        ctx.close()
        raise click.BadParameter(f"{path} would be read and overwritten by it", ctx, param)


class InputFile(NamedPath):
    """A file to read, or a folder where one is taken: no pipe, no device."""

    writes = False

    def __init__(self, *, dir_okay: bool = False) -> None:
        super().__init__(exists=True, dir_okay=dir_okay)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path; fails, in a sentence, for what is no file."""
        path: Path = super().convert(value, param, ctx)
        if what := special(path):
            self.fail(f"{path} is {what}, not a file", param, ctx)
        return path


class SourceName(click.ParamType):  # pyright: ignore[reportMissingTypeArgument]
    """What a command reads, by a name that may be that of a file."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text."""
        with suppress(OSError, ValueError):
            if ctx is not None and Path(value).is_file():
                _claim(Path(value), False, param, ctx)  # noqa: FBT003
        return value


class OutputFile(NamedPath):
    """A file to write, ``-`` for stdout; its name has one of the endings given, if any.

    It is opened, or refused, before the command begins; see ``Output``.
    """

    writes = True

    def __init__(self, *endings: str) -> None:
        super().__init__(dir_okay=False)
        self.readable = False
        self._endings = endings

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Output:
        """Return the file; fails, in a sentence, for one that cannot be written."""
        file: Path = super().convert(value, param, ctx)
        outputs = {} if ctx is None else outputs_of(ctx)
        if str(file) in outputs:
            return outputs[str(file)]
        if not file.absolute().parent.is_dir():
            self.fail(f"{file}: there is no folder {file.absolute().parent}", param, ctx)
        try:
            output = Output.opened(file, self._endings)
        except OSError as error:
            self.fail(f"{file}: {error.strerror}", param, ctx)
        if ctx is not None:
            ctx.call_on_close(output.close)
        if self._endings and output.suffix.lower() not in self._endings:
            self.fail(f"{file}: it must end in {' or '.join(self._endings)}", param, ctx)
        outputs[str(file)] = output
        if ctx is not None and output.is_stdout:
            take_stdout(ctx, param, output)
            ctx.with_resource(redirect_stdout(sys.stderr))
        return output


def outputs_of(ctx: click.Context) -> dict[str, Output]:
    """Return the files that a command writes, by the names given."""
    return ctx.meta.setdefault(f"{__name__}.outputs", {})


def take_stdout(ctx: click.Context, param: click.Parameter | None, value: Any) -> Any:
    """Let one option write to stdout, and refuse the next; the callback of a flag.

    Raises:
        BadParameter: If another option has stdout.
    """
    name = param.opts[-1] if param is not None else ""
    if value and ctx.meta.setdefault(f"{__name__}.stdout", name) != name:
        other = ctx.meta[f"{__name__}.stdout"]
        raise click.BadParameter(f"{other} writes to stdout already", ctx, param)
    return value


def stdout_flag(option: str, name: str, text: str) -> Callable[[CommandT], CommandT]:
    """Return the option of a flag by which a command writes something else to stdout."""
    return click.option(option, name, is_flag=True, callback=take_stdout, help=text)


json_option = stdout_flag("--json", "as_json", "One JSON document on stdout, nothing else there.")


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


class Whole(click.IntRange):
    """A whole number within bounds."""

    def __init__(self, least: int = 0, most: int = _LARGEST) -> None:
        super().__init__(least, most)


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
