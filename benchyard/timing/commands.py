"""What is timed: command lines, multiplied by parameters, with what surrounds them."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import product

from benchyard.core.errors import InputError
from benchyard.core.wording import quote

#: More variants than this are more likely a slip of the pen than a plan.
MOST_COMMANDS = 1_000
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_COMMA = re.compile(r"(?<!\\),")


@dataclass(frozen=True, slots=True)
class TimedCommand:
    """One of the commands that are compared.

    Args:
        name: Unique among them.
        line: As it was typed, parameters filled in.
        arguments: Program and arguments.
        setup: Executed once before the command's first execution; empty for none.
        prepare: Executed before each execution.
        cleanup: Executed once after the command's last execution.
        parameters: Name to value, of those that its line has.
    """

    name: str
    line: str
    arguments: Sequence[str]
    setup: Sequence[str] = ()
    prepare: Sequence[str] = ()
    cleanup: Sequence[str] = ()
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is executed around the commands, outside the clock.

    Args:
        prepare: Unmeasured, before each execution.
        setup: Once before a command's first execution.
        cleanup: Once after a command's last execution.
    """

    prepare: tuple[str, ...] = ()
    setup: str = ""
    cleanup: str = ""


def make_commands(
    lines: Sequence[str],
    names: Sequence[str],
    around: Surroundings,
    parameters: Mapping[str, Sequence[str]],
    *,
    in_shell: bool,
) -> list[TimedCommand]:
    """Multiply command lines by the parameters that stand in them as ``{name}``.

    Args:
        lines: As typed.
        names: One for each line, in their order; fewer are taken for the first ones.
        around: What is executed around them.
        parameters: Name to values.
        in_shell: Whether ``/bin/sh`` reads the lines.

    Raises:
        InputError: If something cannot be meant.
    """
    _refuse(lines, names, around, parameters)
    made: list[TimedCommand] = []
    for at, line in enumerate(lines):
        prepare = around.prepare[at if len(around.prepare) > 1 else 0] if around.prepare else ""
        typed = (line, around.setup, prepare, around.cleanup)
        given = names[at] if at < len(names) else ""
        made += [
            _filled(typed, given, point, in_shell=in_shell) for point in _points(typed, parameters)
        ]
    if len(made) > MOST_COMMANDS:
        raise InputError(f"{len(made):,} commands: at most {MOST_COMMANDS:,} can be compared")
    return _distinct(made)


def _refuse(
    lines: Sequence[str],
    names: Sequence[str],
    around: Surroundings,
    parameters: Mapping[str, Sequence[str]],
) -> None:
    problems: list[str] = []
    if len(names) > len(lines):
        problems.append(f"{len(names)} names for {len(lines)} commands")
    if len(around.prepare) not in {0, 1, len(lines)}:
        problems.append(
            f"--prepare is given {len(around.prepare)} times: once for all, or for each of the "
            f"{len(lines)} commands"
        )
    problems += [
        f"no command has {{{name}}}: write it where --parameter {name} is to go"
        for name in parameters
        if not any(f"{{{name}}}" in line for line in lines)
    ]
    if problems:
        raise InputError("; ".join(problems))


def _points(
    typed: Sequence[str], parameters: Mapping[str, Sequence[str]]
) -> list[Mapping[str, str]]:
    used = [name for name in parameters if any(f"{{{name}}}" in text for text in typed)]
    values = product(*(parameters[name] for name in used))
    return [dict(zip(used, point, strict=True)) for point in values]


def _filled(
    typed: Sequence[str], given: str, point: Mapping[str, str], *, in_shell: bool
) -> TimedCommand:
    line, setup, prepare, cleanup = (_substituted(text, point) for text in typed)
    name = _substituted(given, point)
    if given and point and name == given:
        name += f"[{','.join(f'{key}={value}' for key, value in point.items())}]"
    words = (
        _words(text, in_shell=in_shell) if text or text is line else ()
        for text in (line, setup, prepare, cleanup)
    )
    return TimedCommand(name or line, line, *words, parameters=point)


def _substituted(text: str, point: Mapping[str, str]) -> str:
    """Put all values in at once: a value that reads ``{other}`` is text."""
    return _PLACEHOLDER.sub(lambda place: point.get(place[1], place[0]), text)


def _words(text: str, *, in_shell: bool) -> Sequence[str]:
    if in_shell:
        return ("/bin/sh", "-c", text)
    try:
        words = shlex.split(text)
        marks = shlex.shlex(text, posix=True, punctuation_chars="|&;<>")
        marks.whitespace_split = True
        operator = next((word for word in marks if word and set(word) <= set("|&;<>")), "")
    except ValueError as error:
        raise InputError(f"'{quote(text)}': {str(error).lower()}") from error
    # In quotes it is a word like any other.
    if operator and f"'{operator}'" not in text and f'"{operator}"' not in text:
        raise InputError(f"'{quote(text)}': only a shell understands {operator}; add --shell")
    if not words:
        raise InputError("a command is empty")
    return words


def _distinct(commands: Sequence[TimedCommand]) -> list[TimedCommand]:
    """Number the names that several commands have."""
    seen: dict[str, int] = {}
    distinct: list[TimedCommand] = []
    for one in commands:
        seen[one.name] = number = seen.get(one.name, 0) + 1
        name = one.name if number == 1 else f"{one.name} ({number})"
        distinct.append(replace(one, name=name))
    return distinct


def parse_parameter(text: str) -> tuple[str, list[str]]:
    """Read ``name=1,2,4``; a backslash before a comma makes it a part of the value.

    Raises:
        InputError: If it is not written so.
    """
    name, mark, values = text.partition("=")
    found = [value.strip().replace("\\,", ",") for value in _COMMA.split(values)]
    if not (mark and name.strip().isidentifier() and all(found)):
        raise InputError(f"'{quote(text)}': write a parameter as name=1,2,4 (a comma in one: \\,)")
    return name.strip(), found


def parse_range(name: str, text: str) -> tuple[str, list[str]]:
    """Read ``1..8`` or ``0.5..2..0.5``: the name, and the values from first to last, both included.

    Raises:
        InputError: If it is not written so, or has too many values.
    """
    problem = InputError(
        f"'{quote(text)}': write a range of {name} as 1..8 or 1..8..2, first..last..step"
    )
    try:
        first, last, *steps = map(Decimal, text.split(".."))
        step = steps[0] if steps else Decimal(1)
        steps_between = (last - first) / step
        if len(steps) > 1 or steps_between < 0:
            raise problem
        if steps_between >= MOST_COMMANDS:
            raise InputError(f"'{quote(text)}': a range has at most {MOST_COMMANDS:,} values")
    except (ValueError, ArithmeticError) as error:
        raise problem from error
    return name, [str(first + at * step) for at in range(int(steps_between) + 1)]
