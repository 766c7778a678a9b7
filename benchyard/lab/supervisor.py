"""What keeps a lab up: its parts are started again when they die."""

import time
from collections.abc import Callable, Sequence

from benchyard.lab.part import Part
from benchyard.lab.requests import Requests

Say = Callable[[str], None]


class Supervisor:
    """The parts of a lab on this host.

    Args:
        server: The Prefect server, if it is ours.
        workers: The workers.
        say: Tells the user a line.
    """

    def __init__(self, server: Part | None, workers: Sequence[Part], say: Say) -> None:
        self.server = server
        self.workers = list(workers)
        self.say = say

    @property
    def parts(self) -> list[Part]:
        """All parts, the one that others need first."""
        return [*([self.server] if self.server else []), *self.workers]

    def keep_up(self, requests: Requests) -> None:
        """Start again what dies, until somebody asks for the end."""
        while not requests.count:
            self.see_to(self.parts)
            times = [part.again_at for part in self.parts if part.again_at is not None]
            self.sleep(requests, min(times) - time.monotonic() if times else None)

    def see_to(self, parts: Sequence[Part]) -> None:
        """Take note of the parts that have ended, and start those again whose time has come."""
        for part in parts:
            how = part.reap()
            if how is not None:
                self.say(
                    f"the {part.name} ended ({how}) and starts again in {part.delay:.0f} s; "
                    f"its log is {part.log}"
                )
            if part.again_at is not None and part.again_at <= time.monotonic():
                part.start()

    def sleep(self, requests: Requests, seconds: float | None) -> None:
        """Sleep until something happens, at most ``seconds``."""
        requests.sleep(seconds, [part.descriptor for part in self.parts if part.alive])
