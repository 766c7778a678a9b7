"""What Prefect's API knows of executed steps: attempts and states of their task runs.

The states of a task run are its history: Pending, Running, then Retrying for each further attempt
(AwaitingRetry before it where Prefect waits), and how it ended. What an attempt failed of is in
none of them; the records have it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.filters import (
    FlowFilter,
    FlowFilterName,
    FlowRunFilter,
    FlowRunFilterId,
    FlowRunFilterStartTime,
)
from prefect.client.schemas.objects import FlowRun, TaskRun
from prefect.client.schemas.sorting import FlowRunSort, TaskRunSort

from benchyard.analysis.failures import Seen
from tasks.one_client import our_client

#: The server gives at most so many at once.
_PAGE = 200
#: Task runs of so many flow runs are asked for together.
_BATCH = 50
#: So many flow runs are looked for, the newest.
_MOST_FLOW_RUNS = 2000
#: The history of so many task runs in trouble is read; each takes a request of its own.
_MOST_HISTORIES = 100
_FLOWS = ["execute-case", "execute-suite"]
#: Run and step, as ``tasks.stages`` names them.
_STEP = re.compile(r"run[1-9][0-9]*/[0-9]{2,}-.+")


def read_history(flow_runs: Iterable[str], since: datetime | None, *, all_of: bool) -> list[Seen]:
    """Read what the API knows of the steps of flow runs.

    Args:
        flow_runs: Ids, as records tell them.
        since: No flow run that started before it is looked for.
        all_of: Also look for flow runs of cases and suites that no record tells of.

    Raises:
        Exception: Whatever Prefect's client raises when the API has trouble.
    """
    wanted = {identifier for text in flow_runs if (identifier := _identifier(text)) is not None}
    with our_client() as api:
        if all_of:
            wanted |= {run.id for run in _flow_runs(api, since)}
        # Newest first: a task run that begins between two pages shows the last of a page again.
        found = {run.id: run for run in _task_runs(api, sorted(wanted))}
        return _with_histories(api, [one for run in found.values() for one in _seen(run)])


def _identifier(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _flow_runs(api: SyncPrefectClient, since: datetime | None) -> Iterator[FlowRun]:
    started = FlowRunFilterStartTime(after_=cast("Any", since)) if since else None
    for offset in range(0, _MOST_FLOW_RUNS, _PAGE):
        page = api.read_flow_runs(
            flow_filter=FlowFilter(name=FlowFilterName(any_=_FLOWS)),
            flow_run_filter=FlowRunFilter(start_time=started) if started else None,
            sort=FlowRunSort.START_TIME_DESC,
            limit=_PAGE,
            offset=offset,
        )
        yield from page
        if len(page) < _PAGE:
            return


def _task_runs(api: SyncPrefectClient, flow_runs: Sequence[UUID]) -> Iterator[TaskRun]:
    for first in range(0, len(flow_runs), _BATCH):
        chosen = FlowRunFilter(id=FlowRunFilterId(any_=list(flow_runs[first : first + _BATCH])))
        offset = 0
        while page := api.read_task_runs(
            flow_run_filter=chosen, sort=TaskRunSort.ID_DESC, limit=_PAGE, offset=offset
        ):
            yield from page
            offset += len(page)
            if len(page) < _PAGE:
                break


def _seen(run: TaskRun) -> Iterator[tuple[UUID, Seen]]:
    if run.flow_run_id is None or run.state is None or not _STEP.fullmatch(run.name):
        return
    told = Seen(
        flow_run=str(run.flow_run_id),
        attempt=run.flow_run_run_count,
        name=run.name,
        attempts=run.run_count,
        state=run.state.type.value,
        message=run.state.message or "",
    )
    yield run.id, told


def _with_histories(api: SyncPrefectClient, found: Sequence[tuple[UUID, Seen]]) -> list[Seen]:
    left = _MOST_HISTORIES
    seen: list[Seen] = []
    for identifier, one in found:
        if one.in_trouble and left:
            left -= 1
            states = api.read_task_run_states(identifier)
            states.sort(key=lambda state: state.timestamp)
            told = tuple((s.name or s.type.value, s.timestamp.isoformat()) for s in states)
            seen.append(replace(one, history=told))
        else:
            seen.append(one)
    return seen
