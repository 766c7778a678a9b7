"""Programs as child processes: the base of every resource that runs some, and ``Process``."""

import platform
import shutil
import subprocess
import threading
from abc import ABC
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, ClassVar, Literal, get_args

from benchyard.case.resource import (
    CommandResult,
    InputFile,
    InputFolder,
    NoSettings,
    OutputFile,
    Resource,
    SettingsT,
    Workspace,
    command,
    current_step,
)
from benchyard.core.errors import CommandFailedError, program_failed
from benchyard.core.model import Json
from benchyard.process.children import Child, spawn, tail
from benchyard.process.files import kept_output
from benchyard.process.labels import CHILD, RUN, kill_labelled
from benchyard.process.usage import Ended
from resources._files import (
    kept_file,
    named_or_kept,
    remove_if_empty,
    written,
)
from resources._metrics import Metrics, refused_metrics, with_metrics

Stream = Literal["stdout", "stderr"]


@dataclass(frozen=True, slots=True)
class Call:
    """One execution of a program, every path absolute.

    Args:
        folder: The working folder.
        environment: Added to the one that children get.
        stdout: Where its output goes; the same file as ``stderr`` to have both in one.
        exit_code: What it must end with; negative for a signal.
        discard: Of ``stdout`` and ``stderr``, what goes to /dev/null instead.
    """

    arguments: Sequence[str]
    folder: Path
    stdout: Path
    stderr: Path
    stdin: Path | None = None
    environment: Mapping[str, str] | None = None
    exit_code: int = 0
    discard: Sequence[Stream] = ()


class ProgramResource(Resource[SettingsT], ABC):
    """A resource whose commands run programs; any number of them may be under way."""

    concurrent: ClassVar[bool] = True

    def __init__(self, settings: SettingsT, workspace: Workspace) -> None:
        super().__init__(settings, workspace)
        self._lock = threading.Lock()
        self._in_flight: list[tuple[Child, str]] = []
        self._over: list[tuple[Child, str]] = []
        # Step to how many were over when its last attempt began.
        self._over_before: dict[str, int] = {}
        # Labels of steps whose program must not start any more; None stands for all.
        self._aborted: set[str | None] = set()

    def pids(self, step: str | None = None) -> Sequence[int]:
        """Return the programs that run now."""
        with self._lock:
            return [child.pid for child, of in self._in_flight if step in (None, of)]

    def ended(self, step: str | None = None) -> Sequence[Ended]:
        """Return what the kernel accounted for the programs that ended."""
        with self._lock:
            over = [child.ended for child, of in self._over if step in (None, of)]
        return [ended for ended in over if ended is not None]

    def programs(self, step: str) -> Mapping[int, str]:
        """Return the programs of this step's last attempt that ended, and their labels."""
        with self._lock:
            over = self._over[self._over_before.get(step, 0) :]
            return {child.pid: child.label for child, of in over if of == step}

    def begin(self, step: str) -> None:
        """Let programs of this step start again."""
        with self._lock:
            self._over_before[step] = len(self._over)
            self._aborted.discard(step)

    def abort(self, step: str | None = None) -> None:
        """Kill the programs in flight, of one step or all, with all their descendants."""
        with self._lock:
            self._aborted.add(step)
            doomed = [child for child, of in self._in_flight if step in (None, of)]
        for child in doomed:
            child.kill()

    def stop(self) -> None:
        """Kill what the programs left behind, daemons included."""
        with self._lock:
            labels = {child.label for child, _ in (*self._in_flight, *self._over)}
        if labels:
            kill_labelled(CHILD, lambda value: value in labels)

    def _kept_call(
        self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None
    ) -> Call:
        """Describe a program whose output is kept among the run's results."""
        stdout, stderr = (kept_file(self.workspace, f"{name}.txt") for name in get_args(Stream))
        return Call(arguments, folder, stdout, stderr, environment=environment)

    def _run(self, call: Call) -> Ended:
        """Run a program to its end.

        Raises:
            CommandFailedError: If it cannot start or ends in another way than expected.
        """
        try:
            with self._started(call) as child:
                ended = child.wait()
        finally:
            remove_if_empty((call.stdout, call.stderr), self.workspace.kept)
        if ended.exit_status != call.exit_code:
            raise _failure(call, ended)
        return ended

    @contextmanager
    def _started(self, call: Call) -> Generator[Child]:
        step = current_step()
        with ExitStack() as files:
            child = self._spawn(call, files, step)
            self.changed()
            try:
                yield child
            finally:
                with self._lock:
                    self._in_flight.remove((child, step))
                    self._over.append((child, step))
                self.changed()

    def _spawn(self, call: Call, files: ExitStack, step: str) -> Child:
        streams = _streams(call, files)
        # Under the lock: a child that starts while abort() looks would otherwise slip through.
        with self._lock:
            if self._aborted & {None, step}:
                raise CommandFailedError(f"'{call.arguments[0]}' was not started: aborted")
            child = spawn(
                call.arguments,
                folder=call.folder,
                environment=call.environment,
                labels=run_label(self.workspace),
                **streams,
            )
            self._in_flight.append((child, step))
        return child


class HostProgram(ProgramResource[SettingsT], ABC):
    """A resource whose steps run any program of this host."""

    def version(self) -> str:
        """Return the kernel's name, release and build."""
        return str(self.installed({})["version"])

    @classmethod
    def installed(cls, settings: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return the kernel, as ``version`` does."""
        return {"version": f"{platform.system()} {platform.release()} {platform.version()}"}

    @classmethod
    def refusals(
        cls, settings: Mapping[str, Json], command: str, parameters: Mapping[str, Json]
    ) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Refuse to execute nothing, and metrics that are none."""
        if parameters.get("arguments") == []:
            yield ("parameters", "arguments"), "is empty; its first item must be the program"
        yield from refused_metrics(parameters.get("metrics"))
        discarded = parameters.get("discard")
        for stream in discarded if isinstance(discarded, list) else ():
            used = [f"{stream}_file", *(["metrics"] if stream == "stdout" else [])]
            for name in filter(parameters.get, used):
                yield ("parameters", "discard"), f"'{stream}' is discarded, and '{name}' needs it"

    @command
    def execute(  # noqa: PLR0913, PLR0917 - each is a parameter that a step may give by name
        self,
        arguments: list[str],
        working_folder: InputFolder = "",
        environment: dict[str, str] | None = None,
        stdin_file: InputFile | None = None,
        stdout_file: OutputFile | None = None,
        stderr_file: OutputFile | None = None,
        output_file: OutputFile | None = None,
        profile_file: str | None = None,
        exit_code: int = 0,
        metrics: Metrics | None = None,
        discard: list[Stream] | None = None,
    ) -> CommandResult:
        """Run a program of this host and wait for its end.

        Args:
            arguments: Program and arguments; no shell reads them.
            working_folder: Folder inside ``data/shared``; by default ``data/shared`` itself.
            environment: Variables added to the lab's own.
            stdin_file: What the program reads as its input; nothing by default.
            stdout_file: Where its output goes; by default into the run's results.
            stderr_file: Where its messages go; by default into the run's results.
            output_file: A file that the program itself writes and that must then be there.
            profile_file: A profile that it may write of itself; kept, and shown in the trace.
            exit_code: The exit code that means success; negative for a signal.
            metrics: What it prints and is a metric: name to where that stands.
            discard: Of ``stdout`` and ``stderr``, what is kept nowhere.
        """
        call = Call(
            arguments,
            self._folder(working_folder),
            stdout=named_or_kept(self.workspace, stdout_file, "stdout.txt"),
            stderr=named_or_kept(self.workspace, stderr_file, "stderr.txt"),
            stdin=self.workspace.file(stdin_file) if stdin_file else None,
            environment=environment,
            exit_code=exit_code,
            discard=discard or (),
        )
        program = f"'{arguments[0]}'"
        with written(self.workspace, output_file, program, profile_file):
            ended = self._run(call)
        output = call.stdout if call.stdout.exists() else None
        return with_metrics(CommandResult(self._values(ended), output), metrics)

    def _folder(self, name: str) -> Path:
        """Return a folder of the run's inputs; all of them if the name is empty.

        Raises:
            CommandFailedError: If it is none.
        """
        folder = self.workspace.file(name) if name else self.workspace.shared
        if not folder.is_dir():
            raise CommandFailedError(f"the working_folder '{name}' is a file; name its folder")
        return folder

    @staticmethod
    def _values(ended: Ended) -> dict[str, Json]:
        """Return what is reported of a program's end."""
        return usage(ended)


class Process(HostProgram[NoSettings]):
    """Any program of this host, as a child process."""

    @classmethod
    def command_line(cls, command: str, parameters: Mapping[str, Json]) -> Sequence[str]:
        """Return the arguments of ``execute``, the program as the step's own PATH has it."""
        given = parameters.get("arguments") if command == "execute" else None
        if not isinstance(given, list) or not given:
            return ()
        program, *rest = map(str, given)
        environment = parameters.get("environment")
        path = environment.get("PATH") if isinstance(environment, dict) else None
        if isinstance(path, str):
            program = shutil.which(program, path=path) or program
        return [program, *rest]


def usage(ended: Ended) -> dict[str, Json]:
    """Return what the kernel accounted for a child, as values of a command."""
    return {
        "exit_code": ended.exit_status,
        "cpu_user_s": ended.user_s,
        "cpu_system_s": ended.system_s,
        "peak_rss_bytes": ended.peak_rss_bytes,
    }


def run_label(workspace: Workspace) -> dict[str, str]:
    """Return the run's label as the environment variable that children carry."""
    run = workspace.labels.get("benchyard.run")
    return {} if run is None else {RUN: run}


def _streams(call: Call, files: ExitStack) -> dict[str, int | IO[bytes]]:
    """Open what a child reads and writes; ``files`` closes it."""
    streams: dict[str, int | IO[bytes]] = {"stdin": subprocess.DEVNULL}
    if call.stdin:
        streams["stdin"] = files.enter_context(call.stdin.open("rb"))
    for name, path in (("stdout", call.stdout), ("stderr", call.stderr)):
        streams[name] = subprocess.DEVNULL
        if name == "stderr" and path == call.stdout:
            streams[name] = subprocess.STDOUT
        elif name not in call.discard:
            streams[name] = files.enter_context(kept_output(path))
    return streams


def _failure(call: Call, ended: Ended) -> CommandFailedError:
    """Name the program alone: its arguments may hold secrets."""
    said = tail(call.stderr) or "nothing"
    wanted = f", and {call.exit_code} was expected" if call.exit_code else ""
    return program_failed(
        f"'{call.arguments[0]}' failed: {ended.describe()}{wanted}; on stderr: {said}",
        ended.exit_status,
    )
