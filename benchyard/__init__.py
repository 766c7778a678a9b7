"""The domain of Benchyard: cases in, measured records out. It knows no Prefect.

Vocabulary, kept in all of the code:

case: a declared pipeline, one folder with ``metadata.json`` and ``data/shared/``.
step: one command of one resource with parameters.
resource: a system or service that a case drives.
run: one execution of a case. A noun; the verb is "execute". Prefect's is always "flow run".
phase: a timed part of a step that is not the command itself (initialize, start, ready, stop).
attempt: one try of a step's command. repetition: one execution of it inside an attempt.
sample: one reading of the counters at an instant. metric: name, unit and direction.
record: what one run yielded (``run.json``). summary: statistics over the runs of a case.
testbed: the host that a run was measured on.
"""

__version__ = "0.8.0"
