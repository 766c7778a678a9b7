"""One run under way: what the tasks of a case do (``tasks.case``).

They call its methods in this order: ``prepare``, ``initialize``, ``start_collector``, then each of
``steps`` as often as it takes, ``stop_resources``, ``stop_collector``, ``keep_outputs``,
``write_record``, ``checkpoint``. ``abandon`` replaces whatever is left after an interruption that
cannot wait.
"""

import logging
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import cast

from benchyard import __version__
from benchyard.case.subject.current import with_told
from benchyard.core.clock import Timeline, now
from benchyard.core.errors import (
    RecordError,
    ResourceError,
)
from benchyard.core.model import Json, Outcome
from benchyard.host.collector import Account, Collector, MeasuredRun
from benchyard.host.facts import environment, git_state
from benchyard.process.labels import RUN, kill_labelled, kill_leftovers
from benchyard.process.orphans import Leftovers
from benchyard.results.attempts import earlier, note_began, note_ended, read_tries
from benchyard.results.folders import RunFolder
from benchyard.results.layout import begin_run, finish_run, kept_folders, work_folder
from benchyard.results.record import ErrorRecord, RunRecord
from benchyard.results.subject import content_of
from benchyard.run.attempts import AttemptKit, KeptAnswers
from benchyard.run.checks import Checks
from benchyard.run.interrupts import reraise_interrupt
from benchyard.run.ordering import session_facts
from benchyard.run.progress import (
    LOGGER,
    Notice,
    Reporter,
    RunEnded,
    RunStarted,
)
from benchyard.run.record_facts import (
    case_facts,
    disturbances,
    resource_facts,
    variable_facts,
    with_disturbances,
    write_down,
)
from benchyard.run.run_context import RunContext
from benchyard.run.running_resources import LiveResources, Phases, used_classes
from benchyard.run.step_runner import StepContext, StepRunner
from benchyard.run.workspaces import Keeper, View, account, kept_folder, workspace_of

logger = logging.getLogger(LOGGER)

#: How long an interruption waits for steps that were just killed, so that they are recorded.
_LAST_WORDS_SECONDS = 2.0


class Session:
    """One run of a case, from its empty folder to its checkpoint."""

    def __init__(self, setting: RunContext, run: int) -> None:
        self.setting = setting
        self.case = setting.case
        self.run = run
        self.failure: ErrorRecord | None = None
        self._label = f"{setting.results}:{run}"  # on all processes of this run
        self._classes = used_classes(self.case, setting.registry.classes)
        self._reporter = Reporter(setting.listener, setting.secrets)
        self.steps = StepRunner(setting, run, self._reporter, self.warn)
        self.stopping = self.steps.stopping
        self._leftovers = Leftovers(self._warn_of_leftovers)
        self._checks = Checks({RUN: self._label})
        self._timeline = Timeline(setting.now_ns, setting.now_ns())
        self._preflight: tuple[Mapping[str, Json], ...] = ()
        self._collector: Collector | None = None
        self._resources: LiveResources | None = None
        self._phases: Phases | None = None
        self._account = Account()
        self._warnings: list[str] = []
        self._changed: tuple[str, ...] = ()
        self._spoilt: list[str] = []
        self._written: RunRecord | None = None
        self._prepared = False

    # -- before the steps

    def prepare(self) -> None:
        """Remove what dead labs left; make the run's empty folder and its view of the inputs.

        Raises:
            InputError: If the case was edited since it was read: this run would be of neither.
        """
        setting = self.setting
        setting.refuse_edited_case()
        killed = kill_leftovers()
        self.folder = begin_run(setting.results, self.run, kept_folders(self.case), self._say)
        self._reporter.open(RunFolder(self.folder).log)
        if killed:
            logger.warning("killed processes that a dead lab had left: %s", killed)
        for found in {*self._classes.values()}:
            for removed in found.remove_leftovers():
                said = "removed what a dead lab had left of %s: %s"
                logger.warning(said, found.__name__, removed)
        self.started_at = now()
        note_began(setting.results, self.case.title, self.run, self.started_at, setting.flow_run)
        self._timeline = replace(self._timeline, origin_ns=self._timeline.now_ns())
        self._reporter.tell(RunStarted(self.case.title, self.run, len(self.case.steps)))
        self._shared = work_folder(self.folder) / "shared"
        self._subject = setting.subject()
        self._view = View(self.case.shared, self._shared)
        redact = setting.secrets.redact
        self._keeper = Keeper(self.case, self._classes, self._view, self.folder, redact)
        self._prepared = True

    def initialize(self) -> None:
        """Make the collector and the resources, and let these do their one-time work.

        Raises:
            ResourceError: If a resource cannot, or a secret is not there.
        """
        self.steps.pause("initialize")
        setting = self.setting
        self._preflight = tuple(setting.preflight())
        self._collector = setting.make_collector(
            MeasuredRun(
                *(self.folder, self.case.title, self.run),
                *(setting.interval, self._timeline.origin_ns, setting.lab),
            )
        )
        measuring = (self._timeline, self._collector, self._reporter.describe)
        self._phases = Phases(*measuring)
        settings = cast(
            "Mapping[str, Mapping[str, Json]]",
            setting.resolve({k: dict(v) for k, v in self.case.settings.items()}),
        )
        try:
            places = (self.case, self.folder, self._shared, self._label)
            resources = LiveResources(
                self._classes, settings, lambda name: workspace_of(name, *places), self._phases
            )
            self._resources = resources
            resources.initialize()
        except Exception as error:
            if self._reporter.shows_a_secret(error):
                # What leaves the session is shown and stored by others, its causes too.
                raise ResourceError(self._reporter.describe(error).message) from None
            raise
        answers = KeptAnswers(self.case.steps, work_folder(self.folder), setting.answers)
        kit = AttemptKit(*measuring, self._leftovers, self._checks, answers)
        self.steps.context = StepContext(resources, kit, self._keeper)

    def start_collector(self) -> None:
        """Begin to sample."""
        if self._collector is not None:
            self._collector.start()

    # -- after the steps

    def stop_resources(self) -> None:
        """Stop what was started, in reverse, and kill what a resource left running."""
        self.steps.settle_rest()
        if self._resources is not None:
            self._warnings += self._resources.stop()
        self._leftovers.end_all()
        left = kill_labelled(RUN, lambda value: value == self._label)
        if left:
            self._warnings.append(f"processes were still running at the end and killed: {left}")

    def stop_collector(self) -> None:
        """End sampling and keep the collector's account."""
        if self._collector is not None:
            self._account = self._collector.stop(self.steps.book.began)
            if error := self._account.facts.get("error"):
                self._warnings.append(f"the curves are not whole, sampling broke off: {error}")

    def keep_outputs(self) -> None:
        """Move declared outputs to the results; note inputs that the run changed.

        Before, secrets are taken out of the files there: they hold what programs said.
        """
        for name in self.case.resources:
            for said in self.setting.secrets.redact_files(kept_folder(self.folder, name)):
                self._warnings.append(f"a program said a secret; it was taken out of {said.name}")
        self._note_changed_inputs()
        self._keeper.keep()

    def _note_changed_inputs(self) -> None:
        """Note what the run did to its inputs, for the record and for who looks on."""
        self._changed, copies = self._view.changed(), self._view.changed_copies()
        self._spoilt = [f"the run changed the input '{name}'" for name in self._changed]
        self._spoilt += [
            f"the run wrote to its copy of the input '{name}'; the input is as it was"
            for name in copies
        ]
        self._warnings += self._spoilt
        for said in self._spoilt:
            self._say_of_run(f": {said}")

    def write_record(self) -> RunRecord:
        """Write ``run.json`` and ``case-info.txt``; what completed is done with its checkpoint."""
        duration = self._timeline.since_start(self._timeline.now_ns())
        self.steps.pause("record")
        record = self._record(duration)
        for warning in record.warnings:
            logger.warning("%s", warning)
        try:
            write_down(self.folder, self.case, record)
            note_ended(self.setting.results, record)
        finally:
            if record.outcome is not Outcome.COMPLETED:
                self._say_end(record)
        self._written = record
        return record

    @property
    def written(self) -> RunRecord:
        """The record, once it has been written.

        Raises:
            RecordError: If it has not.
        """
        if self._written is None:
            raise RecordError(f"run {self.run} of {self.case.title} has no record yet")
        return self._written

    def _record(self, duration: float) -> RunRecord:
        resources = self._resources
        told, imported = (resources.facts(), resources.imported()) if resources else ({}, {})
        names = sorted(self.case.resources)
        steps = self.steps.book.records(self._account.sampled)
        stops, origin_ns = self._account.stops, self._timeline.origin_ns
        steps = with_disturbances(steps, stops, origin_ns, self._spoilt)
        warnings = [*self._warnings, *self.setting.secrets.exposed(), *disturbances(steps)]
        subject = with_told(self._subject, told, imported)
        return RunRecord(
            case=case_facts(self.case, content_of(subject)),
            run=self.run,
            outcome=self.steps.outcome,
            started_at=self.started_at,
            ended_at=now(),
            duration_s=duration,
            steps=steps,
            phases=tuple(self._phases.records) if self._phases is not None else (),
            resources=resource_facts(self.case, told),
            environment=environment() | {"git": git_state(self.case.folder)},
            collector=self._account.facts,
            outputs=account(self.folder, names),
            changed_inputs=self._changed,
            warnings=tuple(self.setting.secrets.redact(w) for w in warnings),
            error=self.failure,
            flow_run=self.setting.flow_run,
            benchyard_version=__version__,
            preflight=self._preflight,
            adaptive=self.setting.adaptive,
            subject=subject,
            variables=variable_facts(self.setting.secrets.redact),
            session=session_facts(self.setting.session),
            tries=earlier(read_tries(self.setting.results, self.run)[0], self.run, self.started_at),
        )

    def checkpoint(self) -> None:
        """Declare the run done: everything is on disk before ``.done`` is."""
        finish_run(self.folder, self._say)
        self._say_end(self.written)

    # -- what is told

    def warn(self, text: str) -> None:
        """Note in the record what a reader of the numbers should know."""
        self._warnings.append(text)

    def _warn_of_leftovers(self, text: str) -> None:
        self.warn(text)
        self._say_of_run(f": {self.setting.secrets.redact(text)}")

    def _say_of_run(self, text: str) -> None:
        self._say(f"{self.case.title} run {self.run}{text}")

    def _say(self, text: str) -> None:
        self._reporter.tell(Notice(text))

    def _say_end(self, record: RunRecord) -> None:
        self._reporter.end(RunEnded(record, self.folder))

    # -- when things go wrong

    @contextmanager
    def abandoned_if_broken(self) -> Generator[None]:
        """Stop the run at once that an interruption or an error of the lab's ends."""
        try:
            yield
        except BaseException as error:
            self.abandon(error)
            raise

    @contextmanager
    def failed_if_broken(self) -> Generator[None]:
        """Note an error as the run's failure: it is stopped and recorded all the same."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - whatever it is, the run failed of it
            reraise_interrupt(error)
            self.fail(error)

    def fail(self, error: Exception) -> None:
        """Remember why the run cannot go on."""
        self.failure = self._reporter.describe(error)
        self.steps.broke = f"the run broke off: {self.failure.message}"
        self._say_of_run(f" broke off: {self.failure.message}")
        self._reporter.trace(error)

    def abort(self) -> None:
        """Kill the work of every step under way; called from a signal handler's thread."""
        self._checks.abort()
        if self._resources is not None:
            self._resources.abort_all()

    def abandon(self, error: BaseException | None = None) -> None:
        """Stop now: kill the work, stop resources and collector, write what is known.

        Args:
            error: Why; an interruption if it is none that a run can have.
        """
        self.stopping.set()
        self.steps.abandoned = not isinstance(error, Exception)
        self.abort()
        self.steps.wait_until_idle(_LAST_WORDS_SECONDS)
        if self._prepared and not RunFolder(self.folder).is_done:
            if isinstance(error, OSError) and error.filename is None:
                error.filename = str(self.folder)  # a write that fails does not say where
            if isinstance(error, Exception):
                self.fail(error)
            rest = Outcome.CANCELLED if self.failure is None else Outcome.SKIPPED
            self.steps.settle_rest(rest)
            left = (self.stop_resources, self.stop_collector, self.keep_outputs, self.write_record)
            for stage in left:
                try:
                    stage()
                except Exception:
                    logger.warning("while stopping", exc_info=True)
        self._reporter.close()
