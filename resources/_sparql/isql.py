"""What Virtuoso's command-line client is told, and what it says.

Source of what is said here of isql and of the bulk loader: the files binsrc/tests/isql.c and
libsrc/Wi/rdf_loader.sql of openlink/virtuoso-opensource.
"""

import re
from collections.abc import Sequence

from benchyard.core.errors import CommandFailedError, ProgramFailedError
from benchyard.core.redaction import redacted

#: The graph that files are loaded into, as in KROWN.
GRAPH = "http://example.com/graph"

LOADER = "rdf_loader_run();"

_LOADED = "benchyard loaded"
_FAILED = "benchyard failed"
_LIST = "DB.DBA.load_list"
#: Virtuoso 7.2.5 does not know it: its loader leaves the scheduler alone.
_SCHEDULER = (
    "select case when coalesce(__proc_exists('scheduler_interval', 2), "
    "__proc_exists('DB.DBA.scheduler_interval')) is null then 0 "
    "else exec('scheduler_interval(10)') end; "
)
#: What must follow loaders, which switch off checkpoints and the scheduler; then their account.
FINISH = (
    f"checkpoint; checkpoint_interval(60); {_SCHEDULER}"  # noqa: S608 - all of it ours
    f"select concat('{_LOADED} ', cast(count(*) as varchar)) "
    f"from {_LIST} where ll_state = 2 and ll_error is null; "
    f"select concat('{_FAILED} ', ll_file, ': ', coalesce(ll_error, 'it was not loaded')) "
    f"from {_LIST} where ll_state <> 2 or ll_error is not null;"
)

#: isql replaces ``$``, ends statements at ``;``, and SQL's texts end at quotes.
_WRONG = re.compile(r"""['"`$;\\%\x00-\x1f]""")


def isql(password: str, statements: str) -> list[str]:
    """Return the arguments that let isql execute statements.

    The password stands among them: isql takes it in no other way that works without a terminal.
    """
    return ["isql", "-U", "dba", "-P", password, f"exec={statements}"]


def register(folder: str, mask: str) -> str:
    """Return the statements that tell the loader its files, and nothing of earlier ones.

    Args:
        folder: Absolute, in the container.
        mask: Name of a file in it, in which ``*`` stands for any text.

    Raises:
        CommandFailedError: If a name has a character that isql would misread.
    """
    for name in (folder, mask):
        if found := _WRONG.search(name):
            raise CommandFailedError(
                f"Virtuoso's client cannot be told the name '{name}', which has a {found[0]!r}; "
                "rename it"
            )
    return f"delete from {_LIST}; ld_dir('{folder}', '{mask}', '{GRAPH}');"  # noqa: S608 - names were looked at


def refuse_errors(said: Sequence[str]) -> None:
    """See that isql had no error: its exit code is 0 even then.

    Args:
        said: What it wrote to either stream.

    Raises:
        CommandFailedError: If it had one.
    """
    for text in said:
        at = text.find("*** Error")
        if at >= 0:
            raise ProgramFailedError(f"Virtuoso: {' '.join(redacted(text[at:]).split())[:2000]}")


def refuse_unloaded(said: str, expected: int) -> None:
    """Read the account of ``FINISH``.

    Args:
        said: What isql wrote.
        expected: How many files must have been loaded.

    Raises:
        CommandFailedError: If others were.
    """
    # An isql that repeats the statement does not mean it.
    failed = re.search(rf"{_FAILED} (?!')(.+)", said, re.DOTALL)
    if failed:
        raise ProgramFailedError(
            f"Virtuoso could not load {' '.join(redacted(failed[1]).split())[:2000]}"
        )
    loaded = re.search(rf"{_LOADED} (\d+)", said)
    number = int(loaded[1]) if loaded else 0
    if number != expected:
        raise CommandFailedError(
            f"Virtuoso loaded {number} of {expected} files; its loader knows them by the suffixes "
            ".nt, .nq, .ttl, .rdf, .owl, .xml, .trig and these with .gz"
        )
