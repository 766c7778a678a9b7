"""The stages without Prefect: plain calls, the same order, the same records."""

import queue
import threading

from benchyard.core.errors import StepFailedError
from benchyard.core.model import Step
from benchyard.run.session import Session
from benchyard.run.stages import STEP, Handle, Handles, Of, Stage


class DirectStages:
    """Executes each stage as a call."""

    def run(self, stage: Stage[*Of], /, *of: *Of, after: Handles) -> Handles:
        """See ``Stages``."""
        del after
        stage.work(*of)
        return [stage]

    def step(self, session: Session, step: Step, _after: Handles) -> Handle:
        """See ``Stages``."""
        for left in range(step.retries, -1, -1):
            try:
                STEP.work(session, step)
                break
            except StepFailedError:
                if not left or session.stopping.is_set():
                    break
        return step.id

    def submit(
        self, session: Session, step: Step, after: Handles, done: "queue.Queue[Step]"
    ) -> Handle:
        """See ``Stages``."""

        def work() -> None:
            try:
                self.step(session, step, after)
            finally:
                done.put(step)

        threading.Thread(target=work, name=step.label, daemon=True).start()
        return step.id
