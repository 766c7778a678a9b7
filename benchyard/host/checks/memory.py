"""Checks of the memory: whether it is enough, stays in place, and is laid out by chance."""

from benchyard.host.checks.check_context import CheckContext, Checks
from benchyard.host.checks.finding import Finding, fail, ok, size, unknown, warn
from benchyard.host.facts.hardware import (
    SwapDevice,
    huge_pages,
    meminfo,
    randomization,
    swap_devices,
)

#: Share of the memory that shall be free: less, and the page cache of a benchmark's inputs is
#: thrown out while it runs. Of our own making.
_FREE_SHARE = 0.1
_THP = "/sys/kernel/mm/transparent_hugepage"


def swap(context: CheckContext) -> Finding:
    """Check that no memory can go to a disk.

    Source: Linux, Documentation/admin-guide/sysctl/vm.rst (swappiness); Beyer, Löwe, Wendler,
    "Reliable benchmarking", STTT 21 (2019): swapping makes times meaningless.
    """
    devices = swap_devices(context.host)
    if devices is None:
        return unknown("swap", "the kernel does not tell what it swaps to")
    if not devices:
        return ok("swap", "none")
    total, used = sum(d.size_bytes for d in devices), sum(d.used_bytes for d in devices)
    found = f"{size(used)} of {size(total)} used{_in_memory(devices)}"
    if context.look and context.look.swapped_bytes:
        moved = (
            f"; {size(context.look.swapped_bytes)} moved in {context.look.seconds:.1f} s just now"
        )
        return fail("swap", found + moved, "free memory first, then swapoff -a")
    return warn("swap", found, "swapoff -a")


def _in_memory(devices: list[SwapDevice]) -> str:
    packed = [device for device in devices if "zram" in device.name]
    return ", in memory (zram)" if len(packed) == len(devices) else ""


def free_memory(context: CheckContext) -> Finding:
    """Check that there is memory left.

    Source: Linux, Documentation/filesystems/proc.rst (MemAvailable).
    """
    told = meminfo(context.host)
    free, total = told.get("MemAvailable"), told.get("MemTotal")
    if free is None or not total:
        return unknown("free memory", "the kernel does not tell how much memory is available")
    found = f"{size(free)} of {size(total)} available"
    if free < _FREE_SHARE * total:
        return warn("free memory", found, "stop what is not needed: ps -eo rss,comm --sort=-rss")
    return ok("free memory", found)


def transparent_huge_pages(context: CheckContext) -> Finding:
    """Check that programs do not get huge pages by chance, nor wait for the kernel to make one.

    Source: Linux, Documentation/admin-guide/mm/transhuge.rst.
    """
    check, told = "huge pages", huge_pages(context.host)
    enabled, defrag = told["enabled"], told["defrag"]
    if enabled is None:
        return unknown(check, "the kernel does not tell whether it gives out huge pages unasked")
    if enabled == "always":
        found = "always: whether a program gets them depends on how scattered memory is"
        return warn(check, found, f"echo madvise > {_THP}/enabled")
    if enabled != "never" and defrag == "always":
        found = f"{enabled}, and programs wait while memory is put in order (defrag always)"
        return warn(check, found, f"echo madvise > {_THP}/defrag")
    return ok(check, f"{enabled}: only for programs that ask" if enabled == "madvise" else "never")


def address_randomization(context: CheckContext) -> Finding:
    """Check that each process gets a layout of its own, so that several runs average over it.

    One layout is a bias that no number of runs shows. Source: Mytkowicz et al., "Producing wrong
    data without doing anything obviously wrong!", ASPLOS 2009; Curtsinger and Berger,
    "Stabilizer", ASPLOS 2013; pyperf, "system tune", turns it on as well.
    """
    level = randomization(context.host)
    if level is None:
        return unknown("ASLR", "the kernel does not tell whether it randomizes addresses")
    if level == 2:
        return ok("ASLR", "full: each process has a layout of its own, and runs average over them")
    how = "off" if level == 0 else f"partial ({level})"
    found = f"{how}: all runs share a layout, and with it its luck"
    return warn("ASLR", found, "sysctl -w kernel.randomize_va_space=2")


CHECKS: Checks = {
    "swap": swap,
    "free memory": free_memory,
    "huge pages": transparent_huge_pages,
    "ASLR": address_randomization,
}
