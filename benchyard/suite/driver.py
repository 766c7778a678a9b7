"""The turns of a course on this host, one after another: the one loop of ``run`` and ``suite``."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Event

from benchyard.core.model import point_suffix
from benchyard.run.ordering import Turn
from benchyard.run.request import Campaigning, Request
from benchyard.suite.course import End, SuiteCourse
from benchyard.suite.turn_records import Place, records_of_turn


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """How the execution of a turn ended.

    Args:
        why: The message of its end; empty if it was done.
        flow_run: Prefect's id of it; empty without Prefect.
    """

    how: End
    why: str = ""
    flow_run: str = ""


def execute_turns(
    course: SuiteCourse,
    place: Place,
    base: Request,
    execute: Callable[[Request], TurnEnd],
    stop: Event,
) -> bool:
    """Execute all turns that can be executed here.

    Args:
        place: This host.
        base: What all turns have in common.
        execute: Executes one of them. What it raises ends them all.
        stop: Set when the user asks to stop: no further turn begins.

    Returns:
        Whether the user stopped it before all was done.
    """
    begun, took = set[int](), 0.0
    while not stop.is_set() and (taken := course.take([place])) is not None:
        ended = execute(_request(base, course, taken.turn, begun, took))
        begun.add(taken.turn.case)
        results = course.entries[taken.turn.case].results
        made = records_of_turn(results, taken.turn.runs, taken.began_at)
        taken.flow_run, took = ended.flow_run, made.last_s
        course.end(taken, ended.how, ended.why, made.done, failure=made.failure)
        if ended.how is End.CANCELLED:
            return True
    if stop.is_set() and course.left:
        return True
    course.give_up([place])
    return False


def _request(
    base: Request, course: SuiteCourse, turn: Turn, begun: set[int], took: float
) -> Request:
    entry = course.entries[turn.case]
    campaign = entry.campaign
    if campaign == Campaigning.NEW and turn.case in begun and base.suite is None:
        # The turns of a suite know by its flow run that they share the campaign.
        campaign = Campaigning.AUTO.value
    return replace(
        base,
        case="" if entry.case is None else f"{entry.case.folder}{point_suffix(entry.case.point)}",
        runs=base.runs or entry.wanted,
        only=turn.runs,
        rest_first=took,
        force=entry.again,
        campaign=campaign,
    )
