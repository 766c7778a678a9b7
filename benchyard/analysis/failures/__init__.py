"""What failed and was retried: from the tries of runs to the most fragile steps, and rates.

It comes from what was written down beside the runs (``tries.jsonl``), and from the records of runs
that were made before that was kept. Prefect's history of the same can be compared with it.
"""

from benchyard.analysis.failures.agreeing import Agreement, Seen, agree
from benchyard.analysis.failures.executions import (
    WHOLE_RUN,
    Collected,
    Execution,
    collect,
    executions,
)
from benchyard.analysis.failures.rates import Bucket, Fragile, by_fragility, rates, troubled

__all__ = [
    "WHOLE_RUN",
    "Agreement",
    "Bucket",
    "Collected",
    "Execution",
    "Fragile",
    "Seen",
    "agree",
    "by_fragility",
    "collect",
    "executions",
    "rates",
    "troubled",
]
