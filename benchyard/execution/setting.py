"""What all runs of one execution have in common."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from benchyard.clock import Clock
from benchyard.collector import Collector, Measured
from benchyard.execution.progress import Listener, ignore
from benchyard.execution.secrets import Secrets
from benchyard.execution.workspaces import content_hash
from benchyard.model import Case, Json
from benchyard.registry import Registry

MakeCollector = Callable[[Measured], Collector]
Preflight = Callable[[], Sequence[Mapping[str, Json]]]


@dataclass(frozen=True)
class Setting:
    """What all runs of one execution have in common.

    Args:
        results: Folder with the runs of the case.
        interval: Seconds between two samples.
        flow_run: Prefect's id and name, empty without Prefect.
        make_collector: Makes what measures a run.
        preflight: Looks at the testbed just before a run; findings for the record.
        lab: The lab's own processes beside this one: name to process id.
        adaptive: The rule by which the number of runs is chosen, for the record.
        sinks: Where finished runs are published; nowhere if empty.
    """

    case: Case
    results: Path
    registry: Registry
    interval: float
    make_collector: MakeCollector
    preflight: Preflight = tuple
    lab: Mapping[str, int] = field(default_factory=dict[str, int])
    adaptive: Mapping[str, Json] = field(default_factory=dict[str, Json])
    flow_run: Mapping[str, Json] = field(default_factory=dict[str, Json])
    sinks: tuple[str, ...] = ()
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
