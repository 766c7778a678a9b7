"""The tasks of a case. Which follows which is read in ``flows.execute_case``."""

from benchyard.run.engine import Publication
from benchyard.run.progress import Summarized, tell
from benchyard.run.run_context import RunContext
from benchyard.run.session import Session
from benchyard.run.step_runner import PlannedStep
from benchyard.run.summarize import summarize as write_summary
from tasks.lazy import task


@task("run{session.run}/cooldown")
def cooldown(session: Session, seconds: float) -> None:
    """Let the host come to rest; a request to stop ends it early."""
    session.stopping.wait(seconds)


@task("run{session.run}/initialize")
def initialize(session: Session) -> None:
    """Make the resources, and let them do their one-time work."""
    session.initialize()


@task("run{session.run}/start-collector")
def start_collector(session: Session) -> None:
    """Begin to sample."""
    session.start_collector()


@task("run{planned.run}/{planned.label}")
def step(planned: PlannedStep) -> None:
    """Try a step once; it is repeated as often as the case says."""
    planned.execute()


@task("run{session.run}/stop")
def stop(session: Session) -> None:
    """Stop the resources."""
    session.stop_resources()


@task("run{session.run}/stop-collector")
def stop_collector(session: Session) -> None:
    """End sampling."""
    session.stop_collector()


@task("run{session.run}/keep-outputs")
def keep_outputs(session: Session) -> None:
    """Move declared outputs to the results."""
    session.keep_outputs()


@task("run{session.run}/record")
def record(session: Session) -> None:
    """Write the run's record."""
    session.write_record()


@task("run{session.run}/checkpoint")
def checkpoint(session: Session) -> None:
    """Declare the run done."""
    session.checkpoint()


@task("summarize")
def summarize(setting: RunContext) -> None:
    """Write the summary of all finished runs."""
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
