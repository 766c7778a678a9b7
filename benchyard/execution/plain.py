"""The stages without Prefect: plain calls, the same order, the same records."""

import gc
import queue
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from benchyard.errors import RecordError, StepFailedError
from benchyard.execution.adaptive import enough, rule_of
from benchyard.execution.engine import Handle
from benchyard.execution.layout import DONE, done_runs, failed_runs, run_folder
from benchyard.execution.session import Session
from benchyard.krown import krown_runs, read_results
from benchyard.model import Case, JsonObject, Step
from benchyard.record import RUN_FILE, RunRecord, read_record
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


def summarize(title: str, results: Path, *, include_suspect: bool = False) -> None:
    """Write the summary files of a case from the records of its finished runs.

    Runs of another version of the case than the newest one's are left out, and named: their steps
    may be others. Where there is no record at all, runs that KROWN made are summed up.

    Raises:
        RecordError: If a record or KROWN's metrics.csv cannot be read.
    """
    with _no_garbage():
        recorded = [
            f for n in done_runs(results) if (f := run_folder(results, n) / RUN_FILE).exists()
        ]
        if not recorded and krown_runs(results):
            _summarize_krown(title, results, include_suspect=include_suspect)
        else:
            runs = [(file.parent, read_record(file.parent)) for file in recorded]
            _summarize_own(title, results, runs, include_suspect=include_suspect)


@contextmanager
def _no_garbage() -> Generator[None]:
    """Keep Python from looking for cycles: there are none, and it costs a fifth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _summarize_own(
    title: str,
    results: Path,
    runs: Sequence[tuple[Path, RunRecord]],
    *,
    include_suspect: bool,
) -> None:
    newest = max((record.started_at for _, record in runs), default="")
    version = {str(record.case["hash"]) for _, record in runs if record.started_at == newest}
    alike = [(f, record) for f, record in runs if str(record.case["hash"]) in version]
    others = [record.run for _, record in runs if str(record.case["hash"]) not in version]
    krowns = [number for number, _ in krown_runs(results)]
    write_summary(
        results,
        title,
        alike,
        unfinished=[r for r in _unfinished(results) if str(r.case["hash"]) in version],
        warnings=[
            *_left_out(others, "of another version of the case", "; --force does it again"),
            *_left_out(krowns, "made by KROWN", ""),
        ],
        adaptive=_adaptive([record for _, record in alike]),
        include_suspect=include_suspect,
    )


def _adaptive(records: Sequence[RunRecord]) -> JsonObject | None:
    """Return by which rule there are so many runs, and what it came to; None without one."""
    newest = max(records, key=lambda record: record.started_at, default=None)
    rule = rule_of(newest.adaptive) if newest is not None else None
    if rule is None:
        return None
    return {"rule": rule.to_json(), **enough(rule, records).to_json()}


def _summarize_krown(title: str, results: Path, *, include_suspect: bool) -> None:
    found = read_results(title, results)
    write_summary(
        results,
        title,
        found.runs,
        unfinished=found.unfinished,
        warnings=found.warnings,
        include_suspect=include_suspect,
        foreign=True,
    )


def _unfinished(results: Path) -> Iterator[RunRecord]:
    """Yield the records of the runs that failed; who shows them says which cannot be read."""
    for run in failed_runs(results):
        with suppress(RecordError):
            yield read_record(run_folder(results, run))


def _left_out(runs: Sequence[int], what: str, remedy: str) -> list[str]:
    numbers = ", ".join(map(str, runs))
    return [f"run {numbers} is {what} and left out{remedy}"] if runs else []
