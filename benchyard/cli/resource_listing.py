"""``benchyard resources``: the classes, their commands, what these take."""

import json
from pathlib import Path

import click

import resources
from benchyard.case.parameters import Signature, signature_of, type_name
from benchyard.case.registry import Registry
from benchyard.case.resource import commands_of
from benchyard.cli.common import json_option, resources_option, root_option
from benchyard.cli.terminal import print_json, say, styled
from benchyard.core.model import Json
from benchyard.core.wording import hint

_PLAIN = str | int | float | bool | None


@click.command("resources")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@resources_option
@root_option
@json_option
def command(
    names: tuple[str, ...], resource_folders: tuple[Path, ...], root: Path, *, as_json: bool
) -> None:
    """List the resource classes, their commands and parameters."""
    del root  # the same for every folder; taken because every command takes it
    registry = resources.find(resource_folders)
    chosen = [name for name in sorted(registry.classes) if not names or name in names]
    unknown = [n for n in names if n not in registry.classes and n not in registry.unavailable]
    if unknown:
        raise click.UsageError(
            f"unknown resource '{unknown[0]}'{hint(unknown[0], registry.classes)}"
        )
    if as_json:
        print_json(_document(registry, chosen))
        return
    for name in chosen:
        _print(registry, name)
    for name, reason in sorted(registry.unavailable.items()):
        say(f"{name}: unavailable: {reason}")


def _document(registry: Registry, chosen: list[str]) -> Json:
    classes: list[Json] = [_class(registry, name) for name in chosen]
    gone: list[Json] = [{"name": n, "reason": r} for n, r in sorted(registry.unavailable.items())]
    return {"resources": classes, "unavailable": gone}


def _class(registry: Registry, name: str) -> Json:
    found = registry.classes[name]
    return {
        "name": name,
        "origin": registry.origins.get(name, ""),
        "description": (found.__doc__ or "").partition("\n")[0],
        "settings": signature_of(found.Settings).schema(),
        "commands": {
            word: {"description": s.summary, "parameters": s.schema()}
            for word, s in ((w, signature_of(m)) for w, m in commands_of(found).items())
        },
    }


def _print(registry: Registry, name: str) -> None:
    found = registry.classes[name]
    summary = (found.__doc__ or "").partition("\n")[0]
    say(styled(name, bold=True), f"  {summary}")
    settings = _signature_text(signature_of(found.Settings))
    if settings:
        say(f"  settings: {settings}")
    for word, method in commands_of(found).items():
        signature = signature_of(method)
        say(f"  {word}({_signature_text(signature)})")
        say(f"      {signature.summary}")
    say()


def _signature_text(signature: Signature) -> str:
    return ", ".join(_parameter(signature, name) for name in signature.annotations)


def _parameter(signature: Signature, name: str) -> str:
    kind = type_name(signature.annotations[name])
    if name in signature.required:
        return f"{name}: {kind}"
    default = signature.defaults[name]
    shown = json.dumps(default) if isinstance(default, _PLAIN) else "…"
    return f"{name}: {kind} = {shown}"
