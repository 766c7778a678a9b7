"""Every deliberate exception, and the exit codes that they end in.

The text of an error says what went wrong, where, and what to do. All of them survive pickling:
each takes its arguments by position and hands them to ``Exception``.
"""

from collections.abc import Sequence
from enum import IntEnum
from importlib.machinery import ModuleSpec
from importlib.util import find_spec


class ExitCode(IntEnum):
    """What the command line answers to the shell.

    Where several apply, it is the first of 4, 2, 1, 3, 5, 0.

    Codes:
        0: Done.
        1: A case failed, or Benchyard could not work: host taken, no server, full disk.
        2: The input is wrong: a case, an option, a name or a folder.
        3: Something is worse than its baseline (`compare`, `--baseline`, `reproduce`, `confirm`).
        4: A bug of Benchyard. `BENCHYARD_DEBUG=1` shows where.
        5: Nothing was judged, or something lost (`--strict`); cannot tell (`bisect`, `confirm`).
        130: Interrupted, by Ctrl-C or a signal.
    """

    DONE = 0
    CASE_FAILED = 1
    WRONG_INPUT = 2
    REGRESSION = 3
    INTERNAL = 4
    CANNOT_TELL = 5
    INTERRUPTED = 130


class BenchyardError(Exception):
    """The root of all deliberate errors."""

    exit_code = ExitCode.CASE_FAILED


class InputError(BenchyardError):
    """The input is wrong: an option, a name or a folder."""

    exit_code = ExitCode.WRONG_INPUT


class WrongFileError(InputError, OSError):
    """A file is none that can be read: a pipe, a device, a socket, or too large.

    Args:
        number: Of the system's error.
        why: What it is, to be said behind its name.
        path: The file.
    """

    def __init__(self, number: int, why: str, path: str) -> None:
        super().__init__(number, why, path)

    def __str__(self) -> str:
        return f"{self.filename} {self.strerror}"


class NotFoundError(InputError):
    """What is asked for is not there."""


class CaseError(InputError):
    """Cases are declared wrongly. Carries every problem of every case as text.

    Args:
        problems: One sentence each: file, JSON path, what is wrong, what to do.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(tuple(problems))
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(self.problems)


class SettingsError(InputError):
    """Settings of a resource are invalid.

    Args:
        wrong: Name of a setting and what is wrong with it, for each.
    """

    def __init__(self, wrong: Sequence[tuple[str, str]]) -> None:
        super().__init__(tuple(wrong))
        self.wrong = tuple(wrong)

    def __str__(self) -> str:
        return "; ".join(message for _, message in self.wrong)


class ResourceError(BenchyardError):
    """A resource failed."""


class NotReadyError(ResourceError):
    """A resource did not come up, or died while it started."""


class CommandFailedError(ResourceError):
    """A command ran and failed.

    Args:
        message: What failed and how, with the tail of what it said on stderr.
        exit_status: Its exit code; negative for a signal; None where there is none.
    """

    def __init__(self, message: str, exit_status: int | None = None) -> None:
        super().__init__(message, exit_status)
        self.message = message
        self.exit_status = exit_status

    def __str__(self) -> str:
        return self.message


class ProgramFailedError(CommandFailedError):
    """A program's own answer that it failed; ``expect_failure`` means this, and nothing else.

    Either it ended by itself with another exit code than it should, or, as a server does, refused
    what it was asked. What never began, was killed or went away has not answered.
    """


class CommandTimedOutError(ResourceError):
    """A command was stopped at its deadline."""


class CheckFailedError(ResourceError):
    """A command succeeded and its output is not what the case says it must be."""


#: What a shell, and Docker, add to the number of a signal. Source: bash(1), EXIT STATUS.
SIGNALLED = 128
_SIGNALS = 64


def program_failed(message: str, exit_status: int) -> CommandFailedError:
    """Return the error for a program that ended with an exit code that it should not.

    Args:
        exit_status: As in ``CommandFailedError``. A code by which shells tell of a signal counts as
            that signal, and 0 is no failure of the program's own.
    """
    if exit_status <= 0 or SIGNALLED < exit_status <= SIGNALLED + _SIGNALS:
        return CommandFailedError(message, exit_status)
    return ProgramFailedError(message, exit_status)


def retold(error: CommandFailedError, message: str) -> CommandFailedError:
    """Return a failure of the same class and exit status with another message."""
    kind = ProgramFailedError if isinstance(error, ProgramFailedError) else CommandFailedError
    return kind(message, error.exit_status)


class StepFailedError(BenchyardError):
    """A step's attempt failed; the record holds the details."""


class StepNotBegunError(BenchyardError):
    """A step is not tried: one that it needs did not succeed, or the run is being stopped."""


class CaseFailedError(BenchyardError):
    """At least one run of a case failed."""


class RunInterruptedError(BenchyardError):
    """The user asked to stop; what was finished is kept."""

    exit_code = ExitCode.INTERRUPTED


class TestbedBusyError(BenchyardError):
    """Another process measures on this host, and the user does not want to wait."""

    __test__ = False  # keeps pytest from collecting a class that is named Test…


class RecordError(BenchyardError):
    """A result file is missing, damaged or of a version that this Benchyard cannot read."""


class MeasurementError(BenchyardError):
    """Measuring itself failed: no sampler, no samples, a broken clock."""


class SinkError(BenchyardError):
    """Publishing, or reading back what was published, did not work."""


class SinkUnavailableError(SinkError):
    """A sink does not answer, or says to come back later; nothing is lost, it may work later.

    Args:
        text: What happened.
        after_s: In how many seconds the sink wishes to be asked again, if it said so.
    """

    def __init__(self, text: str, after_s: float | None = None) -> None:
        super().__init__(text, after_s)
        self.after_s = after_s

    def __str__(self) -> str:
        return str(self.args[0])


class UnreachableError(SinkUnavailableError):
    """The address cannot be reached: no such host, port or route."""


class DocumentRejectedError(SinkError):
    """A document that can never be published: broken, of another kind, or too large."""


def require_extra(extra: str, module: str, use: str, instead: str) -> ModuleSpec:
    """Find a library that only an extra of the package installs; import nothing.

    Args:
        extra: Name of the extra.
        module: What will be imported.
        use: What needs it, the subject of the sentence.
        instead: What to do without it, behind "or".

    Raises:
        InputError: If it is not installed.
    """
    found = find_spec(module)
    if found is None:
        library = module.replace(".", "-")
        raise InputError(f"{use} needs {library}: pip install 'benchyard[{extra}]', or {instead}")
    return found
