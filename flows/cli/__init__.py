"""The command line: errors become one sentence and an exit code here, and nowhere else."""

import os
import sys

import click

from benchyard.errors import BenchyardError, ExitCode
from flows.cli.group import cli


def main() -> None:
    """Run the command line and exit."""
    sys.exit(call(sys.argv[1:]))


def call(arguments: list[str]) -> int:
    """Run the command line with ``arguments`` and return the exit code."""
    code, message = ExitCode.DONE, ""
    try:
        return int(cli.main(arguments, "benchyard", standalone_mode=False) or 0)
    except click.exceptions.Exit as ending:
        return ending.exit_code
    except click.ClickException as error:
        error.show()
        code = ExitCode.WRONG_INPUT
    except (click.Abort, KeyboardInterrupt):
        code, message = ExitCode.INTERRUPTED, "interrupted"
    except BenchyardError as error:
        code, message = error.exit_code, str(error)
    except BrokenPipeError:
        # The reader of our output (head, less) has seen enough; that is no error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        code, message = ExitCode.CASE_FAILED, _sentence(error)
    if message:
        click.echo(f"benchyard: {message}", err=True)
    return code


def _sentence(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error}"
