"""What Prefect's API knows of the same, and where it and the records differ.

The records are what counts: the API forgets what was deleted there, and knows nothing of what was
executed without it. That both tell the same is how a reader knows that neither lost anything.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from benchyard.core.model import Outcome
from benchyard.results.attempts import TriedStep, Try
from benchyard.statistics.figures import plural

#: Outcome of a step to the state types that Prefect may give its task run.
_STATES: Mapping[Outcome, tuple[str, ...]] = {
    Outcome.COMPLETED: ("COMPLETED",),
    Outcome.FAILED: ("FAILED",),
    Outcome.TOLERATED: ("FAILED",),
    Outcome.TIMED_OUT: ("FAILED",),
    # A killed attempt ends as whatever killed it says.
    Outcome.CANCELLED: ("CANCELLED", "CRASHED", "FAILED"),
}
#: A flow run, its attempt, and the name of a task run in it.
_Key = tuple[str, int, str]


@dataclass(frozen=True, slots=True)
class Seen:
    """A step's task run, as the API tells of it.

    Args:
        flow_run: Id of its flow run.
        attempt: Which attempt of the flow run it belongs to.
        name: Run and step: ``run2/03-load``.
        attempts: How often it was tried.
        state: Type of its last state.
        message: What its last state says.
        history: Name and time of each of its states, as far as they were asked for.
    """

    flow_run: str
    attempt: int
    name: str
    attempts: int
    state: str
    message: str = ""
    history: tuple[tuple[str, str], ...] = ()

    @property
    def in_trouble(self) -> bool:
        """Whether it was tried again, or did not end well."""
        return self.attempts > 1 or self.state not in ("COMPLETED", "RUNNING", "PENDING")


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far API and records tell the same.

    Args:
        agreed: How many executions of steps both know, and tell the same of.
        differences: A sentence for each of which they do not.
        only_records: Steps in flow runs of which the API knows nothing.
        only_api: Task runs in trouble that no record tells of.
    """

    agreed: int
    differences: tuple[str, ...] = ()
    only_records: int = 0
    only_api: tuple[Seen, ...] = ()


def agree(tries: Iterable[Try], seen: Iterable[Seen]) -> Agreement:
    """Compare what was recorded with what the API knows.

    Tries without Prefect, and those whose end was not recorded, are not compared.
    """
    known = {(one.flow_run, one.attempt, one.name): one for one in seen}
    flow_runs = {flow_run for flow_run, _, _ in known}
    recorded = {key: step for one in tries for key, step in _recorded(one)}
    agreed = only_records = 0
    differences: list[str] = []
    for key, step in recorded.items():
        if key[0] not in flow_runs:
            only_records += 1
        elif difference := _difference(known.get(key), step):
            differences.append(f"{key[2]} of flow run {key[0]}, attempt {key[1]}: {difference}")
        else:
            agreed += 1
    rest = [one for key, one in known.items() if key not in recorded and one.in_trouble]
    return Agreement(agreed, tuple(differences), only_records, tuple(rest))


def _recorded(one: Try) -> Iterator[tuple[_Key, TriedStep]]:
    flow_run, attempt = one.flow_run.get("id"), one.flow_run.get("attempt")
    if isinstance(flow_run, str) and isinstance(attempt, int):
        for step in one.steps:
            if step.attempts:
                yield (flow_run, attempt, f"run{one.run}/{step.label}"), step


def _difference(seen: Seen | None, step: TriedStep) -> str | None:
    tries = plural(step.attempts, "attempt")
    if seen is None:
        return f"the record tells of {tries}, the API has no such task run"
    if seen.attempts != step.attempts:
        return f"the record tells of {tries}, the API of {seen.attempts}"
    if seen.state not in _STATES.get(step.outcome, ()):
        return f"the record says {step.outcome.value}, the API {seen.state}"
    return None
