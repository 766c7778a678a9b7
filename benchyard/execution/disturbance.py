"""What disturbed the numbers of a run, in words: for its warnings."""

from collections.abc import Iterable, Iterator, Sequence

from benchyard.harness import lab_cpu_s
from benchyard.record import Repetition, StepRecord

#: Share of a core that the lab may use during a step before a reader is warned.
SHARE_OF_A_CORE = 0.01
#: The same as a share of what the step's own processes used.
SHARE_OF_THE_STEP = 0.05
#: Steps that a warning names; there may be hundreds.
_NAMED = 5


def disturbances(steps: Sequence[StepRecord]) -> list[str]:
    """Return the warnings about measured steps: what moved, and what the lab itself used."""
    measured = [step for step in steps if step.measure]
    suspect = [
        f"step {step.index} {step.name} is suspect: {'; '.join(step.suspect)}"
        for step in measured
        if step.suspect
    ]
    return suspect + _harness(measured)


def _harness(steps: Iterable[StepRecord]) -> list[str]:
    heavy = sorted(_shares(steps), reverse=True)
    if not heavy:
        return []
    named = ", ".join(f"{index} {name} ({share:.1%})" for share, index, name in heavy[:_NAMED])
    more = f" and {len(heavy) - _NAMED} more" if len(heavy) > _NAMED else ""
    return [
        f"the lab itself used more than {SHARE_OF_A_CORE:.0%} of a core, or "
        f"{SHARE_OF_THE_STEP:.0%} of what the step used, during step {named}{more}; see 'harness' "
        "in run.json"
    ]


def _shares(steps: Iterable[StepRecord]) -> Iterator[tuple[float, int, str]]:
    """Yield the lab's share of a core, index and name of each step in which it was too large."""
    for step in steps:
        shares = [share for made in step.measured if (share := _too_large(made)) is not None]
        if shares:
            yield max(shares), step.index, step.name


def _too_large(made: Repetition) -> float | None:
    lab, own = lab_cpu_s(made.harness), made.used.get("resource_cpu_s")
    share = lab / made.duration_s if made.duration_s else 0.0
    too_large = share > SHARE_OF_A_CORE or (own and lab > SHARE_OF_THE_STEP * own)
    return share if too_large else None
