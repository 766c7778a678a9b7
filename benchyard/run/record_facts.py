"""Collects what a record says beside its steps, and writes the files that are made of it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from benchyard.core.files import write_atomically
from benchyard.core.model import Case, Json, JsonObject, object_in
from benchyard.core.quantity import percent
from benchyard.core.wording import some
from benchyard.host.measuring import lab_cpu_s
from benchyard.process.children import told
from benchyard.process.usage import Stop
from benchyard.results.events import dump, events_of
from benchyard.results.folders import RunFolder
from benchyard.results.record import Attempt, Repetition, RunRecord, StepRecord, write_record


def case_facts(case: Case, case_hash: Json) -> dict[str, Json]:
    """Return what identifies a case in a record."""
    return {
        "name": case.name,
        "title": case.title,
        "id": case.id,
        "description": case.description,
        "tags": list(case.tags),
        "point": dict(case.point),
        "hash": case_hash,
        "folder": str(case.folder),
    }


def resource_facts(case: Case, told: Mapping[str, Mapping[str, Json]]) -> dict[str, Json]:
    """Return what each resource told, and its settings; secrets stand there as references.

    One that has a name of its own says its class.
    """
    own = {name: {"class": found} for name, found in case.classes.items()}
    return {
        name: {**own.get(name, {}), **facts, "settings": dict(case.settings.get(name, {}))}
        for name, facts in told.items()
    }


def variable_facts(redact: Callable[[str], str]) -> dict[str, Json]:
    """Return the variables that the run's programs inherit, as a record tells of them."""
    return {name: value and redact(value) for name, value in told().items()}


def write_down(folder: Path, case: Case, record: RunRecord) -> None:
    """Write ``run.json``, the same as events, and KROWN's ``case-info.txt``."""
    write_record(folder, record)
    write_atomically(RunFolder(folder).events, dump(events_of(record)))
    environment = dict(record.environment)
    steps = len(case.steps)
    info = case_info(case.title, case.folder, record.run, steps, environment, record.started_at)
    write_atomically(RunFolder(folder).case_info, info)


#: Share of a core that the lab may use during a step before a reader is warned.
SHARE_OF_A_CORE = 0.01
#: The same as a share of what the step's own processes used.
SHARE_OF_THE_STEP = 0.05
#: Steps that a warning names; there may be hundreds.
_NAMED = 5
#: Nanoseconds by which this process may hear later than it went on that it was stopped: where a
#: step is in another thread than the one that hears signals.
_HEARD_LATE_NS = 1_000_000_000


def with_disturbances(
    steps: Iterable[StepRecord], stops: Sequence[Stop], origin_ns: int, spoilt: Sequence[str]
) -> tuple[StepRecord, ...]:
    """Return the steps, those executions suspect that a stop or a changed input disturbed.

    Which step changed an input, and which read it afterwards, nobody knows: all are suspect.

    Args:
        steps: The steps as they were measured.
        stops: Stops of parts of the lab.
        origin_ns: The run's start, monotonic nanoseconds.
        spoilt: What the run did to its inputs, a sentence each.
    """

    def repetition(made: Repetition) -> Repetition:
        return replace(made, suspect=(*made.suspect, *_stopped(made, stops, origin_ns), *spoilt))

    def attempt(one: Attempt) -> Attempt:
        return replace(one, repetitions=tuple(map(repetition, one.repetitions)))

    if not (stops or spoilt):
        return tuple(steps)
    return tuple(replace(step, attempts=tuple(map(attempt, step.attempts))) for step in steps)


def _stopped(made: Repetition, stops: Sequence[Stop], origin_ns: int) -> list[str]:
    begun = origin_ns + round(made.start_s * 1e9)
    ended = begun + round(made.duration_s * 1e9) + _HEARD_LATE_NS
    inside = [stop for stop in stops if stop.since_ns <= ended and stop.until_ns >= begun]
    who = dict.fromkeys(stop.who for stop in inside)
    return [f"{one} was stopped (Ctrl-Z, SIGSTOP) and went on" for one in who]


def disturbances(steps: Sequence[StepRecord]) -> list[str]:
    """Return the warnings about measured steps: what moved, and what the lab itself used."""
    measured = [step for step in steps if step.measure]
    suspect = [
        f"step {step.index} {step.name} is suspect: {'; '.join(step.suspect)}"
        for step in measured
        if step.suspect
    ]
    return suspect + _harness(measured)


def _harness(steps: Iterable[StepRecord]) -> list[str]:
    heavy = sorted(_shares(steps), reverse=True)
    if not heavy:
        return []
    named = [f"{index} {name} ({percent(share)})" for share, index, name in heavy]
    return [
        f"the lab itself used more than {percent(SHARE_OF_A_CORE)} of a core, or "
        f"{percent(SHARE_OF_THE_STEP)} of what the step used, during step "
        f"{some(named, _NAMED)}; see 'harness' in run.json"
    ]


def _shares(steps: Iterable[StepRecord]) -> Iterator[tuple[float, int, str]]:
    """Yield the lab's share of a core, index and name of each step in which it was too large."""
    for step in steps:
        shares = [share for made in step.measured if (share := _too_large(made)) is not None]
        if shares:
            yield max(shares), step.index, step.name


def _too_large(made: Repetition) -> float | None:
    lab, own = lab_cpu_s(made.harness), made.used.get("resource_cpu_s")
    share = lab / made.duration_s if made.duration_s else 0.0
    too_large = share > SHARE_OF_A_CORE or (own and lab > SHARE_OF_THE_STEP * own)
    return share if too_large else None


UNKNOWN = "UNKNOWN"


def case_info(
    case_title: str,
    folder: Path,
    run: int,
    steps: int,
    environment: Mapping[str, Json],
    started_at: str,
) -> str:
    """Write ``case-info.txt`` in KROWN's layout.

    Args:
        folder: The case's folder.
        steps: How many steps the case has.
        environment: What ``environment`` returned; under ``docker`` it may have ``version``,
            ``root``, ``storage`` and ``cgroup``.
        started_at: ISO 8601.
    """
    lines = [
        "===> CASE <===",
        f"Name: {case_title}",
        f"Timestamp: {started_at}",
        f"Directory: {folder}",
        f"Run: {run}",
        f"Number of steps: {steps}",
        "",
        "===> HARDWARE <===",
        *_hardware(environment),
        "",
        "===> DOCKER <===",
        *_docker(object_in(environment, "docker")),
    ]
    return "\n".join(lines) + "\n"


def _hardware(environment: Mapping[str, Json]) -> list[str]:
    system, cpu = object_in(environment, "os"), object_in(environment, "cpu")
    return [
        "System",
        f"\tHostname: {_text(environment.get('host'))}",
        f"\tOS name: {_text(system.get('name'))}",
        f"\tOS version: {_text(system.get('version'))}",
        f"\tKernel: {_text(environment.get('kernel'))}",
        f"\tArchitecture: {_text(environment.get('architecture'))}",
        "CPU",
        f"\tName: {_text(cpu.get('model'))}",
        f"\tCores: {_text(cpu.get('logical_cores'))}",
        f"\tMinimum frequency: {_scaled(cpu.get('frequency_min_hz'), 10**6, 'MHz')}",
        f"\tMaximum frequency: {_scaled(cpu.get('frequency_max_hz'), 10**6, 'MHz')}",
        "Memory",
        f"\tRAM memory: {_scaled(environment.get('memory_bytes'), 10**6, 'MB')}",
        f"\tSWAP memory: {_scaled(environment.get('swap_bytes'), 10**6, 'MB')}",
        "Storage",
        *(
            f'\tDisk "{disk.get("mountpoint")}": {_scaled(disk.get("total_bytes"), 10**9, "GB", 2)}'
            for disk in _parts(environment, "disks")
        ),
        "Network",
        *(_interface(interface) for interface in _parts(environment, "network")),
    ]


def _interface(interface: JsonObject) -> str:
    line = f'\tInterface "{interface.get("name")}"'
    speed = interface.get("speed_bits_per_s")
    return line if speed is None else f"{line}: {_scaled(speed, 10**6, 'mbps')}"


def _docker(docker: JsonObject) -> list[str]:
    return [
        f"Version: {_text(docker.get('version'))}",
        f"Root directory: {_text(docker.get('root'))}",
        "Drivers:",
        f"\tStorage: {_text(docker.get('storage'))}",
        f"\tCgroupFS: {_text(docker.get('cgroup'))}",
    ]


def _text(value: Json) -> str:
    return UNKNOWN if value is None else str(value)


def _scaled(value: Json, unit: int, name: str, digits: int = 0) -> str:
    """Write a number in a larger unit, cut off like KROWN does without digits."""
    if not isinstance(value, int | float):
        return UNKNOWN
    return f"{round(value / unit, digits) if digits else int(value / unit)} {name}"


def _parts(facts: Mapping[str, Json], name: str) -> list[JsonObject]:
    value = facts.get(name)
    return cast("list[JsonObject]", value) if isinstance(value, list) else []
