"""The command line: errors become one sentence and an exit code here, and nowhere else."""

import os
import sys

import click

from benchyard.errors import BenchyardError, ExitCode
from flows.cli.group import cli

#: Set to show tracebacks of internal errors.
DEBUG = "BENCHYARD_DEBUG"


def main() -> None:
    """Run the command line and exit."""
    sys.exit(call(sys.argv[1:]))


def call(arguments: list[str]) -> int:
    """Run the command line with ``arguments`` and return the exit code."""
    try:
        return int(cli.main(arguments, "benchyard", standalone_mode=False) or 0)
    except click.exceptions.Exit as ending:
        return ending.exit_code
    except click.ClickException as error:
        error.show()
        return ExitCode.WRONG_INPUT
    except (click.Abort, KeyboardInterrupt):
        code, message = ExitCode.INTERRUPTED, "interrupted"
    except (BenchyardError, OSError) as error:
        code, message = _deliberate(error)
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        code, message = ExitCode.INTERNAL, _internal(error)
    click.echo(f"benchyard: {message}", err=True)
    return code


def _deliberate(error: BenchyardError | OSError) -> tuple[ExitCode, str]:
    if isinstance(error, BenchyardError):
        return error.exit_code, str(error)
    return ExitCode.CASE_FAILED, _sentence(error)


def _internal(error: Exception) -> str:
    what = f"{type(error).__name__}: {error}".partition("\n")[0]
    return f"internal error, not your fault: {what}; {DEBUG}=1 shows where, please report it"


def _sentence(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error}"
