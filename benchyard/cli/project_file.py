"""``benchyard.toml``, a project's defaults of options, and ``benchyard config``; ``completion``."""

import os
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import click
from click.shell_completion import get_completion_class

from benchyard.cli.option_types import json_option
from benchyard.cli.terminal import print_json, print_table, say
from benchyard.core.errors import CaseError, InputError
from benchyard.core.files import content, is_address, shown
from benchyard.core.model import Json
from benchyard.core.table import text_table
from benchyard.core.wording import hint, quote

NAME = "benchyard.toml"
#: Keys outside of a table: defaults of this option for every command that has it.
GENERAL = (
    *("root", "resources", "results", "runs", "cooldown", "interval", "order", "publish"),
    *("baseline", "threshold", "level", "session-sd", "in-turns"),
    "false-per-month",
)
#: Tables whose keys are general: what sessions of the project's hosts are like, how many alarms.
_TABLES = {
    "sessions": {"sd": "session-sd", "in_turns": "in-turns"},
    "alarms": {"false_per_month": "false-per-month"},
}
#: These mean something else by ``--runs``, or have their own reason for it.
_WITHOUT_GENERAL = frozenset({"time", "reproduce"})


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """What a project file says.

    Args:
        path: Of the file, absolute: relative paths in it begin in its folder.
        general: Option to the default for every command.
        tables: Command to its own defaults, by option.
    """

    path: Path
    general: Mapping[str, Any]
    tables: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Default:
    """A default that the project file gives.

    Args:
        value: As the command line would have it: a text, a list of them, or whether a flag is set.
        key: Where it stands in the file, such as ``runs`` or ``run.runs``.
    """

    option: click.Option
    value: str | bool | list[str]
    key: str


def find_project_file(start: Path) -> Path | None:
    """Return the nearest project file at or above a folder; None if there is none.

    The search ends at the root of a git repository and where the file system ends.

    Raises:
        InputError: If it is another user's: it may name classes, which are code.
    """
    device = start.stat().st_dev
    for folder in (start, *start.parents):
        if folder.stat().st_dev != device:
            break
        if os.path.lexists(folder / NAME):
            _refuse_of_others(folder / NAME)
            return folder / NAME
        if (folder / ".git").exists():
            break
    return None


def _refuse_of_others(path: Path) -> None:
    owner = path.lstat().st_uid
    if owner not in (os.geteuid(), 0):
        raise InputError(
            f"{shown(path)} belongs to another user ({owner}), and may name classes, which are "
            f"code: use it with --config {shown(path)}, or go without it with --no-config"
        )


def read_project_file(path: Path) -> ProjectFile:
    """Read a project file; only its syntax is checked.

    Raises:
        InputError: If it cannot be read, or is no TOML.
    """
    try:
        document = tomllib.loads(content(path).decode())
    except OSError as error:
        raise InputError(f"{shown(path)}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{shown(path)}: not readable as TOML: {quote(str(error))}") from error
    for name, keys in _TABLES.items():
        document |= _general_keys(name, keys, document.pop(name, {}))
    is_table = {name: isinstance(value, dict) for name, value in document.items()}
    tables = {name: value for name, value in document.items() if is_table[name]}
    general = {name: value for name, value in document.items() if not is_table[name]}
    return ProjectFile(path.absolute(), general, tables)


def _general_keys(name: str, keys: Mapping[str, str], table: Any) -> dict[str, Any]:
    """Return the keys of a table as the options that they are defaults of."""
    if not isinstance(table, dict):
        return {name: table}
    given = cast("dict[str, Any]", table)
    return {keys.get(key, f"{name}.{key}"): value for key, value in given.items()}


def load_project_file(given: str | None) -> ProjectFile | None:
    """Read the file that is named, or the nearest one.

    Raises:
        InputError: As ``find_project_file`` and ``read_project_file`` do.
    """
    if given is not None:
        return read_project_file(Path(given))
    found = None
    with suppress(OSError):  # the current folder is gone, or one above cannot be looked into
        found = find_project_file(Path.cwd())
    return None if found is None else read_project_file(found)


def check_names(file: ProjectFile, commands: Mapping[str, object]) -> Iterator[str]:
    """Yield what is wrong with keys outside of tables, and with the names of tables."""
    for key in file.general:
        if key not in GENERAL:
            told = f": write [{key}], and its options below" if key in commands else None
            yield f"unknown key '{quote(key)}'{told or hint(key, GENERAL)}"
    for name in file.tables:
        if name not in commands:
            told = f": write {name} = …" if name in GENERAL else None
            yield f"unknown table [{quote(name)}]{told or hint(name, commands)}"


def options_of(command: click.Command) -> dict[str, click.Option]:
    """Return the options of a command by their long names, without dashes."""
    options = (one for one in command.params if isinstance(one, click.Option))
    return {max(one.opts, key=len).lstrip("-"): one for one in options if one.expose_value}


def defaults_for(
    file: ProjectFile, name: str, command: click.Command
) -> tuple[list[Default], list[str]]:
    """Return the defaults that a file gives to a command, and what is wrong with them."""
    options, found, wrong = options_of(command), list[Default](), list[str]()
    current_name = command.context_settings.get("token_normalize_func", str)
    for key, option_name, given in _keys_for(file, name):
        option = options.get(current_name(option_name))
        if option is None:
            if key != option_name:
                told = hint(option_name, options)
                wrong.append(f"{quote(key)}: benchyard {name} has no such option{told}")
            continue
        try:
            value = _value(option, given, file.path.parent)
            if not isinstance(value, bool):
                # What the trial opens is closed, and claims nothing from the command.
                with click.Context(command, info_name=name) as trial:
                    _try(option, value, trial)
        except InputError as error:
            wrong.append(f"{quote(key)}: {error}")
        else:
            found.append(Default(option, value, key))
    return found, wrong


def _keys_for(file: ProjectFile, name: str) -> Iterator[tuple[str, str, Any]]:
    """Yield key, option and value; those of the command's own table last, since they win."""
    if name not in _WITHOUT_GENERAL:
        yield from ((key, key, value) for key, value in file.general.items() if key in GENERAL)
    own = cast("Mapping[str, Any]", file.tables.get(name, {}))
    yield from ((f"{name}.{key}", key, value) for key, value in own.items())


def _value(option: click.Option, given: Any, folder: Path) -> str | bool | list[str]:
    if option.is_flag:
        if not isinstance(given, bool):
            raise InputError("write true or false")
        return given
    if not isinstance(given, list):
        text = _text(option, given, folder)
        return [text] if option.multiple else text
    if not option.multiple:
        raise InputError(f"write one value, as behind {max(option.opts, key=len)}, not a list")
    return [_text(option, one, folder) for one in cast("list[Any]", given)]


def _text(option: click.Option, given: Any, folder: Path) -> str:
    if isinstance(given, bool | list | dict):
        raise InputError("write a text or a number")
    text = str(given)
    # A baseline is a folder, with runs behind it or not, or the word for the campaign before.
    is_path = isinstance(option.type, click.Path) or (
        option.metavar == "FOLDER" and _lies_in(folder, text)
    )
    # From its own folder on a path is as it stands there: a testbed elsewhere has the same ones.
    is_path = is_path and bool(text) and not is_address(text)
    return str(folder / text) if is_path and not _is_here(folder) else text


def _is_here(folder: Path) -> bool:
    with suppress(OSError):
        return folder == Path.cwd()
    return False


def _lies_in(folder: Path, text: str) -> bool:
    with suppress(OSError, ValueError):
        places = {text, text.rpartition("@")[0]} - {""}
        return any((folder / place).exists() for place in places)
    return False


def _try(option: click.Option, value: str | list[str], context: click.Context) -> None:
    """Read a value as the command would."""
    try:
        option.process_value(context, value)
    except click.UsageError as error:
        raise InputError(error.message) from error


def apply(
    file: ProjectFile, context: click.Context, commands: Mapping[str, object], names: list[str]
) -> None:
    """Make a file's values the defaults of commands below a context.

    Args:
        commands: All that there are, by name.
        names: Of those that are asked for.

    Raises:
        CaseError: With all that is wrong.
    """
    group = cast("click.Group", context.command)
    wrong, defaults = list(check_names(file, commands)), dict[str, Any]()
    for name in names:
        command = group.get_command(context, name)
        if command is not None:
            found, problems = defaults_for(file, name, command)
            defaults[name] = {one.option.name: one.value for one in found}
            wrong += problems
    if wrong:
        raise CaseError([f"{shown(file.path)}: {text}" for text in dict.fromkeys(wrong)])
    context.obj, context.default_map = file, defaults


@click.command("config")
@click.argument("name", metavar="[COMMAND]", required=False)
@json_option
@click.pass_context
def command(context: click.Context, name: str | None, *, as_json: bool) -> None:
    """Show the defaults that benchyard.toml gives to options.

    With COMMAND, shows all defaults of that command, and where each comes from. Checks the whole
    file.

    Example:
        benchyard config run
    """
    group = cast("click.Group", context.find_root().command)
    names = group.list_commands(context)
    if name is not None and name not in names:
        raise InputError(f"no command '{name}'{hint(name, names)}")
    file = context.find_object(ProjectFile)
    every = {one: _defaults(group, one, file) for one in ([name] if name else names)}
    commands: dict[str, Json] = {one: options for one, options in every.items() if options}
    if as_json:
        print_json({"file": str(file.path) if file else None, "commands": commands})
        return
    say(f"defaults from {shown(file.path)}" if file else f"no {NAME} here or above")
    rows = [
        (one, f"--{option}", _written(told["default"]) or "-", told["from"] or "built in")
        for one, options in every.items()
        for option, told in options.items()
        if name or told["from"]
    ]
    if rows:
        print_table(text_table(("COMMAND", "OPTION", "DEFAULT", "FROM"), rows))


def _defaults(group: click.Group, name: str, file: ProjectFile | None) -> dict[str, Any]:
    """Return the default of each option, and the key of benchyard.toml that sets it, if any."""
    command = cast("click.Command", group.get_command(click.Context(group), name))
    context = click.Context(command, info_name=name)
    found = defaults_for(file, name, command)[0] if file else []
    given = {one.option: (one.value, one.key) for one in found}
    defaults: dict[str, Any] = {}
    for option_name, option in options_of(command).items():
        value, key = given.get(option) or (option.get_default(context), None)
        defaults[option_name] = {"default": _plain(value), "from": key}
    return defaults


def _plain(value: Any) -> Json:
    """Return a default as JSON has it; null for an option that has none."""
    if isinstance(value, list | tuple):
        return [_plain(one) for one in cast("list[Any]", value)]
    return value if isinstance(value, str | bool | int | float) else None


def _written(value: Json) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of a shell.

    Example:
        benchyard completion bash > benchyard.bash && source ./benchyard.bash
    """
    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"no completion for {shell}")
    say(found(context.find_root().command, {}, "benchyard", "_BENCHYARD_COMPLETE").source())
