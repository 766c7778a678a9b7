"""What the done runs of a case say together: ``summary.json`` and KROWN's three CSV files.

The document, format ``benchyard-summary``:

case: title. made_by: "Benchyard", or "KROWN" for results without records. runs: number, outcome and
dates of each run, in order. include_suspect: whether suspect executions are described too.
median_run: number of the run whose measured steps took the median of all totals (the lower one of
an even number), or null.
warnings: what a reader should know before comparing.
unreadable: numbers of finished runs that are left out, since what they left cannot be read; the
warnings say why.
adaptive: only where precision decided how many runs there are: the ``rule`` declared before the
first run, and what it came to (``stopped``, ``precise``, ``runs``, ``look``, ``why``, and each
step's relative half-width).
subject: what the runs measured, as in ``run.json``. other_subjects: of the runs in the same folder
that measured something else, documents with the members above and ``steps``, newest first.
files: only where another program made the runs, name to size and date (ns) of the files written
beside, so that those of the other program are known.
steps: in the order of the case, each with
  outcomes: how often it ended how, over all runs; attempts: the same for its single attempts.
  left_out: why to how many of its executions are not described below: an outcome ("failed",
    "tolerated", "skipped", "timed_out", "cancelled"), "suspect" (its counters or the testbed say
    that it was disturbed), "no_duration" (KROWN's samples do not tell it), "unfinished_run" (the
    run it belongs to was not finished).
  suspect: run and reasons of each suspect execution, described or not.
  advice: what to do for better numbers, in words, from the durations.
  runs: numbers of the runs that are described, the only ones that count below.
  repetitions: how many measured executions these have.
  metrics: name to unit, direction ("smaller is better", "larger is better" or null), source
    (clock, counters, samples or command), statistics over the runs (the members of
    ``benchyard.statistics.Description``), the runs' values in their order (of a run with several
    repetitions their median; null is unknown), and the repetitions' own values, or null where
    each run has one, which is its value.
A step with ``measure: false`` is listed without left_out and what follows it.

Versions of the format:
1: the first.
3: subject, other_subjects.
2: made_by, include_suspect, unreadable, adaptive, files; of each step left_out, suspect and advice;
   suspect executions are left out; metrics from samples; statistics have intervals and more;
   repetitions are null where each run has one.
"""

from benchyard.results.summary.counting import own_time
from benchyard.results.summary.document import FORMAT, VERSION, median_run, summarize
from benchyard.results.summary.metrics import LARGER, SMALLER, unit_and_direction
from benchyard.results.summary.writing import Remarks, write_summary

__all__ = [
    "FORMAT",
    "LARGER",
    "SMALLER",
    "VERSION",
    "Remarks",
    "median_run",
    "own_time",
    "summarize",
    "unit_and_direction",
    "write_summary",
]
