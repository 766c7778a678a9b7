"""What all runs of one execution have in common."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchyard.clock import Clock
from benchyard.collector import Collector
from benchyard.execution.progress import Listener, ignore
from benchyard.execution.secrets import Secrets
from benchyard.model import Case, Json
from benchyard.registry import Registry

MakeCollector = Callable[[Path, str, int, float, int], Collector]


@dataclass(frozen=True)
class Setting:
    """What all runs of one execution have in common.

    Args:
        results: Folder with the runs of the case.
        interval: Seconds between two samples.
        case_hash: Digest of metadata.json and the inputs.
        flow_run: Prefect's id and name, empty without Prefect.
        make_collector: Called with run folder, title, run, interval and the run's start (ns).
    """

    case: Case
    results: Path
    registry: Registry
    interval: float
    case_hash: str
    make_collector: MakeCollector
    flow_run: Mapping[str, Json] = field(default_factory=dict[str, Json])
    secrets: Secrets = field(default_factory=Secrets)
    listener: Listener = ignore
    clock: Clock = field(default_factory=Clock)
