"""What all runs of one execution have in common."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchyard.case.registry import Registry
from benchyard.case.subject.contents import declaration
from benchyard.case.subject.current import current_subject
from benchyard.core.errors import InputError
from benchyard.core.model import Case, Json, at_root
from benchyard.host.collector import Collector, MeasuredRun
from benchyard.results.subject import Subject
from benchyard.results.trust import Suspect
from benchyard.run.ordering import new_session
from benchyard.run.progress import Listener, ignore
from benchyard.run.secrets import Secrets

MakeCollector = Callable[[MeasuredRun], Collector]
Preflight = Callable[[], Sequence[Mapping[str, Json]]]


@dataclass(frozen=True)
class RunContext:
    """What all runs of one execution have in common.

    Args:
        case: The case.
        results: Folder with the runs of the case.
        registry: The resource classes by name.
        declaration: Digests of the files that the case was read from; empty where none was.
        interval: Seconds between two samples.
        flow_run: Prefect's id and name, empty without Prefect.
        session: Name of the command's execution, as ``ordering.new_session`` makes it.
        make_collector: Makes what measures a run.
        preflight: Looks at the testbed just before a run; findings for the record.
        lab: The lab's own processes beside this one: name to process id.
        adaptive: The rule by which the number of runs is chosen, for the record.
        answers: Folder that the answers of steps with a check are kept in; nowhere if None.
        suspect: What becomes of suspect executions in the summary.
        sinks: Where finished runs are published; nowhere if empty.
        secrets: Resolves references to secrets, and takes their values out of texts.
        listener: Hears the events.
        now_ns: The monotonic clock; tests hand in their own.
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
    session: str = field(default_factory=new_session)
    answers: Path | None = None
    suspect: Suspect = Suspect.AUTO
    sinks: tuple[str, ...] = ()
    declaration: Mapping[str, str] = field(default_factory=dict[str, str])
    secrets: Secrets = field(default_factory=Secrets)
    listener: Listener = ignore
    now_ns: Callable[[], int] = time.monotonic_ns

    def refuse_edited_case(self) -> None:
        """Refuse to go on with a case that was edited since it was read.

        Raises:
            InputError: If it was: a run would be of neither version.
        """
        folder, read = self.case.folder, self.declaration
        now = declaration(folder, self.case.included) if read else {}
        for name, digest in now.items():
            if digest != read[name]:
                file = os.path.normpath(folder / name)
                raise InputError(f"{file} was edited since this execution read it; start it again")

    def resolve(self, value: Json) -> Json:
        """Return ``value`` with secrets and paths in the project in place of their references.

        Raises:
            ResourceError: If a secret is not there.
        """
        return self.secrets.resolve(at_root(value, self.case.root))

    def subject(self) -> Subject:
        """Return what a run would measure now.

        Ask under the testbed's lock: reading all inputs is work that must not disturb what another
        lab measures.
        """
        return current_subject(self.case, self.registry, self.results)
