"""What there is to execute: ``benchyard list``, ``validate`` and ``resources``."""

from pathlib import Path

import click

import resources
from benchyard import schemas
from benchyard.case.loading import Loaded, linked_folders
from benchyard.case.parameters import Signature, signature_of, type_name
from benchyard.case.registry import Registry
from benchyard.case.resource import commands_of
from benchyard.cli.common import (
    Selection,
    case_options,
    cases_of,
    gathered,
    json_option,
    resources_option,
    root_option,
    say_passed_over,
    selection,
)
from benchyard.cli.terminal import print_json, print_table, say, styled
from benchyard.core.errors import ExitCode
from benchyard.core.model import Case, Json
from benchyard.core.quantity import plural
from benchyard.core.table import text_table
from benchyard.core.wording import hint, quote
from benchyard.results.folders import Results
from benchyard.results.krown import has_only_samples


@click.command("list")
@selection
def command(selection: Selection, *, as_json: bool) -> None:
    """List cases, their runs and their problems.

    CASE is a folder with cases below it, a name, or a glob over names; without CASE, all below
    --root.

    Example:
        benchyard list
    """
    _, loaded = selection.load()
    if not selection.cases:
        say_passed_over(linked_folders(selection.root.resolve()))
    if as_json:
        print_json([entry for item in loaded for entry in _entries(item, selection)])
        return
    if not loaded:
        say(f"no cases below {selection.root.resolve()}", err=True)
        return
    _print(loaded, selection)


def _entries(item: Loaded, selection: Selection) -> list[Json]:
    if item.problems:
        problems: list[Json] = [
            {"path": problem.path, "message": problem.message} for problem in item.problems
        ]
        return [{"name": item.name, "valid": False, "file": str(item.file), "problems": problems}]
    return [_entry(case, item.file, selection.results_of(case)) for case in item.cases]


def _entry(case: Case, file: Path, results: Path) -> Json:
    return {
        "name": case.title,
        "valid": True,
        "file": str(file),
        "description": case.description,
        "tags": list(case.tags),
        "point": dict(case.point),
        "steps": len(case.steps),
        **{f"runs_{state}": list[Json](numbers) for state, numbers in _runs(results).items()},
        "results": str(results),
    }


def _runs(results: Path) -> dict[str, list[int]]:
    """Return the numbers of the runs that are done, failed, unreadable, and KROWN's."""
    found: dict[str, list[int]] = {"done": [], "failed": [], "unreadable": [], "of_krown": []}
    for number, run in Results(results).runs(linked=True).items():
        if has_only_samples(run):
            found["of_krown"].append(number)
        elif not run.path.is_symlink():
            state = "done" if run.is_done else "unreadable" if run.is_marked else "failed"
            if state != "failed" or run.has_failed:
                found[state].append(number)
    return found


def _counts(results: Path) -> tuple[str, str]:
    """Return how many runs are done and how many are not, as the columns show them."""
    numbers = {state: len(runs) for state, runs in _runs(results).items()}
    names = {"of_krown": "KROWN's", "unreadable": "unreadable"}
    more = [f"{name}: {numbers[state]}" for state, name in names.items() if numbers[state]]
    done = str(numbers["done"]) + (f" ({', '.join(more)})" if more else "")
    return done, str(numbers["failed"] or "-")


def _print(loaded: list[Loaded], selection: Selection) -> None:
    rows = list[tuple[str, ...]]()
    base = selection.root.resolve()
    for item in loaded:
        folder = item.file.parent
        place = str(folder.relative_to(base) if folder.is_relative_to(base) else folder)
        for case in item.cases:
            folder = selection.results_of(case)
            tags = ",".join(case.tags)
            rows.append((case.title, str(len(case.steps)), *_counts(folder), tags, place))
        if item.problems:
            rows.append((quote(item.name), "-", "-", "-", "invalid", place))
    figures = ("STEPS", "DONE", "FAILED")
    print_table(text_table(("CASE", *figures, "TAGS", "FOLDER"), rows, figures))
    invalid = [item for item in loaded if item.problems]
    for item in invalid:
        first, more = item.problems[0], len(item.problems) - 1
        rest = f" (and {more} more)" if more else ""
        say(f"invalid: {first}{rest}", err=True)
    valid = len(cases_of(loaded))
    summary = f"{plural(valid, 'case')}, {len(invalid):,} invalid"
    say(summary + ("; benchyard validate shows all problems" if invalid else ""), err=True)


@click.command("validate")
@case_options
@gathered("selection", Selection)
@click.option("--schema", is_flag=True, help="Print the JSON Schema of metadata.json instead.")
@json_option
def validate(selection: Selection, *, as_json: bool, schema: bool) -> int:
    """Check cases, and report every problem at once.

    Exits with 2 if there is any problem.

    Example:
        benchyard validate mine
    """
    if schema:
        print_json(schemas.load("case"))
        return ExitCode.DONE
    _, loaded = selection.load()
    problems = dict.fromkeys(problem for item in loaded for problem in item.problems)
    valid = len(cases_of(loaded))
    invalid = sum(1 for item in loaded if item.problems)
    if as_json:
        found: list[Json] = [
            {"file": str(p.file), "path": p.path, "message": p.message} for p in problems
        ]
        print_json({"valid": valid, "invalid": invalid, "problems": found})
    else:
        for problem in problems:
            say(str(problem))
        say(f"{plural(valid, 'case')} valid, {invalid:,} invalid", err=True)
    return ExitCode.WRONG_INPUT if problems else ExitCode.DONE


@click.command("resources")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@resources_option
@root_option
@json_option
def resource_classes(
    names: tuple[str, ...], resource_folders: tuple[Path, ...], root: Path, *, as_json: bool
) -> None:
    """List resource classes, their commands and parameters.

    Example:
        benchyard resources Process
    """
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
        _print_class(registry, name)
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


def _print_class(registry: Registry, name: str) -> None:
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
    return f"{name}: {kind} = {signature.shown_default(name)}"
