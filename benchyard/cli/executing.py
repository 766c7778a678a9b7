"""Turn by turn through the engine: with Prefect's stages, or by plain calls."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event

from benchyard.cli.display import Display
from benchyard.core.errors import CaseFailedError, RunInterruptedError
from benchyard.core.model import Case, point_suffix
from benchyard.lab import server
from benchyard.run.beginning import Campaigning
from benchyard.run.direct import DirectStages
from benchyard.run.engine import execute_case
from benchyard.run.interrupts import hearing
from benchyard.run.ordering import Turn
from benchyard.run.progress import listening
from benchyard.run.request import Request
from tasks.opening import open_case, plan_of

Execute = Callable[[Request], None]


@dataclass
class ExecutionResult:
    """How an execution ended.

    Args:
        failed: Titles of the cases of which a run failed.
        interrupted: Whether the user asked to stop.
        new: Whether a campaign was asked for.
    """

    failed: list[str] = field(default_factory=list[str])
    interrupted: bool = False
    new: bool = False

    def raise_if_not_done(self) -> None:
        """Raise what the exit code is made from.

        Raises:
            RunInterruptedError: If the user stopped it.
            CaseFailedError: If a run failed.
        """
        if self.interrupted:
            raise RunInterruptedError(
                "stopped; the same command goes on where this one ended (without --new)"
                if self.new
                else "stopped; the same command goes on where this one ended"
            )
        if self.failed:
            cases = "case" if len(self.failed) == 1 else "cases"
            raise CaseFailedError(f"{len(self.failed)} {cases} failed: {', '.join(self.failed)}")


def execute(
    chosen: Sequence[Case],
    planned: Sequence[Turn],
    base: Request,
    display: Display,
    *,
    direct: bool,
    begins: Collection[int] = (),
) -> ExecutionResult:
    """Execute all turns, one after another.

    Args:
        base: What all turns have in common.
        direct: Without Prefect.
        begins: Positions of the cases of which a campaign begins.
    """
    ended = ExecutionResult(new=base.campaign == Campaigning.NEW)
    if not planned:
        return ended
    stop, begun = Event(), set[int]()
    with display, listening(display.hear), hearing(stop.set):
        act = _directly if direct else _through_prefect()
        for position, turn in enumerate(planned):
            if stop.is_set():
                ended.interrupted = True
                break
            case = chosen[turn.case]
            request = _request(base, case, turn, first=not position)
            if base.campaign != Campaigning.KEEP:
                first = turn.case in begins and turn.case not in begun
                wished = Campaigning.NEW if first else Campaigning.AUTO
                request = replace(request, campaign=wished.value)
            begun.add(turn.case)
            try:
                act(request)
            except CaseFailedError:
                ended.failed = list(dict.fromkeys([*ended.failed, case.title]))
                if base.fail_fast:
                    break
            except RunInterruptedError:
                ended.interrupted = True
                break
    return ended


def _request(base: Request, case: Case, turn: Turn, *, first: bool) -> Request:
    wanted = f"{case.folder}{point_suffix(case.point)}"
    return replace(base, case=wanted, only=turn.runs, rest_first=not first)


def _directly(request: Request) -> None:
    executed = execute_case(open_case(request), plan_of(request), DirectStages())
    if executed.interrupted:
        raise RunInterruptedError("stopped by the user")
    if executed.failed:
        raise CaseFailedError("a run failed")


def _through_prefect() -> Execute:
    """Connect to Prefect; the import of Prefect goes on while a temporary server starts."""
    answering = server.connect()
    from benchyard.lab import through_prefect  # noqa: PLC0415 - after the server began to start

    answering.wait_until_ready()
    caller = through_prefect.caller_of(answering)
    return partial(through_prefect.execute, server=answering, caller=caller)
