"""``benchyard validate``: every problem of every case at once."""

import click

from benchyard import schemas
from benchyard.cli.common import Selection, cases_of, selection
from benchyard.cli.terminal import print_json, say
from benchyard.core.errors import ExitCode
from benchyard.core.model import Json
from benchyard.core.quantity import plural


@click.command("validate")
@selection
@click.option("--schema", is_flag=True, help="Print the JSON Schema of metadata.json instead.")
def command(
    selection: Selection,
    *,
    as_json: bool,
    schema: bool,
) -> int:
    """Check cases and report every problem at once. Exit code 2 if there is any."""
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
