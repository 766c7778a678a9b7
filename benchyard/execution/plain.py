"""The stages without Prefect: plain calls, the same order, the same records."""

import queue
import threading
from collections.abc import Sequence
from pathlib import Path

from benchyard.errors import StepFailedError
from benchyard.execution.engine import Handle
from benchyard.execution.layout import DONE, done_runs, run_folder
from benchyard.execution.session import Session
from benchyard.model import Case, Step
from benchyard.record import RunRecord, read_record
from benchyard.summary import write_summary


class PlainStages:
    """Executes each stage as a call."""

    def initialize(self, session: Session, _after: Sequence[Handle]) -> Handle:
        """See ``Stages``."""
        session.initialize()
        return "initialize"

    def start_collector(self, session: Session, _after: Sequence[Handle]) -> Handle:
        """See ``Stages``."""
        session.start_collector()
        return "start-collector"

    def step(self, session: Session, step: Step, _after: Sequence[Handle]) -> Handle:
        """See ``Stages``."""
        for left in range(step.retries, -1, -1):
            try:
                session.attempt(step)
                break
            except StepFailedError:
                if not left or session.stopping.is_set():
                    break
        return step.id

    def submit(
        self, session: Session, step: Step, after: Sequence[Handle], done: "queue.Queue[Step]"
    ) -> Handle:
        """See ``Stages``."""

        def work() -> None:
            try:
                self.step(session, step, after)
            finally:
                done.put(step)

        threading.Thread(target=work, name=step.label, daemon=True).start()
        return step.id

    def stop_resources(self, session: Session, _after: Sequence[Handle]) -> Handle:
        """See ``Stages``."""
        session.stop_resources()
        return "stop"

    def stop_collector(self, session: Session, _after: Sequence[Handle]) -> Handle:
        """See ``Stages``."""
        session.stop_collector()
        return "stop-collector"

    def keep_outputs(self, session: Session, _after: Sequence[Handle]) -> Handle:
        """See ``Stages``."""
        session.keep_outputs()
        return "keep-outputs"

    def record(self, session: Session, _after: Sequence[Handle]) -> tuple[RunRecord, Handle]:
        """See ``Stages``."""
        return session.write_record(), "record"

    def checkpoint(self, session: Session, _after: Sequence[Handle]) -> Handle:
        """See ``Stages``."""
        session.checkpoint()
        return "checkpoint"

    def cooldown(self, session: Session, seconds: float, _after: Sequence[Handle]) -> Handle:
        """See ``Stages``."""
        session.rest(seconds)
        return "cooldown"

    def summarize(self, case: Case, results: Path, _after: Sequence[Handle]) -> Handle:
        """See ``Stages``."""
        summarize(case.title, results)
        return "summarize"


def summarize_if_older(title: str, results: Path) -> None:
    """Write the summary files unless they are newer than every run: a lab may die in between."""
    finished = [run_folder(results, run) / DONE for run in done_runs(results)]
    summary = results / "summary.json"
    written = summary.stat().st_mtime_ns if summary.is_file() else 0
    if any(done.stat().st_mtime_ns > written for done in finished):
        summarize(title, results)


def summarize(title: str, results: Path) -> None:
    """Write the summary files of a case from the records of its finished runs.

    Runs of another version of the case than the newest one's are left out, and named: their steps
    may be others.
    """
    folders = [run_folder(results, run) for run in done_runs(results)]
    runs = [(f, read_record(f)) for f in folders if (f / "run.json").exists()]
    newest = max((record.started_at for _, record in runs), default="")
    version = {str(record.case["hash"]) for _, record in runs if record.started_at == newest}
    alike = [(f, record) for f, record in runs if str(record.case["hash"]) in version]
    other = [record.run for _, record in runs if str(record.case["hash"]) not in version]
    write_summary(results, title, alike, left_out=other)
