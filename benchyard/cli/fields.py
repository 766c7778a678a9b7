"""Options that are made of the fields of dataclasses, and listed under headings in the help."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, replace
from enum import Enum
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

import click

from benchyard.cli.option_types import CommandT, NamedPath, OneOf, Percent, Seconds, Whole
from benchyard.core.fields import Described, Share, described


class Command(click.Command):
    """A command whose options are listed under headings.

    Args:
        headings: Heading to the options below it, by the names of their arguments. Options without
            a heading come last.
    """

    def __init__(
        self, *given: Any, headings: Mapping[str, Sequence[str]] | None = None, **more: Any
    ) -> None:
        super().__init__(*given, **more)
        self._headings = headings or {}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options under their headings."""
        options = [one for one in self.get_params(ctx) if isinstance(one, click.Option)]
        lines = {one.name or "": one.get_help_record(ctx) for one in options}
        sections = [
            (title, [lines.pop(name) for name in names if name in lines])
            for title, names in self._headings.items()
        ]
        last = "Other options" if self._headings else "Options"
        for title, records in (*sections, (last, list(lines.values()))):
            shown = [record for record in records if record]
            if shown:
                with formatter.section(title):
                    formatter.write_dl(shown)


def field_options(
    kind: type, *names: str, **own: Mapping[str, Any]
) -> Callable[[CommandT], CommandT]:
    """Add an option for each of some fields: its type, default and help are those of the field.

    Args:
        kind: The dataclass.
        names: Fields, in the order of the help.
        own: Field to the settings of its option that differ, as ``click.option`` takes them.
    """

    def add(command: CommandT) -> CommandT:
        for name in reversed(names):
            settings = {**_settings(described(kind)[name]), **own.get(name, {})}
            word = name.removesuffix("s") if settings.get("multiple") else name
            if not {"type", "is_flag"} & {*settings}:
                settings.setdefault("metavar", word.upper())
            command = click.option(f"--{word.replace('_', '-')}", name, **settings)(command)
        return command

    return add


def _settings(field: Described) -> dict[str, Any]:
    settings = {"help": field.meaning, **_type(field)}
    default: Any = field.default.value if isinstance(field.default, Enum) else field.default
    default = str(default) if isinstance(default, Path) else default
    if default not in (None, (), MISSING):
        is_share = isinstance(settings.get("type"), Percent)
        shown = f"{100 * default:g}%" if is_share else default
        settings |= {"default": shown, "show_default": bool(default)}
    return settings


def _type(field: Described) -> dict[str, Any]:
    """Return what ``click.option`` makes of a type."""
    plain = _without_annotations(field.hint)
    span: tuple[Any, ...] = (field.bounds.least, field.bounds.most) if field.bounds else ()
    if plain is bool:
        return {"is_flag": True}
    if get_origin(plain) is tuple:
        return {**_type(replace(field, hint=get_args(plain)[0])), "multiple": True}
    if get_origin(plain) is Literal:
        return {"type": click.Choice(get_args(plain))}
    if isinstance(plain, type) and issubclass(plain, Enum):
        return {"type": OneOf(plain)}
    if plain is Path:
        return {"type": NamedPath()}
    if plain is int:
        return {"type": Whole(*map(int, span))}
    if plain is float:
        return {"type": Percent(inside=True) if Share() in field.annotations else Seconds(*span)}
    return {}


def _without_annotations(hint: Any) -> Any:
    """Return the type of a value that is given."""
    if get_origin(hint) is Annotated:
        return _without_annotations(get_args(hint)[0])
    given = [one for one in get_args(hint) if one is not NoneType]
    optional = NoneType in get_args(hint)
    return _without_annotations(given[0]) if optional else hint
