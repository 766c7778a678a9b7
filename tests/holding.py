"""The command ``benchyard`` with a stage of a case that waits to be let go: ``STAGE UP GO ARG…``.

The stage says on the file UP that it is under way, and does its work once the file GO is there.
"""

import sys
import time
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import tasks.case
from benchyard.cli import main
from benchyard.run.engine import Publication
from benchyard.run.session import Session

#: Where the work of each stage stands.
_WORK: dict[str, tuple[Any, str]] = {
    "cooldown": (tasks.case.cooldown, "function"),
    "initialize": (Session, "initialize"),
    "start-collector": (Session, "start_collector"),
    "stop": (Session, "stop_resources"),
    "stop-collector": (Session, "stop_collector"),
    "keep-outputs": (Session, "keep_outputs"),
    "record": (Session, "write_record"),
    "checkpoint": (Session, "checkpoint"),
    "summarize": (tasks.case, "write_summary"),
    "upload": (Publication, "upload"),
    "archive": (Publication, "archive"),
}


def hold(owner: Any, name: str, up: Path, go: Path) -> None:
    """Let a function wait the first time that it is called."""
    real: Callable[..., object] = getattr(owner, name)
    put = type.__setattr__ if isinstance(owner, type) else object.__setattr__  # a task is frozen

    @wraps(real)  # Prefect names a task run by the parameters
    def held(*of: Any, **more: Any) -> object:
        put(owner, name, real)  # what ends a run calls some of them again
        up.touch()
        while not go.exists():
            time.sleep(0.01)
        return real(*of, **more)

    put(owner, name, held)


if __name__ == "__main__":
    stage, up, go = (sys.argv.pop(1) for _ in range(3))
    if stage in _WORK:
        hold(*_WORK[stage], Path(up), Path(go))
    main()
