"""The course of a bisection: versions are built and measured, and a file keeps what was measured.

A measurement executes the version and the good one, one right after the other, first this one and
then that one first. Whoever goes on after a kill has all of it but the measurement that was cut.
"""

import hashlib
import math
import time
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated

from benchyard.bisect.versions import Version, VersionRange, check_out, forget_trees
from benchyard.core.errors import CommandFailedError, InputError
from benchyard.core.fields import Share, Within
from benchyard.core.files import content, remove_tree, shown, write_json
from benchyard.core.json_text import decoded, read_as
from benchyard.core.places import home
from benchyard.statistics.bisection import Bisection, Conclusion
from benchyard.timing.commands import Surroundings, TimedCommand, make_commands
from benchyard.timing.execution import Execution, Executor

#: A version, its seconds, those of the good one, and whether a time-out ended the first.
_Pair = tuple[str, float, float, bool]


@dataclass(frozen=True, slots=True)
class BisectionPlan:
    """What is measured, how, and for how long.

    Args:
        line: The command as typed; ``{version}`` stands for the version.
        build: Executed once in each version before it is measured.
        versions: Search these names, the oldest first, instead of commits: a file with one a line,
            or a list with commas; {version} in COMMAND and --build stands for one.
        shell: Let /bin/sh read COMMAND and --build.
        sure: Stop as soon as one version is so likely.
        threshold: Smallest slowdown that is looked for.
        timeout: Seconds after which an execution is killed; the version counts as slow.
        max_time: Seconds after which no further measurement begins.
        predict: Measure GOOD and BAD, say how much the rest will take, and stop.
        state: File that keeps what was measured; if left out, one in the lab's folder until the
            version is found.
    """

    line: str = ""
    build: str = ""
    versions: str | None = None
    shell: bool = False
    sure: Annotated[float, Share()] = 0.99
    threshold: Annotated[float, Share()] = 0.01
    timeout: Annotated[float | None, Within(0.001, 604_800)] = None
    max_time: Annotated[float | None, Within(0, 31_536_000)] = None
    predict: bool = False
    state: Path | None = None

    def command(self, version: Version) -> TimedCommand:
        """Return the command of a version; the build is its setup."""
        names = {"version": [version.name]} if "{version}" in self.line else {}
        around = Surroundings(setup=self.build)
        return make_commands([self.line], (), around, names, in_shell=self.shell)[0]


@dataclass(slots=True)
class BisectionState:
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
    pairs: list[_Pair] = field(default_factory=list[_Pair])
    built: list[str] = field(default_factory=list[str])
    skipped: dict[str, str] = field(default_factory=dict[str, str])
    executions: int = 0
    spent_s: float = 0.0


class BisectionCourse:
    """Builds and measures, or goes on with what a file keeps.

    Args:
        searched: The versions.
        plan: How they are measured.
        executor: Executes them.

    Raises:
        InputError: If the file keeps another bisection, or the command cannot be meant.
    """

    def __init__(self, searched: VersionRange, plan: BisectionPlan, executor: Executor) -> None:
        plan.command(searched.good)
        self.searched, self.plan, self._executor = searched, plan, executor
        self._names = [one.name for one in searched.versions]
        given = {"good": searched.good.name, "versions": ",".join(self._names)}
        given |= {"command": plan.line, "build": plan.build, "shell": str(plan.shell)}
        self._trees = home() / "bisect" / hashlib.sha256(repr(given).encode()).hexdigest()[:16]
        self.file = plan.state.absolute() if plan.state else self._trees.with_suffix(".json")
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.state = _kept(self.file, given)
        self.bisection = Bisection(searched.contains, plan.sure, math.log1p(plan.threshold))
        self.bisection.differences += map(self._difference, self.state.pairs)
        self.bisection.skipped |= {*map(self._names.index, self.state.skipped)}
        self.belief = self.bisection.belief()
        #: The version that was executed last, and those that were executed by this process.
        self.latest, self._warm = searched.good, set[Version]()

    @property
    def conclusion(self) -> Conclusion:
        """What is known so far."""
        return self.bisection.conclusion(self.belief) if self.belief else Conclusion.OPEN

    @property
    def found(self) -> tuple[list[Version], float]:
        """The likeliest version with those that cannot be told from it, and their probability."""
        places = self.bisection.likely(self.belief) if self.belief else []
        sure = float(self.belief.first[places].sum()) if self.belief else 0.0
        return [self.searched.versions[place] for place in places], sure

    def proceed(self) -> Iterator[None]:
        """Measure until it is known, or time is over; stop after each measurement.

        Raises:
            CommandFailedError: If the good or the bad version cannot be measured.
        """
        began, most = time.monotonic(), self.plan.max_time or math.inf
        for belief in self.bisection.course(self._measured):
            self.belief = belief
            yield
            shown_slower = belief and belief.none <= 1 - self.plan.sure
            if time.monotonic() - began > most or (self.plan.predict and shown_slower):
                return

    def finish(self) -> None:
        """Remove the work trees, and the file if the user has not named it."""
        if self.searched.repository:
            remove_tree(self._trees)
            forget_trees(self.searched.repository)
        if not self.plan.state:
            self.file.unlink(missing_ok=True)

    def _difference(self, pair: _Pair) -> tuple[int, float]:
        """Return place and logarithm; infinite for a time-out, but of the bad version."""
        name, seconds, good_s, late = pair
        late = late and name != self._names[-1]
        return self._names.index(name), math.inf if late else math.log(seconds / good_s)

    def _measured(self, place: int) -> float | None:
        """Measure a version; one that fails is skipped, but for the good and the bad one."""
        state, good, version = self.state, self.searched.good, self.searched.versions[place]
        order, began = [good, version][:: -1 if len(state.pairs) % 2 else 1], time.monotonic()
        try:
            for one in (one for one in order if one not in self._warm):
                self._prepare(one)
            done = {one: self._execute(one) for one in order}
            late, self.latest = self._is_late(done[version]), version
            state.pairs.append((version.name, done[version].wall_s, done[good].wall_s, late))
            return self._difference(state.pairs[-1])[1]
        except (CommandFailedError, InputError) as error:
            if self.latest == good or place == self.bisection.bad:
                raise CommandFailedError(f"{self.latest}: {error}") from error
            state.skipped[version.name] = str(error)
            return None
        finally:
            state.spent_s += time.monotonic() - began
            write_json(self.file, asdict(state))

    def _prepare(self, version: Version) -> None:
        """Build a version, and execute it once unmeasured: what it reads is in no cache yet."""
        self.latest, tree = version, self._folder(version)
        if version.name not in self.state.built or not tree.exists():
            if self.searched.repository:
                remove_tree(tree)
                check_out(self.searched.repository, version, tree)
            with chdir(tree):
                self._executor.call(self.plan.command(version).setup, "the build")
            self.state.built = [*dict.fromkeys([*self.state.built, version.name])]
        self._execute(version)
        self._warm.add(version)

    def _folder(self, version: Version) -> Path:
        return self._trees / version.name if self.searched.repository else Path.cwd()

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


def _kept(file: Path, given: dict[str, str]) -> BisectionState:
    """Return what a file keeps of a bisection; of a new one there is nothing."""
    try:
        state = read_as(BisectionState, decoded(content(file)))
    except FileNotFoundError:
        return BisectionState(given)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{shown(file)} keeps no bisection: {error}") from error
    for name in (name for name, value in given.items() if state.of.get(name) != value):
        raise InputError(f"{shown(file)} keeps a bisection with another {name}; name a new file")
    return state
