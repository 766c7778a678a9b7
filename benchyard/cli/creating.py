"""``benchyard new``, and ``benchyard time --save``: a case to begin with."""

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile

import click

from benchyard.case.new_case import TEMPLATES, check_folder, new_case, write_page
from benchyard.cli.option_types import NamedPath, json_option
from benchyard.cli.terminal import print_json, say
from benchyard.core.errors import InputError
from benchyard.core.files import refuse_taken, shown, write_json
from benchyard.core.model import Json, escaped, mapped
from benchyard.timing.commands import Surroundings, TimedCommand, make_commands


@click.command("new")
@click.argument("folder", type=NamedPath())
@click.option(
    "--template",
    type=click.Choice(list(TEMPLATES)),
    default="command",
    show_default=True,
    help="What it measures: " + "; ".join(f"{name}: {what}" for name, what in TEMPLATES.items()),
)
@click.option(
    "--from-command",
    "lines",
    multiple=True,
    metavar="COMMAND",
    help="Make a step of this command instead; may be given several times.",
)
@click.option("--shell", is_flag=True, help="Let /bin/sh read the commands.")
@json_option
def command(
    folder: Path, template: str, lines: tuple[str, ...], *, shell: bool, as_json: bool
) -> None:
    """Make a new case.

    FOLDER must be new, and names the case. You can execute the case as it is; the README.md beside
    it explains what to change.

    Example:
        benchyard new first
        benchyard new sorting --from-command 'sort lines.txt'
    """
    if shell and not lines:
        raise click.UsageError("--shell belongs to --from-command")
    check_folder(folder)
    if lines:
        save_case(folder, make_commands(lines, (), Surroundings(), {}, in_shell=shell), None)
    else:
        new_case(folder, template)
    file, classes = folder / "metadata.json", folder / "resources"
    own = [classes] if classes.is_dir() else []
    if as_json:
        print_json({"file": str(file), "resources": [str(one) for one in own]})
        return
    more = "".join(f" --resources {shown(one)}" for one in own)
    say(f"{shown(file)}: change it; then: benchyard run {shown(folder)}{more}")


_UNFIT = re.compile(r"[^a-z0-9]+")


def check_writable(folder: Path) -> None:
    """Refuse a folder that a case cannot be made in, before anything is executed.

    Raises:
        InputError: If something is there already, or no folder can be made there.
    """
    refuse_taken(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=folder).close()
    except OSError as error:
        raise InputError(f"--save {shown(folder)}: {error.strerror}") from error


def save_case(folder: Path, commands: Sequence[TimedCommand], stdin: Path | None) -> None:
    """Write a case with a measured step for each command.

    What surrounds a command becomes steps that are not measured. Files below the current folder
    that the commands name are copied into ``data/shared``, and listed on stderr.

    Args:
        folder: The new case's; made if it is not there.
        commands: In the order of the steps.
        stdin: What each execution reads.

    Raises:
        InputError: If something is in the folder already.
    """
    check_writable(folder)
    name = folder.resolve().name
    shared = folder / "data" / "shared"
    shared.mkdir(parents=True)
    if stdin is not None:
        shutil.copyfile(stdin, shared / stdin.name)
    inputs = _named_files(commands)
    for file in inputs:
        (shared / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, shared / file)
    if inputs:
        say(f"copied into {shown(shared)}: {', '.join(map(shown, inputs))}", err=True)
    write_page(folder)
    document: dict[str, Json] = {
        "@id": f"urn:benchyard:{_slug(name)}",
        "name": name,
        "description": f"Made from: {'; '.join(one.line for one in commands)}",
        "steps": list[Json](_steps(commands, stdin)),
    }
    write_json(folder / "metadata.json", mapped(document, escaped))


_BETWEEN_WORDS = re.compile(r"[\s'\"<>|;&()=]+")


def _named_files(commands: Sequence[TimedCommand]) -> list[Path]:
    """Return the files below the current folder that commands name, by relative path."""
    texts = [t for c in commands for t in (*c.arguments, *c.setup, *c.prepare, *c.cleanup)]
    words = {word for text in texts for word in (text, *_BETWEEN_WORDS.split(text))}
    # A longer name is more than a file system takes.
    paths = {Path(word) for word in words if len(word.encode()) <= 255}
    below = (path for path in paths if not path.is_absolute() and ".." not in path.parts)
    return sorted(filter(Path.is_file, below))


def _steps(commands: Sequence[TimedCommand], stdin: Path | None) -> list[dict[str, Json]]:
    taken: dict[str, int] = {}
    made: list[dict[str, Json]] = []
    for one in commands:
        around = {"setup": one.setup, "prepare": one.prepare}
        made += [_around(kind, words, one, taken) for kind, words in around.items() if words]
        made.append(_step(one.name, one.arguments, taken, stdin_file=stdin and stdin.name))
        if one.cleanup:
            made.append(_around("cleanup", one.cleanup, one, taken))
    return made


def _around(
    kind: str, words: Sequence[str], one: TimedCommand, taken: dict[str, int]
) -> dict[str, Json]:
    return {**_step(f"{kind} of {one.name}", words, taken), "measure": False}


def _step(
    name: str, words: Sequence[str], taken: dict[str, int], **parameters: str | None
) -> dict[str, Json]:
    given: Mapping[str, Json] = {key: value for key, value in parameters.items() if value}
    return {
        "@id": _unique(_slug(name), taken),
        "name": name,
        "resource": "Process",
        "command": "execute",
        "parameters": {"arguments": list[Json](words), **given},
    }


def _slug(text: str) -> str:
    return _UNFIT.sub("-", text.lower()).strip("-")[:60] or "command"


def _unique(slug: str, taken: dict[str, int]) -> str:
    taken[slug] = number = taken.get(slug, 0) + 1
    return slug if number == 1 else f"{slug}-{number}"
