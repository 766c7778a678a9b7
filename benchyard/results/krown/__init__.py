"""Results that KROWN's exectool made: its ``metrics.csv``, versions 2 and 3, as records of runs.

KROWN keeps samples and no record, so much is known only within bounds:

- The length of a step is that from its first to its last sample, hence up to two sampling
  intervals too short; a step with fewer than two samples has none.
- Usage is the difference of the host's counters between these samples.
- Where a row at the edge of a step is damaged, or the clock ran backwards in it or beside it, or
  rows of another step lie in between, its samples do not tell its length, and it has none.
- The first row is no sample. KROWN writes it itself, with the clock and the counters as they were
  (zero), and with zeros for the memory, which it did not read: it begins the first step, and is
  in neither the levels nor the number of samples.
- KROWN says of no step how it ended. A run with ``.done`` was finished.

Where KROWN's own statistics are right, these are the same.

Source: Van Assche et al., KROWN's execution framework, https://github.com/kg-construct/KROWN
(collector.py and stats.py of bench_executor).
"""

from benchyard.results.krown.reading import KrownResults, read_results
from benchyard.results.krown.runs import (
    has_only_samples,
    is_krowns,
    is_ours,
    krown_runs,
    runs_without_record,
    surely_krowns,
)

__all__ = [
    "KrownResults",
    "has_only_samples",
    "is_krowns",
    "is_ours",
    "krown_runs",
    "read_results",
    "runs_without_record",
    "surely_krowns",
]
