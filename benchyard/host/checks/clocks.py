"""Time: whether the clock is kept right by others, and what reading it costs."""

import ctypes
from dataclasses import dataclass

from benchyard.host.checks.finding import Finding, ok, unknown, warn
from benchyard.host.facts.reading import Host
from benchyard.host.facts.system import clocksource

#: Bits of adjtimex(2). Source: Linux, include/uapi/linux/timex.h.
_UNSYNCHRONIZED = 0x0040
_NANOSECONDS = 0x2000
_ERROR = 5

#: Sources that a program reads without a system call. Source: Linux, what sets VDSO_CLOCKMODE_…
#: (tsc.c, kvmclock.c, hyperv_timer.c, arm_arch_timer.c, timer-riscv.c); time.c of powerpc, s390.
_CHEAP = frozenset(
    (
        "tsc",
        "kvm-clock",
        "hyperv_clocksource_tsc_page",
        "arch_sys_counter",
        "riscv_clocksource",
        "timebase",
        "tod",
    )
)


@dataclass(frozen=True, slots=True)
class ClockState:
    """What adjtimex(2) tells of the wall clock.

    Args:
        synchronized: Whether a daemon keeps it right.
        offset_s: How far it is off and being corrected.
        error_s: How far it may be off at most.
    """

    synchronized: bool
    offset_s: float
    error_s: float


class _Timex(ctypes.Structure):
    """The beginning of struct timex, with room for what follows."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("freq", ctypes.c_long),
        ("maxerror", ctypes.c_long),
        ("esterror", ctypes.c_long),
        ("status", ctypes.c_int),
        ("rest", ctypes.c_char * 256),
    )


def read_clock() -> ClockState | None:
    """Ask the kernel of its clock, changing nothing; None if it may not be asked."""
    told = _Timex()
    try:
        state = ctypes.CDLL(None).adjtimex(ctypes.byref(told))
    except (OSError, AttributeError):
        return None
    if state < 0:
        return None
    lost = bool(told.status & _UNSYNCHRONIZED) or state == _ERROR
    scale = 1e-9 if told.status & _NANOSECONDS else 1e-6
    return ClockState(not lost, told.offset * scale, told.maxerror * 1e-6)


def synchronization(host: Host, clock: ClockState | None) -> Finding:
    """Check that a daemon keeps the clock's rate right: it is the rate of the monotonic clock too.

    Source: adjtimex(2); clock_gettime(2), CLOCK_MONOTONIC; BenchExec, doc/benchmarking.md.
    """
    check = "clock synchronization"
    advice = "keep a time daemon running: timedatectl set-ntp true"
    if clock is not None and clock.synchronized:
        off = f"off by {clock.offset_s * 1e3:.3g} ms, at most by {clock.error_s * 1e3:,.0f} ms"
        return ok(check, f"synchronized; {off}")
    if host.has("run/systemd/timesync/synchronized"):
        return ok(check, "synchronized, as systemd-timesyncd says")
    if clock is None:
        return unknown(check, "the kernel does not tell whether its clock is synchronized", advice)
    found = "not synchronized: dates may be wrong, and seconds are as long as the quartz makes them"
    return warn(check, found, advice)


def source(host: Host) -> Finding:
    """Check that the time is read without a system call.

    Source: Linux, Documentation/timers/timekeeping.rst; vdso(7).
    """
    check = "clocksource"
    told = clocksource(host)
    current, available = told["current"], told["available"]
    if not isinstance(current, str):
        return unknown(check, "the kernel does not tell what it reads the time from")
    if current in _CHEAP:
        return ok(check, f"{current}, read without a system call")
    found = f"{current}: each reading of the time is a system call"
    if isinstance(available, list) and "tsc" in available:
        place = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
        return warn(check, found, f"echo tsc > {place}")
    return warn(check, found, "find out why the kernel gave up the TSC: dmesg | grep -i tsc")
