"""The resources of one run: started when first needed, stopped whatever happens."""

import contextlib
import logging
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from benchyard.case.resource import Resource, Workspace, name_of
from benchyard.core.clock import Timeline, iso, seconds
from benchyard.core.errors import ResourceError
from benchyard.core.model import Case, Json, Outcome
from benchyard.host.collector import Collector
from benchyard.process.usage import Owned
from benchyard.results.record import ErrorRecord, PhaseRecord

logger = logging.getLogger(__name__)

T = TypeVar("T")


def owned_by(resource: Resource[Any], step: str | None = None) -> Owned:
    """Return what belongs to a resource; one that cannot say owns nothing.

    Args:
        resource: The resource.
        step: Label of the step whose work is meant, where several may be under way.
    """
    which = (step,) if resource.concurrent and step is not None else ()
    ask = partial(_owned, resource, which)
    return _asked(ask, resource, "cannot say what it owns", otherwise=Owned())


def _owned(resource: Resource[Any], which: tuple[str, ...]) -> Owned:
    known = len(resource.ended(*which))
    living, cgroups = resource.pids(*which), resource.cgroups(*which)
    ended = tuple(resource.ended(*which))
    # One that ended in between is in both lists, and must count once.
    gone = {one.pid for one in ended[known:]}
    living = tuple(pid for pid in living if pid not in gone)
    return Owned(living, tuple(cgroups), ended, tuple(resource.lives(*which)))


def _asked(ask: Callable[[], T], resource: Resource[Any], trouble: str, *, otherwise: T) -> T:
    """Ask a resource something; where it raises, log what the trouble is, and go on without."""
    try:
        return ask()
    except Exception:
        logger.warning("%s %s", name_of(resource), trouble, exc_info=True)
        return otherwise


class Phases:
    """Times phases and keeps their records.

    Args:
        timeline: The time of the run.
        collector: Reads the counters.
        describe: Makes the record of an error, secrets removed.
    """

    def __init__(
        self,
        timeline: Timeline,
        collector: Collector,
        describe: Callable[[BaseException], ErrorRecord],
    ) -> None:
        self._timeline = timeline
        self._collector = collector
        self._describe = describe
        self._watching = threading.Lock()
        self.records: list[PhaseRecord] = []

    @contextlib.contextmanager
    def timed(
        self, phase: str, resource: Resource[Any], step: int | None = None
    ) -> Generator[None]:
        """Record what happens inside as one phase of ``resource``."""
        before = self._collector.boundary(owned_by(resource), begins=True)
        start = self._timeline.now_ns()
        outcome, error = Outcome.COMPLETED, None
        try:
            yield
        except BaseException as raised:
            outcome = Outcome.FAILED if isinstance(raised, Exception) else Outcome.CANCELLED
            error = self._describe(raised)
            raise
        finally:
            end = self._timeline.now_ns()
            after = self._collector.boundary(owned_by(resource), begins=False)
            used = self._collector.used(before, after)
            self.records.append(
                PhaseRecord(
                    phase=phase,
                    resource=name_of(resource),
                    step=step,
                    start_s=self._timeline.since_start(start),
                    duration_s=seconds(end - start),
                    outcome=outcome,
                    used=used.metrics,
                    error=error,
                    started_at=iso(before.wall_ns),
                    ended_at=iso(after.wall_ns),
                    harness=used.harness,
                )
            )

    def watch(self, resource: Resource[Any]) -> None:
        """Let curves be drawn of what belongs to a resource now."""
        # What was seen first must be told first: an older view would forget what is new.
        with self._watching:
            self._collector.watch(name_of(resource), owned_by(resource))


@dataclass
class _Live:
    make: Callable[[], Resource[Any]]
    resource: Resource[Any]
    lock: threading.Lock = field(default_factory=threading.Lock)
    started: bool = False
    broken: bool = False
    #: Each ends a step that uses its port.
    users: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    version: Json = None
    facts: Mapping[str, Json] = field(default_factory=dict[str, Json])


class LiveResources:
    """The instances of one run.

    Args:
        classes: Name of a resource to its class, in the order of first use.
        settings: Name of a resource to its settings, secrets resolved.
        workspace: Makes the workspace of a name.
        phases: Times what the resources do beside commands.
    """

    def __init__(
        self,
        classes: Mapping[str, type[Resource[Any]]],
        settings: Mapping[str, Mapping[str, Json]],
        workspace: Callable[[str], Workspace],
        phases: Phases,
    ) -> None:
        self._phases = phases
        self._order: list[_Live] = []
        self._wrong: list[str | None] = []
        self._closed = False
        self._live = {
            name: self._construct(found, settings.get(name, {}), workspace(name))
            for name, found in classes.items()
        }

    def _construct(
        self, found: type[Resource[Any]], settings: Mapping[str, Json], workspace: Workspace
    ) -> _Live:
        def make() -> Resource[Any]:
            made = found(found.Settings(**settings), workspace)
            made.on_change(lambda: self._hear_change(made))
            return made

        return _Live(make, make())

    def _hear_change(self, resource: Resource[Any]) -> None:
        self._phases.watch(resource)
        live = self._live.get(name_of(resource))
        if live is not None and live.users and not resource.alive():
            for abort in list(live.users):
                abort()

    def initialize(self) -> None:
        """Do every resource's one-time work.

        Raises:
            ResourceError: If one cannot.
        """
        for live in self._live.values():
            with self._phases.timed("initialize", live.resource):
                _refuse_false(live.resource.initialize(), live.resource, "initialize")
            live.facts = _facts(live.resource)

    def facts(self) -> dict[str, dict[str, Json]]:
        """Return every resource's version, null if it cannot tell, and what else it tells."""
        for live in self._live.values():
            self._ask_version(live)
        return {name: {**live.facts, "version": live.version} for name, live in self._live.items()}

    def imported(self) -> dict[str, Json]:
        """Return the distributions that programs imported, of each resource that knows them."""
        resources = {name: live.resource for name, live in self._live.items()}
        trouble = "cannot tell what it imported"
        known = {n: _asked(r.imported, r, trouble, otherwise=None) for n, r in resources.items()}
        return {name: packages for name, packages in known.items() if packages is not None}

    @staticmethod
    def _ask_version(live: _Live) -> None:
        if live.version is None:
            resource, trouble = live.resource, "cannot tell its version"
            live.version = _asked(resource.version, resource, trouble, otherwise=None)

    @contextlib.contextmanager
    def borrowed(self, name: str, step: int) -> Generator[Resource[Any]]:
        """Give out an instance that accepts commands, starting it if need be.

        Only one borrower at a time, unless the class takes several commands at once.

        Raises:
            ResourceError: If it cannot be started.
        """
        live = self._live[name]
        with contextlib.ExitStack() as held:
            held.enter_context(live.lock)
            if self._closed:
                raise ResourceError(f"{name} is not used any more: the run was stopped")
            self._bring_up(live, step)
            if live.resource.concurrent:
                held.close()
            yield live.resource

    @contextlib.contextmanager
    def serving(
        self, names: Sequence[str], step: int, abort: Callable[[], None]
    ) -> Generator[Mapping[str, int]]:
        """Give the ports of resources for the time of a step, starting them if need be.

        Args:
            names: Of the resources.
            step: Index of the step that uses them.
            abort: Ends the step; called when one of them ends.

        Raises:
            ResourceError: If one cannot be started.
        """
        used = [self._live[name] for name in names]
        for live in used:
            if live.started and not live.broken:
                self.note_failure(name_of(live.resource))
            if not live.started or live.broken:
                with self.borrowed(name_of(live.resource), step):
                    pass
        try:
            for live in used:
                live.users.append(abort)
            yield {name: self._live[name].resource.port() for name in names}
        finally:
            for live in used:
                live.users.remove(abort)

    def dead(self, names: Sequence[str]) -> ResourceError | None:
        """Return the error for the first of these resources that should serve and does not."""
        for name in names:
            self.note_failure(name)
            if self._live[name].broken:
                said = self._live[name].resource.last_words()
                return ResourceError(f"'{name}', whose port the step uses, ended: {said}")
        return None

    def _bring_up(self, live: _Live, step: int) -> None:
        if live.broken:
            if live.started:
                self._wrong.append(self._stop(live))
            live.resource = live.make()
        if live.started:
            return
        # Registered before it starts: a half-finished start is stopped too.
        live.started, live.broken = True, True
        self._order.append(live)
        with self._phases.timed("start", live.resource, step):
            _refuse_false(live.resource.start(), live.resource, "start")
        with self._phases.timed("ready", live.resource, step):
            _refuse_false(live.resource.wait_until_ready(), live.resource, "wait_until_ready")
        live.broken = False
        self._phases.watch(live.resource)  # of a class that does not say what changed
        # Now it surely can tell, and nothing is measured between ready and the command.
        self._ask_version(live)
        live.facts = _facts(live.resource) or live.facts

    def abort(self, name: str, step: str | None = None) -> None:
        """Kill what the resource does for a step, or all that it does.

        The next use starts a new instance, unless the class executes several commands at once.
        """
        live = self._live[name]
        if live.resource.concurrent and step is not None:
            ask = partial(live.resource.abort, step)
        else:
            live.broken = True
            ask = live.resource.abort
        _asked(ask, live.resource, "did not abort", otherwise=None)

    def abort_all(self) -> None:
        """Kill what every resource does now; none is given out any more."""
        self._closed = True
        for name in self._live:
            self.abort(name)

    def note_failure(self, name: str) -> None:
        """After a failed command: an instance that died is not used again."""
        live, trouble = self._live[name], "cannot say whether it lives"
        if not live.broken:
            live.broken = not _asked(live.resource.alive, live.resource, trouble, otherwise=False)

    def stop(self) -> list[str]:
        """Stop everything that was started, in reverse order, whatever fails.

        Returns:
            What went wrong.
        """
        self._wrong += [self._stop(live) for live in reversed(list(self._order))]
        wrong, self._wrong = self._wrong, []
        return [message for message in wrong if message]

    def _stop(self, live: _Live) -> str | None:
        self._order.remove(live)
        live.started = False
        try:
            with self._phases.timed("stop", live.resource):
                _refuse_false(live.resource.stop(), live.resource, "stop")
        except Exception as error:
            logger.warning("%s did not stop cleanly", name_of(live.resource), exc_info=True)
            return f"{name_of(live.resource)} did not stop cleanly: {error}"
        return None


def _refuse_false(answer: object, resource: Resource[Any], what: str) -> None:
    """Turn a success flag, which the contract does not know, into the error that it stands for."""
    if answer is False:
        raise ResourceError(f"{name_of(resource)}.{what} returned False")


def _facts(resource: Resource[Any]) -> Mapping[str, Json]:
    return _asked(resource.facts, resource, "cannot tell its facts", otherwise={})


def used_classes(
    case: Case, classes: Mapping[str, type[Resource[Any]]]
) -> dict[str, type[Resource[Any]]]:
    """Return the class of each resource that steps name, in the order of first mention."""
    return {name: classes[case.class_of(name)] for name in case.resources}
