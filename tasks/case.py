"""The tasks of a case, each a line on the session of a run (``benchyard.run.session``).

Which follows which is read in ``flows.execute_case``; the text in brackets is the task run's name.
"""

from benchyard.run.engine import Publication
from benchyard.run.progress import Summarized, tell
from benchyard.run.run_context import RunContext
from benchyard.run.session import Session
from benchyard.run.step_runner import PlannedStep
from benchyard.run.summarize import summarize as write_summary
from tasks.lazy import task


@task("run{session.run}/cooldown")
def cooldown(session: Session, seconds: float) -> None:
    """Let the host come to rest before the next run; a request to stop ends it early."""
    session.stopping.wait(seconds)


@task("run{session.run}/initialize")
def initialize(session: Session) -> None:
    """Construct the collector and the resources, and let these do their one-time work."""
    session.initialize()


@task("run{session.run}/start-collector")
def start_collector(session: Session) -> None:
    """Start the sampler."""
    session.start_collector()


@task("run{planned.run}/{planned.label}")
def step(planned: PlannedStep) -> None:
    """Execute one attempt of a step; Prefect retries it as often as the case says."""
    planned.execute()


@task("run{session.run}/stop")
def stop(session: Session) -> None:
    """Stop the resources, the last one first."""
    session.stop_resources()


@task("run{session.run}/stop-collector")
def stop_collector(session: Session) -> None:
    """Stop the sampler."""
    session.stop_collector()


@task("run{session.run}/keep-outputs")
def keep_outputs(session: Session) -> None:
    """Move declared outputs to the results."""
    session.keep_outputs()


@task("run{session.run}/record")
def record(session: Session) -> None:
    """Write the run's record, ``run.json``, whatever became of its steps."""
    session.write_record()


@task("run{session.run}/checkpoint")
def checkpoint(session: Session) -> None:
    """Write ``.done``: a later flow run of the case leaves this run alone."""
    session.checkpoint()


@task("summarize")
def summarize(setting: RunContext) -> None:
    """Write the summary of all finished runs, ``summary.json``."""
    write_summary(setting.case.title, setting.results, suspect=setting.suspect)
    tell(setting.listener, Summarized(setting.case.title, setting.results))


@task("upload")
def upload(publication: Publication) -> None:
    """Put finished runs into the spools of the sinks, and upload what waits."""
    publication.upload()


@task("archive")
def archive(publication: Publication) -> None:
    """Move what the sinks have confirmed to the archives."""
    publication.archive()
