"""A flow with nothing of Benchyard in it, only task calls: the floor for the gap between steps.

A program of its own, started by ``gaps``: ``peer_flow.py COUNT`` prints the gaps in nanoseconds.
"""

import json
import sys
import time

from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings

_edges: list[int] = []


@task(cache_policy=NO_CACHE, persist_result=False)
def step() -> None:
    """Do nothing, and note when."""
    _edges.append(time.monotonic_ns())
    _edges.append(time.monotonic_ns())


@flow(persist_result=False)
def steps(count: int) -> None:
    """Call the task one time after the other."""
    for _ in range(count):
        step()


def main() -> None:
    """Print the gap between each call's end and the next one's start."""
    with temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}):
        steps(int(sys.argv[1]))
    print(json.dumps([b - a for a, b in zip(_edges[1:-1:2], _edges[2::2], strict=True)]))


if __name__ == "__main__":
    main()
