"""Paths, seconds and dates on the command line, and options that are made of them."""

import math
import os
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

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

    def __init__(
        self, *, exists: bool = False, file_okay: bool = True, dir_okay: bool = True
    ) -> None:
        super().__init__(exists=exists, file_okay=file_okay, dir_okay=dir_okay, path_type=Path)
        self.name = "folder" if dir_okay else "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; click tells of what it raises by the option's name."""
        if value == "":
            self.fail("an empty text names nothing; give a path, or leave it out", param, ctx)
        if is_address(str(value)):
            self.fail(f"{value} is an address, and only paths on this host are taken", param, ctx)
        return super().convert(value, param, ctx)


class InputFile(NamedPath):
    """A file to read, or a folder where one is taken: no pipe, no device.

    Args:
        null: Whether ``/dev/null`` is taken too, and becomes None.
    """

    def __init__(self, *, dir_okay: bool = False, null: bool = False) -> None:
        super().__init__(exists=True, dir_okay=dir_okay)
        self._null = null

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Path | None:
        """Return the path; fails, in a sentence, for what is no file."""
        path: Path = super().convert(value, param, ctx)
        if self._null and os.path.realpath(path) == os.devnull:
            return None
        if what := special(path):
            self.fail(f"{path} is {what}, not a file", param, ctx)
        _claim(param, path, writes=False)
        return path


class SourceName(click.ParamType):  # pyright: ignore[reportMissingTypeArgument]
    """What a command reads, by a name that may be that of a file."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text."""
        del ctx
        if os.path.isfile(value):  # noqa: PTH113 - Path raises for a name that is too long
            _claim(param, Path(value), writes=False)
        return value


class OutputFile(NamedPath):
    """A file to write, ``-`` for stdout; its name has one of the endings given, if any.

    It is opened, or refused, before the command begins; see ``Output``.
    """

    def __init__(self, *endings: str) -> None:
        super().__init__(dir_okay=False)
        self._endings = endings

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Output:
        """Return the file; fails, in a sentence, for one that cannot be written."""
        file: Path = super().convert(value, param, ctx)
        # That of the command is not closed where its options are refused.
        root = click.get_current_context().find_root()
        if not file.absolute().parent.is_dir():
            self.fail(f"{file}: there is no folder {file.absolute().parent}", param, ctx)
        try:
            output = Output.opened(file, self._endings)
        except OSError as error:
            self.fail(f"{file}: {error.strerror}", param, ctx)
        root.call_on_close(output.close)
        outputs_of(root).append(output)
        if self._endings and output.suffix.lower() not in self._endings:
            self.fail(f"{file}: it must end in {' or '.join(self._endings)}", param, ctx)
        if output.is_stdout:
            take_stdout(root, param, output)
            root.with_resource(redirect_stdout(sys.stderr))
        else:
            _claim(param, output, writes=True)
        return output


def outputs_of(ctx: click.Context) -> list[Output]:
    """Return the files that a command writes."""
    return ctx.meta.setdefault(f"{__name__}.outputs", [])


def _claim(param: click.Parameter | None, path: Path | None, *, writes: bool) -> None:
    """Refuse what an option writes already, or what one reads if this one writes it.

    Args:
        path: None for stdout.
    """
    name, keys = ("stdout", ["stdout"]) if path is None else (str(path), _keys(path))
    option = max(param.opts, key=len) if param else ""
    claims = click.get_current_context().meta.setdefault(f"{__name__}.claims", {})
    for key in keys:
        if key in claims and (writes or claims[key][1]):
            other, written = claims[key]
            verb = "writes to" if written else "reads"
            raise click.BadParameter(f"{other} {verb} {name} already")
        claims[key] = option, writes


def _keys(path: Path) -> list[object]:
    """Return by what a file is known; nothing of a device or a pipe, as nothing replaces these."""
    if not path.exists():
        return [os.path.realpath(path)]
    found = path.stat()
    return [os.path.realpath(path), (found.st_dev, found.st_ino)] if path.is_file() else []


def take_stdout(_: click.Context, param: click.Parameter | None, value: Any) -> Any:
    """Let one option write to stdout, and refuse the next; the callback of a flag.

    Raises:
        BadParameter: If another option has stdout.
    """
    if value:
        _claim(param, None, writes=True)
    return value


def stdout_flag(option: str, name: str, text: str) -> Callable[[CommandT], CommandT]:
    """Return the option of a flag by which a command writes something else to stdout."""
    return click.option(option, name, is_flag=True, callback=take_stdout, help=text)


json_option = stdout_flag("--json", "as_json", "One JSON document on stdout, nothing else there.")


def output_option(name: str, *endings: str, **settings: Any) -> Callable[[CommandT], CommandT]:
    """Return the option that names the file that a command writes.

    Args:
        name: Of the argument.
        endings: Of the file's name.
        settings: As ``click.option`` takes them.
    """
    about: dict[str, Any] = {"metavar": "FILE", **settings}
    return click.option("-o", "--output", name, type=OutputFile(*endings), **about)


class OneOf(click.Choice[Any]):
    """A member of an enumeration, by its value."""

    def __init__(self, kind: type[Enum]) -> None:
        super().__init__([member.value for member in kind])
        self._kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the member."""
        given = value.value if isinstance(value, Enum) else value
        return self._kind(super().convert(given, param, ctx))


class Seconds(click.FloatRange):
    """A number of seconds within bounds.

    ``click.FloatRange`` alone lets ``nan`` pass, which is neither below nor above any bound.
    """

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number; fails, in a sentence, for what is none or out of bounds."""
        seconds: float = super().convert(value, param, ctx)
        if not math.isfinite(seconds):
            self.fail(f"{value!r} is no number of seconds.", param, ctx)
        return seconds


class Whole(click.IntRange):
    """A whole number within bounds."""

    name = "number"

    def __init__(self, least: int = 0, most: int = _LARGEST) -> None:
        super().__init__(least, most)


class Cooldown(Seconds):
    """A number of seconds within bounds, or ``auto``, which is None."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number, or None; fails, in a sentence, for what is neither."""
        return None if value == AUTO else super().convert(value, param, ctx)


class Read(click.ParamType):  # pyright: ignore[reportMissingTypeArgument]
    """A text as a function reads it.

    Args:
        read: Raises an ``InputError`` for what cannot be meant.
    """

    name = "text"

    def __init__(self, read: Callable[[str], Any]) -> None:
        self._read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return what the function makes of it; fails with its sentence."""
        try:
            return self._read(str(value))
        except InputError as error:
            self.fail(str(error), param, ctx)


class Percent(Read):
    """A share, written as a percentage such as ``1%``.

    Args:
        inside: Whether 0% and 100% are refused.
    """

    name = "percent"

    def __init__(self, *, inside: bool = False) -> None:
        super().__init__(parse_percent)
        self._inside = inside

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the share; fails, in a sentence, for what is no percentage."""
        share = super().convert(value, param, ctx)
        if self._inside and not 0 < share < 1:
            self.fail(f"{value} does not lie between 0% and 100%", param, ctx)
        return share


def names_in(text: str) -> tuple[str, ...]:
    """Read names with commas between them."""
    return tuple(filter(None, map(str.strip, text.split(","))))


columns_option = click.option(
    "--columns", type=Read(names_in), metavar="NAME,...", help="Only these columns, in this order."
)
since_option = click.option(
    "--since",
    type=Read(lambda text: parse_since(text, datetime.now(UTC))),
    metavar="DATE",
    help="Nothing older: a date such as 2026-11-01 (UTC), or 30d, 12h, 2w.",
)
