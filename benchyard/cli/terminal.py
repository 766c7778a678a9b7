r"""Prints to the terminal; control characters in texts from outside are escaped.

A name, a tag, a value of a matrix, a file's name or what a program said may hold escape sequences,
C1 codes, marks that turn the direction of text, or half a character. They are shown as escapes,
such as ``\x1b`` and ``\u202e``; ruff keeps every other module from printing.
"""

import codecs
import json
import logging
import re
import sys
from typing import TYPE_CHECKING

import click

from benchyard.core.wording import printable

if TYPE_CHECKING:
    from rich.console import Console

    from benchyard.core.model import Json
    from benchyard.core.table import Table

#: What may stand in a text of several lines.
_LAYOUT = "\n\t"
#: Mark of a cell to its colour.
COLOURS = {"good": "green", "bad": "red", "doubtful": "yellow", "changed": "cyan"}
#: What a JSON document seldom holds; most of it is to be seen.
_ODD = re.compile(r"[^ -~\n]")


class Styled(str):
    """An escaped text with colours of ours; joined with another text it is a plain one."""

    __slots__ = ()


def safe(text: str) -> str:
    """Escape every character that is not printable, but for line ends and tabs."""
    return text if isinstance(text, Styled) else printable(text, but=_LAYOUT)


def styled(text: str, *, fg: str | None = None, bold: bool | None = None) -> Styled:
    """Return a text in a colour, for ``say``."""
    return Styled(click.style(safe(text), fg=fg, bold=bold))


def say(
    *parts: str,
    err: bool = False,
    end: str = "\n",
    fg: str | None = None,
    bold: bool | None = None,
    dim: bool | None = None,
) -> None:
    """Print a text.

    Args:
        parts: Its parts: what ``styled`` returned as it is, of others what is ``safe``.
        err: On stderr.
        end: What comes after it.
        fg: Colour of all of it.
        bold: As ``dim`` for all of it.
    """
    text = "".join(map(safe, parts))
    if fg or bold or dim:
        text = click.style(text, fg=fg, bold=bold, dim=dim)
    click.echo(text + end, err=err, nl=False)


def say_between(begin: str, end: str, text: str) -> None:
    """Print a text on stderr between marks of ours that a log obeys, although no terminal."""
    click.echo(f"{begin}{safe(text)}{end}", err=True, nl=False, color=True)


def confirm(question: str) -> bool:
    """Ask on stderr whether to go on."""
    return click.confirm(safe(question), err=True)


def has_unicode() -> bool:
    """Whether stdout takes every character."""
    return codecs.lookup(sys.stdout.encoding or "ascii").name == "utf-8"


def print_json(value: "Json") -> None:
    """Print a JSON document; escape what stdout cannot encode, and control characters."""
    text = json.dumps(value, ensure_ascii=not has_unicode(), indent=2)
    click.echo(_ODD.sub(_escaped, text))


def _escaped(odd: re.Match[str]) -> str:
    return odd[0] if odd[0].isprintable() else json.dumps(odd[0])[1:-1]


def print_table(table: "Table", *, capitals: bool = True) -> None:
    """Print a table.

    Args:
        capitals: Whether its heads are in capitals.
    """
    head, *lines = table.lines(lambda text, mark: styled(text, fg=COLOURS.get(mark)))
    say(head.upper() if capitals else head, bold=True)
    for line in lines:
        click.echo(line)
    for note in table.notes:
        say(note, dim=True)


def console() -> "Console":
    """Return a console on stderr for live lines; what is printed there must be ``safe``."""
    from rich.console import Console  # noqa: PLC0415 - only for what takes its time

    return Console(stderr=True, highlight=False, markup=False)


class LogLines(logging.Handler):
    """Prints log records that no other handler takes, as Python's last resort does."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print one line."""
        say(self.format(record), err=True)
