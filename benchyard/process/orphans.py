"""Orphans: what the lab's children started and left behind, whatever became of its labels.

The adopter (``benchyard.process.adopter``) is their parent. Nobody else's processes are among its
children, so a look at them is cheap, and what is killed descends from the lab for sure. Those of a
step end with it, or else with the run.
"""

import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from benchyard.core.wording import printable, some
from benchyard.process.labels import (
    CHILD,
    GRACE,
    Kin,
    children_of,
    descendants_of,
    kin_of,
    label_of,
)
from benchyard.process.launching import adoption

#: Seconds after the grace until what cannot be killed is left alone.
_LONGEST_SECONDS = 5.0
#: So many processes are named.
_NAMED = 20
_PAUSE_SECONDS = 0.005


class Orphan(NamedTuple):
    """A living process whose parent has ended.

    Args:
        pid: Its process id.
        session: The session that it is in: the pid of the child that it comes from, if it stayed.
        label: Its child label; None if it has none any more.
    """

    pid: int
    session: int
    label: str | None


class EndedOrphan(NamedTuple):
    """How orphans ended that were to end; program and process id of each, in words.

    Args:
        killed: Those that had to be killed.
        alive: Those that could not be.
    """

    killed: tuple[str, ...] = ()
    alive: tuple[str, ...] = ()


def orphans() -> frozenset[int]:
    """Return the process ids of this process's orphans."""
    adopter, launcher = adoption() or (0, 0)
    return frozenset(children_of(adopter)) - {launcher} if adopter else frozenset()


def end_orphans(doomed: Callable[[Orphan], bool], grace: float = GRACE) -> EndedOrphan:
    """Kill the orphans that are ``doomed``, with all that descends from them.

    Args:
        doomed: Tells which ones.
        grace: Seconds that they get to end by themselves, as many do soon after who started them.
    """
    hunt = _Hunt(doomed)
    begun = time.monotonic()
    while hunt.left() and (passed := time.monotonic() - begun) < grace + _LONGEST_SECONDS:
        if passed >= grace:
            hunt.kill()
        time.sleep(_PAUSE_SECONDS)
    return hunt.ending()


class _Hunt:
    def __init__(self, doomed: Callable[[Orphan], bool]) -> None:
        self._doomed = doomed
        # What descends from a doomed one may look like nobody's as soon as that is dead.
        self._family: set[tuple[int, int]] = set()
        self._killed: dict[int, str] = {}

    def left(self) -> list[int]:
        """Return the doomed; twice if there is none, for a look may miss one while others end."""
        return self._look() or self._look()

    def _look(self) -> list[int]:
        there = [(pid, kin) for pid in orphans() if (kin := kin_of(pid))]
        return [pid for pid, kin in there if self._is_doomed(pid, kin)]

    def _is_doomed(self, pid: int, kin: Kin) -> bool:
        if (pid, kin.started) in self._family:
            return True
        return self._doomed(Orphan(pid, kin.session, label_of(pid, CHILD)))

    def kill(self) -> None:
        """Kill the doomed; their children are orphans then, and doomed as well."""
        for pid in self._look():
            try:
                descriptor = os.pidfd_open(pid)
            except OSError:
                continue
            try:
                self._kill(pid, descriptor)
            except OSError:  # it is another user's
                continue
            finally:
                os.close(descriptor)

    def _kill(self, pid: int, descriptor: int) -> None:
        # Only what is found while the descriptor is open is surely of this very process.
        kin, adopted = kin_of(pid), adoption()
        if kin and adopted and kin.parent == adopted[0] and self._is_doomed(pid, kin):
            below = descendants_of(pid)
            self._family |= {(one, its.started) for one in below if (its := kin_of(one))}
            told = _told(pid)
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
            # A slow one is met once more while it ends: it has no program to name by then.
            self._killed.setdefault(pid, told)

    def ending(self) -> EndedOrphan:
        """Return which processes were killed, and which could not be."""
        alive = {pid: _told(pid) for pid in self._look()}
        killed = [told for pid, told in self._killed.items() if pid not in alive]
        return EndedOrphan(tuple(killed), tuple(alive.values()))


def _told(pid: int) -> str:
    """Name a process: what it calls itself, and the program's file if that has another name."""
    folder = Path(f"/proc/{pid}")
    try:
        name = (folder / "comm").read_text(encoding="utf-8", errors="replace").removesuffix("\n")
        program = (folder / "exe").readlink().name.removesuffix(" (deleted)")
    except OSError:
        return f"a process that was ending (pid {pid})"
    alias = "" if program.startswith(name) else f", called '{printable(name)}'"
    return f"{printable(program)} (pid {pid}{alias})"


# -- those of steps


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

    def __init__(self, warn: Callable[[str], None]) -> None:
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

    def end(self, who: str, programs: Mapping[int, str], before: Before) -> None:
        """End what the programs of a command left running.

        What has lost its label and left its session may be any step's that was under way; it is
        this one's if it was the only one.

        Args:
            who: Left them running, in words.
            programs: Process id to child label; those of other resources live on.
            before: What ``before`` returned, before the command.
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

        self._tell(who, end_orphans(doomed))

    def end_all(self) -> None:
        """End whatever the run left running."""
        self._tell("the run", end_orphans(lambda _: True))

    def _tell(self, who: str, ending: EndedOrphan) -> None:
        if ending.killed:
            self._warn(
                f"{who} left processes running, which were killed: {some(ending.killed, _NAMED)}"
            )
        if ending.alive:
            self._warn(
                f"{who} left processes running that could not be killed; "
                f"end them yourself: {some(ending.alive, _NAMED)}"
            )
