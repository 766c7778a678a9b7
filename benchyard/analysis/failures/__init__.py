"""What failed and was retried: from the tries of runs to the most fragile steps, and rates.

It comes from what was written down beside the runs (``tries.jsonl``), and from the records of runs
that were made before that was kept.
"""

from benchyard.analysis.failures.executions import (
    WHOLE_RUN,
    Collected,
    StepTry,
    collect,
    executions,
)
from benchyard.analysis.failures.rates import Bucket, Fragile, by_fragility, rates, troubled

__all__ = [
    "WHOLE_RUN",
    "Bucket",
    "Collected",
    "Fragile",
    "StepTry",
    "by_fragility",
    "collect",
    "executions",
    "rates",
    "troubled",
]
