"""What all runs of one execution have in common."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from benchyard.clock import Clock
from benchyard.collector import Collector
from benchyard.execution.progress import Listener, ignore
from benchyard.execution.secrets import Secrets
from benchyard.execution.workspaces import content_hash
from benchyard.model import Case, Json
from benchyard.registry import Registry

MakeCollector = Callable[[Path, str, int, float, int], Collector]


@dataclass(frozen=True)
class Setting:
    """What all runs of one execution have in common.

    Args:
        results: Folder with the runs of the case.
        interval: Seconds between two samples.
        flow_run: Prefect's id and name, empty without Prefect.
        make_collector: Called with run folder, title, run, interval and the run's start (ns).
    """

    case: Case
    results: Path
    registry: Registry
    interval: float
    make_collector: MakeCollector
    flow_run: Mapping[str, Json] = field(default_factory=dict[str, Json])
    secrets: Secrets = field(default_factory=Secrets)
    listener: Listener = ignore
    clock: Clock = field(default_factory=Clock)

    @cached_property
    def case_hash(self) -> str:
        """Digest of metadata.json and the inputs.

        Made at first use, which is under the testbed's lock: reading all inputs is work that must
        not disturb what another lab measures.
        """
        return content_hash(self.case.folder)
