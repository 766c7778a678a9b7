"""``benchyard completion``: the script that makes a shell complete commands and options."""

import click
from click.shell_completion import get_completion_class

from benchyard.cli import group
from benchyard.cli.terminal import say


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of a shell.

    For bash: benchyard completion bash > ~/.local/share/bash-completion/completions/benchyard
    """
    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"no completion for {shell}")
    say(found(group.cli, {}, "benchyard", "_BENCHYARD_COMPLETE").source())
