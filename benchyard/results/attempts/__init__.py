"""What was tried, and when: ``tries.jsonl`` beside the runs of a case.

A run that failed is done again in a fresh folder, so its own record tells only of the last try.
This file tells of all of them. Each line is a ``RunAttempt``, with a ``version``: one is added when
a try begins (its ``outcome`` is null) and one when it ends, which counts from then on. A try whose
end is missing was killed, or its host went down. Nothing is written while anything is measured.
"""

from benchyard.results.attempts.attempt import FailedAttempt, RunAttempt, TriedStep, earlier, try_of
from benchyard.results.attempts.file import note_began, note_ended, read_tries
from benchyard.results.folders import TRIES_FILE

__all__ = [
    "TRIES_FILE",
    "FailedAttempt",
    "RunAttempt",
    "TriedStep",
    "earlier",
    "note_began",
    "note_ended",
    "read_tries",
    "try_of",
]
