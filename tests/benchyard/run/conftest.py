"""Fakes that make tests of execution exact: a clock that only moves when it is told to."""

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pytest

from benchyard.case.loading import load, raise_problems
from benchyard.case.registry import Registry
from benchyard.case.resource import InputFile, OutputFile, Resource, command
from benchyard.core.model import Case, Json, JsonObject
from benchyard.host.collector import Account, MeasuredRun, Reading, Used
from benchyard.process.usage import Owned
from benchyard.results.record import PhaseRecord, RunRecord, StepRecord, read_record
from benchyard.run.adaptive import Adaptive
from benchyard.run.engine import Executed
from benchyard.run.progress import Event, Notice
from benchyard.run.request import Request
from benchyard.run.run_context import RunContext
from benchyard.run.secrets import Secrets
from benchyard.run.session import Session
from flows.execute_case import execute
from tests.conftest import MakeCase


class FakeClock:
    """Stands still until somebody moves it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ns = 1_000_000_000_000

    def now_ns(self) -> int:
        return self._ns

    def advance(self, seconds: float) -> None:
        with self._lock:
            self._ns += round(seconds * 1e9)


@dataclass(frozen=True)
class FakeReading:
    """An instant of the fake clock."""

    at_ns: int
    wall_ns: int


class FakeCollector:
    """Counts a tick a second of the fake clock; each reading itself takes ``cost`` seconds."""

    def __init__(
        self, clock: FakeClock, run: MeasuredRun, cost: float, trouble: Mapping[str, Exception]
    ) -> None:
        self._clock = clock
        self._cost = cost
        self._trouble = trouble
        self.run = run
        self.calls: list[str] = []
        self.began: Mapping[int, int] = {}
        self.running = False
        self.suspect: tuple[str, ...] = ()

    def start(self) -> None:
        self.calls.append("start")
        self.running = True
        if "start" in self._trouble:
            raise self._trouble["start"]

    def watch(self, resource: str, owned: Owned) -> None:
        del resource, owned

    def boundary(self, owned: Owned, *, begins: bool) -> Reading:
        del owned, begins
        self._clock.advance(self._cost / 2)
        at = self._clock.now_ns()
        self._clock.advance(self._cost / 2)
        return FakeReading(at, at)

    def used(
        self, start: Reading, end: Reading, *, step: int | None = None, beside: bool = False
    ) -> Used:
        del beside, step
        ticks = end.at_ns / 1e9 - start.at_ns / 1e9
        return Used({"ticks": ticks, "level": 7.0}, {"flow_cpu_s": 0.0}, self.suspect)

    def stop(self, began: Mapping[int, int]) -> Account:
        self.calls.append("stop")
        self.began = dict(began)
        self.running = False
        if "stop" in self._trouble:
            raise self._trouble["stop"]
        sampled = {step: {"samples": 3} for step in began}
        return Account({"name": "fake", "steps": len(began)}, sampled)


@dataclass
class Call:
    """One call that a fake resource got."""

    resource: "FakeResource"
    key: str
    parameters: Mapping[str, Any]


#: What a scripted call does: move the clock, raise, act, or just answer.
Act = float | BaseException | Callable[[Call], Any] | None


class Script:
    """What the fake resources of one test do, and what was asked of them."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self._acts: dict[str, list[Act]] = {}
        self._always: dict[str, Act] = {}
        self._lock = threading.Lock()
        self.calls: list[Call] = []

    def on(self, key: str, *acts: Act, always: Act = None) -> None:
        """Let calls of ``key`` (``Alpha.work``) do ``acts`` one after another, then ``always``."""
        self._acts[key] = list(acts)
        self._always[key] = always

    def play(self, call: Call) -> Any:
        with self._lock:
            self.calls.append(call)
            acts = self._acts.get(call.key, [])
            act = acts.pop(0) if acts else self._always.get(call.key)
        if isinstance(act, BaseException):
            raise act
        if isinstance(act, int | float):
            return self.clock.advance(act)
        return act(call) if act is not None else None

    @property
    def keys(self) -> list[str]:
        """Return what was called, in order."""
        return [call.key for call in self.calls]

    def count(self, key: str) -> int:
        return self.keys.count(key)


@dataclass(frozen=True, slots=True)
class FakeSettings:
    """What a case may set on a fake."""

    password: str = ""


class FakeResource(Resource[FakeSettings]):
    """Does what the script says, and nothing else."""

    Settings: ClassVar[type[Any]] = FakeSettings
    script: ClassVar[Script]

    def _play(self, method: str, **parameters: Any) -> Any:
        return self.script.play(Call(self, f"{type(self).__name__}.{method}", parameters))

    def version(self) -> str:
        return self._play("version") or "1.2.3"

    def initialize(self) -> None:
        return self._play("initialize")

    def start(self) -> None:
        return self._play("start")

    def wait_until_ready(self) -> None:
        return self._play("wait_until_ready")

    def stop(self) -> None:
        return self._play("stop")

    def abort(self, step: str | None = None) -> None:
        del step
        return self._play("abort")

    def alive(self) -> bool:
        return self._play("alive") is not False

    @command
    def work(
        self, text: str = "", reads: InputFile | None = None, makes: OutputFile | None = None
    ) -> Any:
        """Write ``text`` to ``makes``, and do what the script says."""
        answer = self._play("work", text=text, reads=reads, makes=makes)
        if makes is not None:
            self.workspace.new_file(makes).write_text(text)
        return answer


def step(name: str, resource: str = "Alpha", **keys: Any) -> JsonObject:
    """Declare a step of ``Alpha.work``."""
    return {"@id": name, "name": name, "resource": resource, "command": "work", **keys}


@dataclass
class Lab:
    """A lab of fakes: everything real but clock, collector and resources."""

    make_case: MakeCase
    clock: FakeClock
    script: Script
    classes: dict[str, type[Resource[Any]]]
    cost: float = 0.0
    trouble: dict[str, Exception] = field(default_factory=dict[str, Exception])
    environment: dict[str, str] = field(default_factory=dict[str, str])
    adaptive: Mapping[str, Json] = field(default_factory=dict[str, Json])
    flow_run: Mapping[str, Json] = field(default_factory=dict[str, Json])
    collectors: list[FakeCollector] = field(default_factory=list[FakeCollector])
    events: list[Event] = field(default_factory=list[Event])
    listeners: list[Callable[[Event], None]] = field(default_factory=list[Callable[[Event], None]])

    def case(self, *steps: Mapping[str, Any], name: str = "fake", **more: Any) -> Case:
        """Write a case and load it, as a user would."""
        file = self.make_case(name, *steps, **more) / "metadata.json"
        loaded = load(file, self.registry)
        raise_problems([loaded])
        return loaded.cases[0]

    @property
    def registry(self) -> Registry:
        return Registry(self.classes)

    def setting(self, case: Case) -> RunContext:
        return RunContext(
            case=case,
            results=case.folder / "results",
            registry=self.registry,
            interval=0.1,
            make_collector=self._collector,
            adaptive=self.adaptive,
            flow_run=self.flow_run,
            secrets=Secrets(environment=self.environment),
            listener=self._hear,
            now_ns=self.clock.now_ns,
        )

    def _collector(self, run: MeasuredRun) -> FakeCollector:
        made = FakeCollector(self.clock, run, self.cost, self.trouble)
        self.collectors.append(made)
        return made

    def _hear(self, event: Event) -> None:
        self.events.append(event)
        for listener in self.listeners:
            listener(event)

    def execute(self, case: Case, only: Sequence[int] = (1,), **options: Any) -> Executed:
        """Execute runs by plain calls, without rest unless the options say otherwise."""
        return execute(self.setting(case), request(only, **options))

    def one(self, *steps: Mapping[str, Any], **more: Any) -> RunRecord:
        """Execute one run of a new case; return its record as it was written."""
        case = self.case(*steps, **more)
        self.execute(case)
        return read_record(case.folder / "results" / "run_1")

    @property
    def notices(self) -> list[str]:
        """Return what the user was told."""
        return [event.message for event in self.events if isinstance(event, Notice)]

    def session(self, case: Case) -> Session:
        """Return a run that is ready for its steps."""
        session = Session(self.setting(case), 1)
        session.prepare()
        session.initialize()
        session.start_collector()
        return session


def request(only: Sequence[int], rule: Adaptive | None = None, **options: Any) -> Request:
    """Return what asks for some runs; by a rule too, if there is one."""
    ruled = {"runs": rule.minimum, "most_runs": rule.maximum, "until": rule.until} if rule else {}
    given: dict[str, Any] = {"runs": max(only), "cooldown": 0.0, **ruled, **options}
    return Request("", only=tuple(only), **given)


def results(case: Case) -> Path:
    """Return the folder with a case's runs."""
    return case.folder / "results"


def named(record: RunRecord, name: str) -> StepRecord:
    """Return a step's record by name."""
    return next(step for step in record.steps if step.name == name)


def phases(record: RunRecord, resource: str = "Alpha") -> list[PhaseRecord]:
    """Return a resource's phases."""
    return [phase for phase in record.phases if phase.resource == resource]


def fake_class(name: str, script: Script, *, concurrent: bool = False) -> type[Resource[Any]]:
    """Make a resource class that plays ``script``."""
    members = {"script": script, "concurrent": concurrent, "__module__": __name__}
    return type(name, (FakeResource,), members)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def script(clock: FakeClock) -> Script:
    return Script(clock)


@pytest.fixture
def lab(
    case_folder: MakeCase, clock: FakeClock, script: Script, monkeypatch: pytest.MonkeyPatch
) -> Lab:
    """Three resources: Alpha, Beta, and Crowd, which takes several commands at once.

    Nothing is brought to disk: that takes most of the time, and no power fails here.
    """

    def sync(_descriptor: int) -> None:
        return

    monkeypatch.setattr(os, "fsync", sync)
    classes = {name: fake_class(name, script) for name in ("Alpha", "Beta")}
    classes["Crowd"] = fake_class("Crowd", script, concurrent=True)
    return Lab(case_folder, clock, script, classes)
