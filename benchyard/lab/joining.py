"""How a machine joins a lab that runs elsewhere, as one more testbed."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from benchyard.core.errors import InputError
from benchyard.lab import state
from benchyard.lab.lab import Lab, Testbed
from benchyard.lab.requests import as_interrupts
from benchyard.lab.trouble import raise_if_refused
from benchyard.lab.where import reachable, use
from tasks.names import TESTBEDS, this_host

SERVED = "the testbed is served already, by pid {pid} on this machine; give another --name"
_FLOWS = Path("flows", "execute_case.py")


@dataclass(frozen=True, slots=True)
class Wishes:
    """How a machine is to take part.

    Args:
        name: Of the testbed.
        queue: Its own queue.
        tags: Of the testbed.
        checkout: Whose flows and cases it executes.
        allowed: Further folders that parameters of flow runs may name.
        grace: Seconds that a run gets at SIGTERM.
    """

    name: str | None
    queue: str | None
    tags: Sequence[str]
    checkout: Path
    allowed: Sequence[Path]
    grace: float | None


def join(wishes: Wishes, say: Callable[[str], None]) -> bool:
    """Serve a lab as a testbed until somebody asks for the end.

    Returns:
        Whether the flow run that was under way at the end could finish.

    Raises:
        BenchyardError: If the server does not answer or does not take our password, or the worker
            does not come up.
        InputError: If the testbed is served already, or there are no flows.
    """
    name = wishes.name or this_host()
    raise_if_unfit(name)
    checkout = wishes.checkout.resolve()
    if not (checkout / _FLOWS).is_file():
        raise InputError(f"there is no {_FLOWS} in {checkout}; --checkout names Benchyard's folder")
    with ExitStack() as held:
        held.enter_context(state.claim(f"testbed-{name}", SERVED))
        with as_interrupts():
            use(where := reachable())
            raise_if_refused(where.api)
            queue = wishes.queue or name
            testbed = Testbed(name, queue, wishes.tags, checkout, wishes.allowed)
            lab = Lab(where, testbed, say)
            try:
                lab.start_testbed()
                lab.wait_for_workers()
            except BaseException:
                lab.abandon()
                raise

        def ready() -> None:
            say(
                f"the testbed {name} serves the lab at {where.ui}: one run at a time, of "
                f"the queues {queue} and default of the pool {TESTBEDS}"
            )
            say("Ctrl-C lets the run in progress finish, a second one stops it")

        return lab.keep_up(ready, wishes.grace)


def raise_if_unfit(name: str) -> None:
    """Refuse a name of a testbed that Prefect would not take for a worker and a queue.

    Raises:
        InputError: If it is one.
    """
    if not name.strip() or any(letter in name for letter in "/%&><") or len(name) > 60:
        raise InputError(f"'{name}' is no name for a testbed: it has no / % & < >, and is short")
