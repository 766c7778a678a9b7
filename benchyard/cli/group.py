"""The list of commands; each is imported when it is called, so that help and lists are quick."""

import importlib
import logging
import sys
from functools import partial
from inspect import cleandoc
from io import TextIOWrapper

import click

from benchyard import __version__
from benchyard.cli.option_types import outputs_of
from benchyard.cli.terminal import LogLines, say
from benchyard.core.errors import ExitCode

#: Heading to the commands below it, each with its module and its line in the help.
_GROUPS = {
    "Find out what is faster": {
        "time": ("timing", "Time commands against each other, and rank them."),
        "run": ("running", "Execute cases under measurement."),
        "compare": ("comparing", "Compare candidates with a baseline, and judge each difference."),
        "check": ("checking", "Check the newest campaign against the campaigns before it."),
        "alarms": ("alarms", "Confirm what seems slower, within a budget of false alarms."),
        "annotate": ("annotating", "Accept changes of level, or ignore them for a while."),
        "bisect": ("bisecting", "Find the commit, or other version, that made a command slower."),
        "confirm": ("bisecting", "Confirm that BAD is slower than GOOD, by up to 30 pairs."),
    },
    "Prepare cases": {
        "new": ("creating", "Make a new case."),
        "list": ("listing", "List cases, their runs and their problems."),
        "validate": ("listing", "Check cases, and report every problem at once."),
        "resources": ("listing", "List resource classes, their commands and parameters."),
        "doctor": ("doctor", "Check what on this host disturbs measurements, and how to fix it."),
    },
    "Execute many": {
        "suite": (
            "suite",
            "Execute many cases in one flow run: changed or stale ones, here or on testbeds.",
        ),
    },
    "Understand results": {
        "stats": ("stats", "Show and update the statistics of finished runs."),
        "plot": ("plot", "Plot results, or what was sampled during a run."),
        "trace": ("trace", "Write a timeline of runs, or of traces of other tools."),
        "profile": (
            "profile",
            "Sum up traces by name, or compare two sets of traces.",
        ),
        "graph": ("graphing", "Show what nodes and runs spent their time on."),
        "failures": ("failures", "List what failed and was retried, the most fragile steps first."),
        "serve": ("serving", "Show results in a browser."),
    },
    "Hand on": {
        "report": ("reporting", "Write results as one HTML file to send, print and read back."),
        "export": ("exporting", "Write results for spreadsheets, data frames and papers."),
        "import": ("importing", "Keep files of other benchmark tools as campaigns of a case."),
        "pack": ("packing", "Pack cases and their results into one file."),
        "reproduce": ("packing", "Measure a pack again on this host, and compare."),
    },
    "Publish": {
        "publish": ("publishing", "Upload waiting results, and move them to the archive."),
        "history": ("history", "Show since when each step is at its level, campaign by campaign."),
    },
    "Run a lab": {
        "up": ("up", "Start a lab on this machine: server, deployments, workers, explorer."),
        "worker": ("up", "Measure on this machine for a lab that runs elsewhere."),
        "deploy": (
            "up",
            "Register work pools, deployments and cases on the Prefect server.",
        ),
    },
    "Set up and tidy up": {
        "config": ("project_file", "Show the defaults that benchyard.toml gives to options."),
        "completion": ("project_file", "Print the completion script of a shell."),
        "clean": ("cleaning", "Remove the results of cases, and nothing else."),
    },
}
#: Command to the module of this room that has it, and its line: in the list of commands, at the top
#: of its help, and in the docs' reference.
COMMANDS = {name: line for group in _GROUPS.values() for name, line in group.items()}
#: Command to the names that its options had a version ago, which still work: to their names now.
OLD_NAMES = {
    "run": {"metrics": "openmetrics"},
    "suite": {"metrics": "openmetrics"},
    "compare": {"plan": "dry-run"},
    "plot": {"steps": "step", "reference": "ratio-to", "out": "output"},
    "trace": {"out": "output"},
    "profile": {"against": "candidate", "flame": "output"},
    "graph": {"pool": "batch-pool", "out": "output"},
    "report": {"keep": "data", "out": "output"},
    "export": {"out": "output"},
    "pack": {"out": "output"},
    "reproduce": {"check": "dry-run"},
    "publish": {"again": "force"},
    "history": {"host": "machine", "all-hosts": "all-machines", "plot": "output"},
    "up": {"host-name": "host", "name": "testbed", "tag": "testbed-tag"},
    "worker": {"name": "testbed", "tag": "testbed-tag"},
}


def current_name(command: str, option: str) -> str:
    """Return the present name of a command's option, without dashes."""
    return OLD_NAMES.get(command, {}).get(option, option)


class LazyGroup(click.Group):
    """A group whose commands are imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order of use."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command; its help begins with its line here, and ends with its examples."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        room, line = COMMANDS[cmd_name]
        members = vars(importlib.import_module(f"benchyard.cli.{room}")).values()
        commands = (one for one in members if isinstance(one, click.Command))
        command = next(one for one in commands if one.name == cmd_name)
        command.context_settings["token_normalize_func"] = partial(current_name, cmd_name)
        text, _, examples = cleandoc(command.help or "").partition("\n\nExample:\n")
        if examples:
            command.help = "\n\n".join([line, *text.split("\n\n")[1:]])
            command.epilog = f"\b\nExample:\n{examples}"
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest the nearest command, or the commands of the group whose heading has the word."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from benchyard.core.wording import hint  # noqa: PLC0415 - only on a slip of the pen

            named = (title for title in _GROUPS if args[0].lower() in title.lower().split())
            groups = (f"; {title}: {', '.join(_GROUPS[title])}" for title in named)
            text = next(groups, None) or hint(args[0], COMMANDS)
            raise click.UsageError(f"no command '{args[0]}'{text}", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Say at the end which outputs could not be written; the others are."""
        try:
            code = super().invoke(ctx)
        finally:
            errors = [output.error for output in outputs_of(ctx) if output.error]
            for error in errors:
                say(f"benchyard: {error.filename}: {error.strerror}", err=True)
        return ExitCode.CASE_FAILED if errors and code != ExitCode.INTERRUPTED else code

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by what they are for, without importing them."""
        del ctx
        for title, group in _GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name, line) for name, (_, line) in group.items()])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 1 a case failed, 2 wrong input, 3 regression, 4 internal error, "
    "5 nothing could be judged (--strict), 130 interrupted.",
)
@click.version_option(__version__, "-V", "--version", prog_name="benchyard")
@click.option(
    "--config",
    envvar="BENCHYARD_CONFIG",
    metavar="FILE",
    help="Take defaults of options from this file, not from the nearest benchyard.toml.",
)
@click.option("--no-config", is_flag=True, help="Take defaults of options from no file.")
@click.pass_context
def cli(context: click.Context, config: str | None, *, no_config: bool) -> None:
    """Benchyard: a benchmark lab for numbers that can be defended.

    A case is a folder with a metadata.json; benchyard executes it several times under measurement.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # Names of files may be no Unicode, and a terminal may not have every character.
            stream.reconfigure(errors="backslashreplace")
    logging.lastResort = LogLines(logging.WARNING)
    if not no_config:
        _take_defaults(context, config)


def _take_defaults(context: click.Context, given: str | None) -> None:
    """Make what the project file says the defaults of the command's options."""
    from benchyard.cli import project_file  # noqa: PLC0415 - help does without

    file = project_file.load_project_file(given)
    if file is not None:
        name = context.invoked_subcommand or ""
        names = list(COMMANDS) if name == "config" else [name]
        project_file.apply(file, context, COMMANDS, names)
