"""How containers and programs end, as the engine tells it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from benchyard.core.errors import SIGNALLED


@dataclass(frozen=True, slots=True)
class Exit:
    """How a container ended, as the engine tells it.

    Args:
        code: Exit code; 128 + number for a signal.
        out_of_memory: Whether the kernel killed a process of it at its memory limit.
        run_s: Seconds from its start to its end by the engine's clock; None if it does not tell.
        error: What the engine could not do, such as executing the program.
    """

    code: int
    out_of_memory: bool
    run_s: float | None
    error: str = ""

    def describe(self) -> str:
        """Say in words how it ended."""
        if self.error:
            return self.error
        if self.out_of_memory:
            return f"out of memory: the kernel killed it at its limit (exit code {self.code})"
        return describe_code(self.code)


def describe_code(code: int) -> str:
    """Say in words what an exit code means."""
    if SIGNALLED < code <= SIGNALLED + 64:
        return f"exit code {code} (signal {code - SIGNALLED})"
    return f"exit code {code}"


def exit_of(state: Any) -> Exit:
    """Read how a container ended from what the engine says of its state."""
    return Exit(
        code=state["ExitCode"],
        out_of_memory=bool(state.get("OOMKilled")),
        run_s=_between(state.get("StartedAt", ""), state.get("FinishedAt", "")),
        error=state.get("Error") or "",
    )


def _between(start: str, end: str) -> float | None:
    """Return the seconds between two of the engine's instants, which have nanoseconds."""
    try:
        began, ended = datetime.fromisoformat(start), datetime.fromisoformat(end)
    except ValueError:
        return None
    # The year 1 is how the engine says never.
    return (ended - began).total_seconds() if began.year > 1 and ended >= began else None
