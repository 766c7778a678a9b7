"""The contract between the lab and what a case drives.

The life of a resource in one run, always in this order: construct (stores, never acts),
``initialize`` (one-time work that stays unmeasured), ``start``, ``wait_until_ready``, commands on
this one live instance, ``stop``. ``stop`` is called once whenever ``start`` was, even if ``start``
raised; resources stop in the reverse of the order in which they started.

After ``abort`` (a timeout, a cancellation), or when the instance says that it is not ``alive``, it
is stopped, and a new one on the same scratch folder starts when the next command needs it. A
``concurrent`` class goes on after the command of one step was aborted.

Methods return data or raise a ``ResourceError``; they never return success flags. A resource never
times itself: the lab does, around the command alone.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, TypeVar

from benchyard.case.workspace import Workspace
from benchyard.core.errors import ResourceError
from benchyard.core.model import Json, JsonObject
from benchyard.process.cgroups import Cgroup
from benchyard.process.usage import Ended, Life

CommandT = TypeVar("CommandT", bound=Callable[..., Any])

_MARK = "__benchyard_command__"


class FileRole(Enum):
    """How a command uses a file that a parameter names."""

    INPUT = "input file"
    INPUT_FOLDER = "input folder"
    OUTPUT = "output file"
    OUTPUT_FOLDER = "output folder"
    SCRATCH_FOLDER = "scratch folder"


#: A file in ``data/shared``, or one that an earlier step of the run made.
InputFile = Annotated[str, FileRole.INPUT]
#: A folder in ``data/shared``, or one that an earlier step of the run made.
InputFolder = Annotated[str, FileRole.INPUT_FOLDER]
#: Roles of what a command reads; it makes what has another one.
READ = (FileRole.INPUT, FileRole.INPUT_FOLDER)
#: A file that the command makes; it is moved to the run's results.
OutputFile = Annotated[str, FileRole.OUTPUT]
#: A folder that the command fills; it is moved to the run's results.
OutputFolder = Annotated[str, FileRole.OUTPUT_FOLDER]
#: A folder that the command fills for later steps; it goes away with the run.
ScratchFolder = Annotated[str, FileRole.SCRATCH_FOLDER]


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What a command returns beside its files.

    Args:
        values: Facts for the record, such as ``rows`` or ``exit_code``.
        output: What ``check`` looks at when the step declares no output file.
        verify: Checks the answer once nothing is measured any more; returns further values, or
            raises if the answer is wrong.
    """

    values: Mapping[str, Json] = field(default_factory=dict[str, Json])
    output: Path | None = None
    verify: Callable[[], Mapping[str, Json]] | None = None

    def verified(self) -> "CommandResult":
        """Return the result with the values that ``verify`` adds.

        Raises:
            ResourceError: If the answer is wrong.
        """
        if self.verify is None:
            return self
        return CommandResult({**self.values, **self.verify()}, self.output)


@dataclass(frozen=True, slots=True)
class NoSettings:
    """The settings of classes without settings."""


SettingsT = TypeVar("SettingsT")


class Resource(ABC, Generic[SettingsT]):
    """A system that steps drive; one instance serves one run, in the order above."""

    #: Frozen dataclass with defaults: what a case may set under ``resources``.
    Settings: ClassVar[type[Any]] = NoSettings
    #: Whether two commands may be under way on one instance at the same time.
    concurrent: ClassVar[bool] = False
    #: Whether commands let programs work that are not its own, such as those that ask it.
    works_beside: ClassVar[bool] = False
    #: Folders in the repositories of what is measured, from the class's module on.
    repositories: ClassVar[Sequence[str]] = ()

    def __init__(self, settings: SettingsT, workspace: Workspace) -> None:
        self.settings = settings
        self.workspace = workspace
        self._hear_of_change: Callable[[], None] | None = None

    @classmethod
    def remove_leftovers(cls) -> list[str]:
        """Remove what runs of dead labs left of this class, other than processes.

        Called before each run for every class of the case. Only what carries our labels and
        whose owner is gone may be removed (``benchyard.process.labels.owner_is_alive``).

        Returns:
            What was removed, for the log.
        """
        return []

    @classmethod
    def installed(cls, settings: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return what ``version`` and ``facts`` would tell now, without starting anything.

        A later ``benchyard run`` compares it, and so notices another version.

        Args:
            settings: As the case gives them, references to secrets unresolved.

        Returns:
            ``version``, and of an image ``digests`` and ``id``, as far as they are known.
        """
        return {}

    @classmethod
    def command_line(cls, command: str, parameters: Mapping[str, Json]) -> Sequence[str]:
        """Return the program that a command starts on this host, with its arguments; or nothing.

        The repository of a measured program is found by it.
        """
        return ()

    @classmethod
    def program_lines(
        cls, settings: Mapping[str, Json], command: str, parameters: Mapping[str, Json]
    ) -> Iterable[Sequence[str]]:
        """Return all programs that a step needs on this host, each with its arguments.

        Args:
            settings: As the case gives them, references to secrets unresolved.
            command: Of the step; empty for a resource of which only the port is used.
        """
        return [cls.command_line(command, parameters)]

    @classmethod
    def refusals(
        cls, settings: Mapping[str, Json], command: str, parameters: Mapping[str, Json]
    ) -> Iterable[tuple[tuple[str | int, ...], str]]:
        """Return why a step cannot work; called for each step when a case is checked.

        Args:
            settings: As the case has them, possibly wrong and with references.
            parameters: As the step has them, possibly wrong and with references.

        Returns:
            The place in the step, such as ``("command",)``, and a sentence for each reason.
        """
        return ()

    @abstractmethod
    def version(self) -> str:
        """Return the version that the system itself tells, never a constant."""

    def facts(self) -> Mapping[str, Json]:
        """Return further facts for the record: an image's digest, limits.

        Called after ``initialize``, and again when the system is ready.
        """
        return {}

    def imported(self) -> JsonObject | None:
        """Return the Python distributions that its programs imported so far, with their versions.

        Called at the end of a run. None if that is not known; what is installed decides then
        whether two runs measured the same.
        """
        return None

    def initialize(self) -> None:
        """Do one-time work that must stay unmeasured: pull an image, initdb."""

    def start(self) -> None:
        """Start the system and return at once; ``wait_until_ready`` waits."""

    def wait_until_ready(self) -> None:
        """Return once commands are accepted.

        Raises:
            NotReadyError: After the deadline, or as soon as the system died.
        """

    def stop(self) -> None:
        """Release everything, also after a half-finished ``start``."""

    def begin(self, step: str) -> None:
        """Called with a step's label before each attempt: an earlier ``abort`` of it is over."""

    def abort(self, step: str | None = None) -> None:
        """Kill the work of the command in progress; called from another thread.

        A command that starts several programs must not start another one afterwards.

        Args:
            step: Label of the step whose command is meant, given to ``concurrent`` classes only;
                None means all that is under way.
        """

    def programs(self, step: str) -> Mapping[int, str]:
        """Return the programs that a step ran to their end; what they left running is ended too.

        Processes of other classes live until ``stop``, at the longest until the run ends.

        Returns:
            Process id to child label (``benchyard.process.children.Child``) of each.
        """
        return {}

    def alive(self) -> bool:
        """Return whether further commands can be taken; called after a command failed."""
        return True

    def last_words(self) -> str:
        """Return how it ended and what it said last; asked when it is not ``alive``."""
        return "it does not say why"

    def port(self) -> int:
        """Return the port of this host's loopback at which it serves, once it is ready.

        A class that has this method of its own may be referred to as ``${port:NAME}``.

        Raises:
            ResourceError: If it serves at none.
        """
        raise ResourceError(f"{name_of(self)} serves at no port of this host")

    def pids(self, step: str | None = None) -> Sequence[int]:
        """Return the living processes whose usage, children included, is this resource's.

        Args:
            step: As in ``abort``: given to ``concurrent`` classes only.
        """
        return ()

    def cgroups(self, step: str | None = None) -> Sequence[Cgroup]:
        """Return the control groups whose usage is this resource's; see ``pids``."""
        return ()

    def ended(self, step: str | None = None) -> Sequence[Ended]:
        """Return what the kernel accounted for children that were waited for; it only grows.

        See ``pids``; a child is in one of both at any time, so that its usage is never lost.
        """
        return ()

    def lives(self, step: str | None = None) -> Sequence[Life]:
        """Return the accounts of programs that began and ended in control groups; it only grows.

        See ``pids``; what is told here stands in place of what ``cgroups`` tell of the interval.
        """
        return ()

    def on_change(self, hear: Callable[[], None]) -> None:
        """Call ``hear`` whenever other processes or control groups belong to this."""
        self._hear_of_change = hear

    def changed(self) -> None:
        """Announce that ``pids`` or ``cgroups`` changed, so that the curves follow."""
        if self._hear_of_change is not None:
            self._hear_of_change()


def name_of(resource: Resource[Any]) -> str:
    """Return what the case calls a resource: its own name, or that of its class."""
    return resource.workspace.name or type(resource).__name__


def command(method: CommandT) -> CommandT:
    """Make a method callable from cases; parameters are checked against its annotations."""
    setattr(method, _MARK, True)
    return method


@cache
def commands_of(resource: type[Resource[Any]]) -> Mapping[str, Callable[..., Any]]:
    """Return the commands of a class by name, inherited ones included."""
    names = sorted(name for name in dir(resource) if not name.startswith("_"))
    methods = {name: getattr(resource, name) for name in names}
    return {name: method for name, method in methods.items() if getattr(method, _MARK, False)}


_STEP: ContextVar[str] = ContextVar("benchyard_step", default="step")


def current_step() -> str:
    """Return the label of the step under way here, such as ``03-load``, for naming files."""
    return _STEP.get()


@contextmanager
def step_context(label: str) -> Generator[None]:
    """Make ``label`` the current step."""
    token = _STEP.set(label)
    try:
        yield
    finally:
        _STEP.reset(token)
