"""What programs of steps leave running: ended with their step, or else with the run."""

import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from benchyard.process.orphans import EndedOrphan, Orphan, end_orphans, orphans


class Before(NamedTuple):
    """How things were before a command.

    Args:
        there: Orphans; they are not the command's.
        begun: How many steps had begun.
    """

    there: frozenset[int]
    begun: int


class Leftovers:
    """Ends what was left behind, and never what belongs to another step that goes on.

    Args:
        warn: Hears a sentence about what had to be ended.
    """

    def __init__(self, warn: Callable[[str], None] = lambda _: None) -> None:
        self._warn = warn
        self._counting = threading.Lock()
        self._begun = self._under_way = 0

    @contextmanager
    def step(self) -> Generator[None]:
        """Hear that a step, with the start of its resource, is under way inside."""
        with self._counting:
            self._begun += 1
            self._under_way += 1
        try:
            yield
        finally:
            with self._counting:
                self._under_way -= 1

    def before(self) -> Before:
        """Remember how things are before a command."""
        with self._counting:
            return Before(orphans(), self._begun)

    def end(self, step: str, programs: Mapping[int, str], before: Before) -> None:
        """End what the programs of a command left running.

        What has lost its label and left its session may be any step's that was under way; it is
        this one's if it was the only one.

        Args:
            step: The step's name.
            programs: Process id to child label; those of other resources live on.
        """
        if not programs or orphans() <= before.there:
            return
        with self._counting:
            alone = self._under_way <= 1 and self._begun == before.begun
        labels = {*programs.values()}

        def doomed(orphan: Orphan) -> bool:
            if orphan.pid in before.there:
                return False
            if orphan.label is not None:
                return orphan.label in labels
            return alone or orphan.session in programs

        self._tell(f"the step '{step}'", end_orphans(doomed))

    def end_all(self) -> None:
        """End whatever the run left running."""
        self._tell("the run", end_orphans(lambda _: True))

    def _tell(self, who: str, ending: EndedOrphan) -> None:
        if ending.killed:
            self._warn(f"{who} left processes running, which were killed: {_listed(ending.killed)}")
        if ending.alive:
            self._warn(
                f"{who} left processes running that could not be killed; "
                f"end them yourself: {_listed(ending.alive)}"
            )


def _listed(processes: tuple[str, ...]) -> str:
    most = 20
    more = len(processes) - most
    return ", ".join(processes[:most]) + (f" and {more} more" if more > 0 else "")
