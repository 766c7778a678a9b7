"""Versions are built and executed next to a good one, and a file keeps what was measured.

Whoever goes on after a kill has all of it but the measurement that was cut.
"""

import hashlib
import math
import time
from collections.abc import Sequence
from contextlib import chdir
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated

from benchyard.bisect.versions import Version, VersionRange, check_out, forget_trees
from benchyard.core.errors import CommandFailedError, InputError
from benchyard.core.fields import Within
from benchyard.core.files import content, remove_tree, shown, write_json
from benchyard.core.json_text import decoded, read_as
from benchyard.core.places import home
from benchyard.timing.commands import Surroundings, TimedCommand, make_commands
from benchyard.timing.execution import Execution, Executor

#: A version, its seconds, those of the good one, and whether a time-out ended the first.
MeasuredPair = tuple[str, float, float, bool]


@dataclass(frozen=True, slots=True)
class MeasuringPlan:
    """How versions are built and executed.

    Args:
        line: The command as typed; ``{version}`` stands for the version.
        build: Executed once in each version before it is measured.
        versions: Search these names, the oldest first, instead of commits: a file with one a line,
            or a list with commas; {version} in COMMAND and --build stands for one.
        shell: Let /bin/sh read COMMAND and --build.
        timeout: Seconds after which an execution is killed; the version counts as slow.
        max_time: Seconds after which no further measurement begins.
        state: File that keeps what was measured; if left out, one in the lab's folder until it is
            known.
    """

    line: str = ""
    build: str = ""
    versions: str | None = None
    shell: bool = False
    timeout: Annotated[float | None, Within(0.001, 604_800)] = None
    max_time: Annotated[float | None, Within(0, 31_536_000)] = None
    state: Path | None = None

    def command(self, version: Version) -> TimedCommand:
        """Return the command of a version; the build is its setup."""
        names = {"version": [version.name]} if "{version}" in self.line else {}
        around = Surroundings(setup=self.build)
        return make_commands([self.line], (), around, names, in_shell=self.shell)[0]


@dataclass(slots=True)
class MeasuringState:
    """What the file keeps.

    Args:
        of: What is searched, by what command: another search has another file.
        pairs: What was measured.
        built: Versions that were built.
        skipped: Versions that cannot be measured, and why.
        executions: How many there were, unmeasured ones included.
        spent_s: Seconds that builds and executions took.
    """

    of: dict[str, str]
    pairs: list[MeasuredPair] = field(default_factory=list[MeasuredPair])
    built: list[str] = field(default_factory=list[str])
    skipped: dict[str, str] = field(default_factory=dict[str, str])
    executions: int = 0
    spent_s: float = 0.0


class Measuring:
    """Builds versions and executes them next to the good one, or goes on with what a file keeps.

    Args:
        searched: The versions.
        plan: How they are measured.
        executor: Executes them.
        what: What the file keeps, in a word.

    Raises:
        InputError: If the file keeps something else, or the command cannot be meant.
    """

    def __init__(
        self, searched: VersionRange, plan: MeasuringPlan, executor: Executor, what: str
    ) -> None:
        plan.command(searched.good)
        self.searched, self.plan, self._executor = searched, plan, executor
        names = ",".join(one.name for one in searched.versions)
        given = {"kind": what, "good": searched.good.name, "versions": names}
        given |= {"command": plan.line, "build": plan.build, "shell": str(plan.shell)}
        self._trees = home() / "bisect" / hashlib.sha256(repr(given).encode()).hexdigest()[:16]
        self.file = plan.state.absolute() if plan.state else self._trees.with_suffix(".json")
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.state = _kept(self.file, given, what)
        #: The version that was executed last, and those that were executed by this process.
        self.latest, self._warm = searched.good, set[Version]()

    def finish(self) -> None:
        """Remove the work trees, and the file if the user has not named it."""
        if self.searched.repository:
            remove_tree(self._trees)
            forget_trees(self.searched.repository)
        if not self.plan.state:
            self.file.unlink(missing_ok=True)

    def measure(self, order: Sequence[Version], *, may_fail: bool = False) -> bool:
        """Execute the good version and another one in this order, and keep it.

        Args:
            order: Both.
            may_fail: Whether the other one is skipped if it fails.

        Returns:
            Whether there is a pair.

        Raises:
            CommandFailedError: If a version fails that may not.
        """
        state, good, began = self.state, self.searched.good, time.monotonic()
        version = next(one for one in order if one != good)
        try:
            for one in (one for one in order if one not in self._warm):
                self._prepare(one)
            done = {one: self._execute(one) for one in order}
            late, self.latest = self._is_late(done[version]), version
            state.pairs.append((version.key, done[version].wall_s, done[good].wall_s, late))
        except (CommandFailedError, InputError) as error:
            if self.latest == good or not may_fail:
                raise CommandFailedError(f"{self.latest}: {error}") from error
            state.skipped[version.name] = str(error)
            return False
        finally:
            state.spent_s += time.monotonic() - began
            write_json(self.file, asdict(state))
        return True

    def _prepare(self, version: Version) -> None:
        """Build a version, and execute it once unmeasured: what it reads is in no cache yet."""
        self.latest, tree = version, self._folder(version)
        if version.key not in self.state.built or not tree.exists():
            if self.searched.repository:
                remove_tree(tree)
                check_out(self.searched.repository, version, tree)
            with chdir(tree):
                self._executor.call(self.plan.command(version).setup, "the build")
            self.state.built = [*dict.fromkeys([*self.state.built, version.key])]
        self._execute(version)
        self._warm.add(version)

    def _folder(self, version: Version) -> Path:
        return self._trees / version.key if self.searched.repository else Path.cwd()

    def _execute(self, version: Version) -> Execution:
        command, timeout = self.plan.command(version), self.plan.timeout
        self.latest, self.state.executions = version, self.state.executions + 1
        with chdir(self._folder(version)):
            done = self._executor.time(command, self.state.executions, pipe=False, timeout=timeout)
        if done.exit_code and (version == self.searched.good or not self._is_late(done)):
            raise CommandFailedError(self._executor.failure(done, timeout))
        return done

    def _is_late(self, done: Execution) -> bool:
        return bool(done.exit_code) and done.wall_s >= (self.plan.timeout or math.inf)


def _kept(file: Path, given: dict[str, str], what: str) -> MeasuringState:
    """Return what a file keeps; of what is new there is nothing."""
    try:
        state = read_as(MeasuringState, decoded(content(file)))
    except FileNotFoundError:
        return MeasuringState(given)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{shown(file)} keeps no {what}: {error}") from error
    for name in (name for name, value in given.items() if state.of.get(name) != value):
        raise InputError(f"{shown(file)} keeps a {what} with another {name}; name a new file")
    return state
