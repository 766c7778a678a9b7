"""``benchyard config`` and ``completion``: the defaults in force, and a shell's script."""

from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import click
from click.shell_completion import get_completion_class

from benchyard.cli import group
from benchyard.cli.common import json_option
from benchyard.cli.group import COMMANDS
from benchyard.cli.project_file import NAME, ProjectFile, defaults_for, options_of
from benchyard.cli.terminal import print_json, print_table, say
from benchyard.core.errors import InputError
from benchyard.core.files import shown
from benchyard.core.model import Json
from benchyard.core.table import text_table
from benchyard.core.wording import hint, printable


class _Row(NamedTuple):
    command: str
    option: str
    value: Json
    key: str | None


@click.command("config")
@click.argument("name", metavar="[COMMAND]", required=False)
@json_option
@click.pass_context
def command(context: click.Context, name: str | None, *, as_json: bool) -> None:
    """Show which project file is used, and the defaults that it gives.

    With COMMAND, all defaults of that command, and where each comes from. The whole file is
    checked.
    """
    if name is not None and name not in COMMANDS:
        raise InputError(f"no command '{name}'{hint(name, COMMANDS)}")
    file = context.find_object(ProjectFile)
    group = cast("click.Group", context.find_root().command)
    rows = [row for one in ([name] if name else COMMANDS) for row in _rows(group, one, file)]
    if as_json:
        print_json(_document(rows, file))
        return
    say(f"defaults from {shown(file.path)}" if file else f"no {NAME} here or above")
    told = [row for row in rows if name or row.key]
    if told:
        print_table(text_table(("COMMAND", "OPTION", "DEFAULT", "FROM"), map(_cells, told)))


def _rows(group: click.Group, name: str, file: ProjectFile | None) -> Iterator[_Row]:
    context = click.Context(group)
    command = cast("click.Command", group.get_command(context, name))
    found = defaults_for(file, name, command)[0] if file else []
    given = {one.option: one for one in found}
    for option_name, option in options_of(command).items():
        one = given.get(option)
        value = one.value if one else option.get_default(click.Context(command, info_name=name))
        yield _Row(name, option_name, _plain(value), one.key if one else None)


def _plain(value: Any) -> Json:
    """Return a default as JSON has it; null for an option that has none."""
    if isinstance(value, list | tuple):
        return [_plain(one) for one in cast("list[Any]", value)]
    return value if isinstance(value, str | bool | int | float) else None


def _document(rows: list[_Row], file: ProjectFile | None) -> Json:
    commands: dict[str, dict[str, Json]] = {row.command: {} for row in rows}
    for row in rows:
        commands[row.command][row.option] = {"default": row.value, "from": row.key}
    return {"file": str(file.path) if file else None, "commands": cast("Json", commands)}


def _cells(row: _Row) -> tuple[str, ...]:
    value = row.value
    if isinstance(value, bool):
        text = str(value).lower()
    elif isinstance(value, list):
        text = ", ".join(map(str, value))
    else:
        text = "" if value is None else str(value)
    return (row.command, f"--{row.option}", printable(text) or "-", row.key or "built in")


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell.

    For bash: benchyard completion bash > ~/.local/share/bash-completion/completions/benchyard
    """
    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"no completion for {shell}")
    say(found(group.cli, {}, "benchyard", "_BENCHYARD_COMPLETE").source())
