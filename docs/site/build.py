"""Build the site: ``python -m docs.site.build`` copies docs, generates references, calls Zensical.

What is generated is what the program itself says: its help, its schemas, its docstrings.
"""

import inspect
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import dedent
from types import FunctionType
from typing import Any, cast

import click

import benchyard.resource
import resources
from benchyard import schemas
from benchyard.case import parameters as annotations
from benchyard.case import resource as contract
from benchyard.catalogue import catalogue, explain, query
from benchyard.cli import group
from benchyard.core.errors import ExitCode
from benchyard.host import checks

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
REPOSITORY = "https://github.com/benchyard/benchyard"
#: Where ``mkdocs.yml`` looks for pages, and where it puts the site.
PAGES, SITE = ROOT / "build/pages", ROOT / "build/site"

_LINK = re.compile(r"(\]\()(?![a-z]+:|#)([^)#\s]+)")
_HEADING = re.compile(r"^(\w+):$", re.MULTILINE)
_ARGUMENT = re.compile(r"^    (\*{0,2}\w+): ", re.MULTILINE)


class MarkdownFormatter(click.HelpFormatter):
    """Writes a command's help as Markdown, with a table for each of its groups of options."""

    def write_usage(self, prog: str, args: str = "", *_: Any, **__: Any) -> None:
        """Write the usage as a block."""
        self.write(f"```text\n{prog} {args}\n```\n")

    def write_heading(self, heading: str) -> None:
        """Write the name of a group of options."""
        self.write(f"**{heading}**\n")

    def write_text(self, text: str) -> None:
        """Write paragraphs; one that keeps its lines is a title and a block."""
        for part in inspect.cleandoc(text).split("\n\n"):
            title, _, code = part.removeprefix("\b\n").partition(":\n")
            block = f"**{title}**\n\n```sh\n{dedent(code)}\n```\n\n"
            self.write(block if part[:1] == "\b" else f"{_escaped(part)}\n\n")

    def write_dl(self, rows: Iterable[tuple[str, str]], *_: Any, **__: Any) -> None:
        """Write a list of terms as a table; a command is a link to its section."""
        cells = (
            (f"[{a}](#{a})" if a in group.COMMANDS else f"`{a}`", _escaped(b)) for a, b in rows
        )
        self.write(_table("name", "meaning", rows=cells))


def _escaped(text: str) -> str:
    return re.sub(r"([<*|])", r"\\\1", text)


def _table(*heads: str, rows: Iterable[Sequence[str]]) -> str:
    lines = [" | ".join(" ".join(cell.split()) for cell in row) for row in rows]
    lines = [" | ".join(heads), " | ".join("---" for _ in heads), *lines] if lines else []
    return "\n" + "".join(f"| {line} |\n" for line in lines) + "\n"


def _commands() -> Iterator[str]:
    root = click.Context(group.cli, info_name="benchyard", **group.cli.context_settings)
    yield f"# Commands\n\n{_help(group.cli, root)}"
    for name in group.COMMANDS:
        if command := group.cli.get_command(root, name):
            context = click.Context(command, info_name=name, parent=root)
            yield f"## {name}\n\n{_help(command, context)}"


def _help(command: click.Command, context: click.Context) -> str:
    formatter = MarkdownFormatter()
    command.format_help(context, formatter)
    return formatter.getvalue()


def _schemas(title: str, *names: str) -> Iterator[str]:
    yield f"# {title}\n\n"
    for document in map(schemas.load, names):
        definitions = cast("dict[str, Any]", document.get("$defs", {}))
        for heading, schema in ((str(document["title"]), document), *definitions.items()):
            yield from _schema(heading, schema)


def _schema(heading: str, schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the section of a schema, then those of the objects in it."""
    members: Mapping[str, Any] = schema.get("properties", {})
    yield f"## {heading}\n\n{_escaped(schema.get('description', ''))}\n"
    marks = dict.fromkeys(schema.get("required", ()), ", required")
    rows = (
        (f"`{key}`{marks.get(key, '')}", _type(one), _escaped(one.get("description", "")))
        for key, one in members.items()
    )
    yield _table("key", "type", "meaning", rows=rows) if members else f"\n{_type(schema)}\n\n"
    for key, one in members.items():
        yield from _schema(f"{heading}: {key}", one) if "properties" in one else ()


def _type(schema: Mapping[str, Any]) -> str:
    match schema:
        case {"$ref": str(place)}:
            name = place.rpartition("/")[2]
            return f"[{name}](#{name.lower()})"
        case {"enum": values} | {"const": values}:
            return " or ".join(f"`{one}`" for one in (values if "enum" in schema else [values]))
        case {"anyOf": kinds}:
            return " or ".join(dict.fromkeys(map(_type, kinds)))
        case {"type": "array", "items": item}:
            return f"list of {_type(item)}"
        case {"type": [*kinds]}:
            return " or ".join(kinds)
        case _:
            return schema.get("type", "anything")


def _resource_classes() -> Iterator[str]:
    yield "# Resource classes\n\n[Resources](resources.md) says how a case uses them.\n\n"
    for name, found in sorted(resources.find(()).classes.items()):
        yield f"## {name}\n\n{_docstring(found)}\n"
        yield (
            _signature("setting", found.Settings)
            if found.Settings is not contract.NoSettings
            else ""
        )
        for word, method in contract.commands_of(found).items():
            yield f"### {name}: {word}\n\n{_signature('parameter', method)}"


def _signature(head: str, target: Callable[..., Any]) -> str:
    signature = annotations.signature_of(target)
    rows = (
        (
            f"`{name}`",
            _escaped(annotations.type_name(kind)),
            f"`{signature.shown_default(name)}`" if name in signature.defaults else "required",
        )
        for name, kind in signature.annotations.items()
    )
    return _docstring(target) + _table(head, "type", "default", rows=rows)


def _doctor_checks() -> Iterator[str]:
    yield "# Doctor's checks\n\n[The doctor](../explanation/doctor.md) says how to use them.\n"
    texts = ((name, _escaped(inspect.getdoc(check) or "")) for name, check in checks.CHECKS.items())
    rows = ((name, *text.partition("\n")[::2]) for name, text in texts)
    yield _table("check", "what it does", "more", rows=rows)


def _api() -> Iterator[str]:
    yield "# Python API\n\n"
    for module, name in _PUBLIC:
        target = getattr(module, name)
        yield f"## {name}\n\n`from {module.__name__} import {name}`\n\n{_docstring(target)}"
        members = inspect.getmembers(target, lambda one: isinstance(one, FunctionType | property))
        rows = (
            (f"`{key}`", _docstring(one).partition("\n")[0])
            for key, one in members
            if key[0] != "_"
        )
        yield _table("member", "meaning", rows=rows)


def _docstring(target: Any) -> str:
    """Return a docstring of Google's style as Markdown."""
    text = _HEADING.sub(r"**\1**\n", inspect.getdoc(target) or "")
    return _ARGUMENT.sub(r"- `\1`: ", text) + "\n"


_PUBLIC = (
    *((benchyard.resource, name) for name in benchyard.resource.__all__),
    *((query, name) for name in ("EntryQuery", "Condition", "Operator")),
    *((catalogue, "Catalogue"), (explain, "ExplainManager")),
)
#: Page of the reference to what yields its text.
GENERATED: Mapping[str, Callable[[], Iterable[str]]] = {
    "commands": _commands,
    "metadata": lambda: _schemas("metadata.json", "case"),
    "run-json": lambda: _schemas("run.json and summary.json", "run", "counters", "summary"),
    "resource-classes": _resource_classes,
    "doctor-checks": _doctor_checks,
    "exit-codes": lambda: ["# Exit codes\n\n", _docstring(ExitCode)],
    "api": _api,
}


def make_pages(target: Path) -> None:
    """Make the site's pages: docs without decisions, and the generated references."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(DOCS, target, ignore=shutil.ignore_patterns("decisions*", "*.py", "site"))
    for name, generate in GENERATED.items():
        text = "".join(generate())
        (target / "reference" / f"{name}.md").write_text(text, encoding="utf-8")
    for page in target.rglob("*.md"):
        text = _LINK.sub(lambda found, page=page: _outside(found, page, target), page.read_text())
        page.write_text(text, encoding="utf-8")


def _outside(link: re.Match[str], page: Path, pages: Path) -> str:
    """Return a link, to the repository if the site does not have what it leads to."""
    if (page.parent / link[2]).exists():
        return link[0]
    place = (DOCS / page.relative_to(pages)).parent / link[2]
    return f"{link[1]}{REPOSITORY}/blob/main/{place.resolve().relative_to(ROOT)}"


def main() -> int:
    """Build the site into ``build/site``; return Zensical's exit code."""
    make_pages(PAGES)
    words = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    return subprocess.run(words, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
