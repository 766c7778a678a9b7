"""What the user asks for when a case is to be executed; plain values, as a flow takes them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Request:
    """One wish to execute one case.

    Args:
        case: Path, name or name with a point of its matrix, such as ``cases/tpch[scale=0.1]``.
        runs: How many runs there shall be in the end; finished ones count.
        only: Numbers of the runs to execute now; empty means all of them.
        interval: Seconds between two samples.
        cooldown: Seconds of rest between two runs.
        rest_first: Rest before the first run too, because another case ran just now.
        force: Do finished runs again.
        fail_fast: Stop at the first failed run.
        wait: Wait for the testbed if another lab holds it.
        wait_for_user: Ask for Enter before each step.
        root: Folder that cases are looked for in.
        results: Folder for results instead of the case's own, or None.
        resources: Folders with further resource classes.
    """

    case: str
    runs: int = 3
    only: tuple[int, ...] = ()
    interval: float = 0.1
    cooldown: float = 15.0
    rest_first: bool = False
    force: bool = False
    fail_fast: bool = False
    wait: bool = True
    wait_for_user: bool = False
    root: str = "."
    results: str | None = None
    resources: tuple[str, ...] = ()
