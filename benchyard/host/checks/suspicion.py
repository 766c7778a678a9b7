"""Whether the host disturbed a measured step so much that its numbers must not be trusted."""

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from benchyard.core.errors import MeasurementError
from benchyard.core.quantity import amount, percent
from benchyard.host.counters.parsing import sum_of
from benchyard.process.usage import LifeSpan

#: Share of the CPU time wanted that a hypervisor may take before a step is suspect: the smallest
#: change that a lab on a quiet host can hope to show, so that steal never passes for a result.
STEAL_SHARE = 0.01
#: The kernel tells steal in whole ticks, and rounds down at both ends. A difference of three ticks
#: is certainly more than two; one or two may be the rounding of next to nothing. Source: Linux,
#: fs/proc/stat.c (nsec_to_clock_t); proc_stat(5): "in units of USER_HZ".
STEAL_TICKS = 2
#: Share of its time that a step may wait for a CPU beside others before it is suspect. It is that
#: much longer then, and a quiet host stays far below. Source: our own measurement with
#: benchmarks/neighbours.py; docs/decisions/suspect-steps.md has the figures.
WAIT_SHARE = 0.05
#: Set to another share for machines that are shared; 1 is never.
WAIT_VARIABLE = "BENCHYARD_CPU_WAIT"
#: User, system and nice time are each told in whole ticks.
_WAIT_TICKS = 3

_Metrics: TypeAlias = Mapping[str, float | None]
#: Seconds, whose they are, and what was used or waited meanwhile.
_Shown: TypeAlias = tuple[float, str, _Metrics]


def wait_share() -> float:
    """Return the share of its time that a step may wait for a CPU in this environment.

    Raises:
        MeasurementError: If it is set to what is no share.
    """
    wanted = os.environ.get(WAIT_VARIABLE, "").strip()
    try:
        share = float(wanted) if wanted else WAIT_SHARE
    except ValueError:
        share = math.nan
    if not 0 <= share <= 1:
        raise MeasurementError(
            f"{WAIT_VARIABLE} is '{wanted}': it is the share of its time that a step may wait for "
            f"a CPU beside others, from 0 to 1; {WAIT_SHARE} where it is not set"
        )
    return share


def suspicions(
    used: _Metrics,
    duration_s: float,
    cores: int,
    *,
    lab_s: float | None = None,
    waiting: float = WAIT_SHARE,
    program: LifeSpan | None = None,
) -> tuple[str, ...]:
    """Tell why a measured step is suspect, each in a few words; none if nothing speaks against it.

    Swap, throttling and OOM kills disturb whatever their amount. A hypervisor always takes a
    little, so steal counts from ``STEAL_SHARE`` on. What a kernel does not tell raises no
    suspicion; but a step whose own CPU time was missed is not trusted where the host was busy.
    Throttling of a resource's own cgroup raises none either: a case that limits its CPUs wants it.

    Args:
        used: Differences of the counters over the step, by their names in the record.
        duration_s: Length of the step.
        cores: CPUs that the host has online.
        lab_s: CPU seconds of the lab's own processes meanwhile; None if other steps or phases of
            the run were under way as well, which cannot be told from others.
        waiting: Share of its time that it may wait for a CPU beside others; 1 is never.
        program: When the program that it executed began and ended: that time is shown as well.
    """
    each = (
        _swap(used),
        _throttling(used),
        _steal(used, duration_s, cores),
        _waiting(list(_shown(used, duration_s, program)), cores, lab_s, waiting),
        _oom(used),
    )
    return tuple(words for found in each for words in found)


def _swap(used: _Metrics) -> Iterator[str]:
    moved = [
        f"{amount(swapped, 'B')} {way}"
        for way in ("in", "out")
        if (swapped := _more(used, f"host_swap_{way}_bytes"))
    ]
    if moved:
        yield f"the host swapped: {', '.join(moved)}"


def _throttling(used: _Metrics) -> Iterator[str]:
    times, seconds = _more(used, "lab_throttled_count"), _more(used, "lab_throttled_s")
    if times or seconds:
        figures = [_times(times)] * bool(times) + [f"for {seconds:.3g} s"] * bool(seconds)
        yield f"the CPU quota of the lab's own cgroup throttled it {', '.join(figures)}"
    hot = _more(used, "host_thermal_throttle_count")
    if hot:
        yield f"a CPU was slowed down for heat {_times(hot)}"


def _steal(used: _Metrics, duration_s: float, cores: int) -> Iterator[str]:
    stolen = _more(used, "host_cpu_steal_s")
    # Half a tick more: what a difference of floats adds is no tick.
    if stolen * os.sysconf("SC_CLK_TCK") <= STEAL_TICKS + 0.5:
        return
    wanted = _wanted(used, stolen, duration_s, cores)
    if stolen > STEAL_SHARE * wanted:
        share = f", {percent(stolen / wanted, 3)} of the CPU time wanted" if wanted > 0 else ""
        yield f"the hypervisor took {stolen:.3g} s of CPU time{share}"


def _wanted(used: _Metrics, stolen: float, duration_s: float, cores: int) -> float:
    """Return the CPU seconds that steal is held against.

    At least one core's, at most all: against all cores, a program on one of 64 could lose half of
    its time unseen; against what was used alone, a step that sleeps would be suspect for a tick.
    """
    if used.get("host_cpu_user_s") is None or used.get("host_cpu_system_s") is None:
        return duration_s * cores
    busy = sum(_more(used, f"host_cpu_{kind}_s") for kind in ("user", "system", "nice", "irq"))
    return min(max(busy + stolen, duration_s), max(duration_s * cores, stolen))


def _shown(used: _Metrics, duration_s: float, program: LifeSpan | None) -> Iterator[_Shown]:
    """Yield each time of a step that is shown: what was waited is held against the smallest."""
    yield duration_s, "its", used
    if program is not None and program.seconds is not None:
        inside = {} if program.waited_s is None else {"host_psi_cpu_some_s": program.waited_s}
        yield program.seconds, "its program's", {**used, **inside}


def _waiting(
    shown: Sequence[_Shown], cores: int, lab_s: float | None, share: float
) -> Iterator[str]:
    duration_s, _, used = shown[0]
    own_s = used.get("resource_cpu_s", 0.0)
    busy_s = sum_of(used.get(f"host_cpu_{kind}_s") for kind in ("user", "system", "nice"))
    if share >= 1 or (own_s is not None and (lab_s is None or busy_s is None)):
        return
    others_s = math.inf if busy_s is None else busy_s - (own_s or 0.0) - (lab_s or 0.0)
    # With more threads than CPUs a step waits for itself; others take no more than they use.
    most_s = others_s - _WAIT_TICKS / os.sysconf("SC_CLK_TCK")
    full_s = 0.0
    if own_s is None and busy_s is not None:
        # All CPUs were busy for so long at least, where nobody tells who waited.
        full_s = busy_s - (cores - 1) * duration_s
    for length_s, whose, meanwhile in shown:
        who, told_s = _waited(meanwhile)
        waited_s = min(full_s if told_s is None else told_s, most_s)
        if length_s > 0 and max(0.0, share * length_s) < waited_s < math.inf:
            waited = (
                f"{who} waited for a CPU for {waited_s:.3g} s, {percent(waited_s / length_s)} of"
            )
            if own_s is None:
                yield f"cannot be judged: its CPU time is unknown, and {waited} {whose} time"
            else:
                yield f"{waited} {whose} time, while others used {others_s:.3g} s of CPU time"
            return


def _waited(used: _Metrics) -> tuple[str, float | None]:
    """Return who waited for a CPU and how long, as close to the step as the kernel tells."""
    own, group = used.get("resource_cpu_wait_s"), used.get("resource_psi_cpu_some_s")
    if own is not None:
        return "it", own
    if group is not None:
        # What its own quota made wait is what the case asked for.
        return "it", group - _more(used, "resource_throttled_s")
    return "somebody on this host", used.get("host_psi_cpu_some_s")


def _oom(used: _Metrics) -> Iterator[str]:
    killed = _more(used, "host_oom_kill_count")
    if killed:
        noun = "process" if killed == 1 else "processes"
        yield f"the kernel killed {killed:.0f} {noun} of this host for want of memory"


def _more(used: _Metrics, name: str) -> float:
    """Return how much a counter grew; 0 if that is not known, or if it began anew in between."""
    value = used.get(name)
    return value if value is not None and 0 < value < math.inf else 0.0


def _times(count: float) -> str:
    return "once" if count == 1 else f"{count:.0f} times"
