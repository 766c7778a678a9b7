"""The command line: errors become one sentence and an exit code here, and nowhere else."""

import sys

import click

from benchyard.errors import BenchyardError, ExitCode
from flows.cli.group import cli


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
        click.echo("benchyard: interrupted", err=True)
        return ExitCode.INTERRUPTED
    except BenchyardError as error:
        click.echo(f"benchyard: {error}", err=True)
        return error.exit_code
    except BrokenPipeError:
        # The reader of our output (head, less) has seen enough; that is no error.
        sys.stderr.close()
        return ExitCode.DONE
    except OSError as error:
        click.echo(f"benchyard: {_sentence(error)}", err=True)
        return ExitCode.CASE_FAILED


def _sentence(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error}"
