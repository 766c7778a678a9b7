"""The memory: how much there is, and the settings that decide where it comes from."""

from dataclasses import dataclass

from benchyard.core.model import Json, JsonObject
from benchyard.host.facts.reading import Facts, Host, chosen, integer, known, pairs

_PAGES = "sys/kernel/mm/transparent_hugepage"


@dataclass(frozen=True, slots=True)
class SwapDevice:
    """One line of /proc/swaps.

    Args:
        kind: ``partition`` or ``file``.
    """

    name: str
    kind: str
    size_bytes: int
    used_bytes: int
    priority: int


def meminfo(host: Host) -> dict[str, int]:
    """Return /proc/meminfo in bytes."""
    told = {n: integer(v.removesuffix("kB").strip()) for n, v in pairs(host.text("proc/meminfo"))}
    return {name: kilobytes * 1024 for name, kilobytes in told.items() if kilobytes is not None}


def swap_devices(host: Host) -> list[SwapDevice] | None:
    """Return what is swapped to; None if the kernel does not tell."""
    text = host.text("proc/swaps")
    if text is None:
        return None
    rows = (line.split() for line in text.splitlines()[1:])
    return [device for row in rows if (device := _swap_device(row))]


def _swap_device(row: list[str]) -> SwapDevice | None:
    """Read one line; names of files have no blanks there but their octal codes."""
    if len(row) != 5:
        return None
    numbers = [integer(cell) for cell in row[2:]]
    size, used, priority = numbers
    if size is None or used is None or priority is None:
        return None
    return SwapDevice(row[0], row[1], size * 1024, used * 1024, priority)


def swap(host: Host) -> JsonObject:
    """Return the swap devices and how readily they are used (vm.swappiness)."""
    devices = swap_devices(host)
    listed: Json = None
    if devices is not None:
        listed = [
            {
                "name": device.name,
                "kind": device.kind,
                "size_bytes": device.size_bytes,
                "used_bytes": device.used_bytes,
                "priority": device.priority,
            }
            for device in devices
        ]
    return {"devices": listed, "swappiness": host.number("proc/sys/vm/swappiness")}


def huge_pages(host: Host) -> JsonObject:
    """Return when memory comes in huge pages, and when a process waits for one.

    Source: Linux, Documentation/admin-guide/mm/transhuge.rst.
    """
    facts: Facts = {
        "enabled": lambda: chosen(host.text(f"{_PAGES}/enabled")),
        "defrag": lambda: chosen(host.text(f"{_PAGES}/defrag")),
    }
    return known(facts)


def randomization(host: Host) -> int | None:
    """Return how addresses are randomized: 0 not, 1 without the heap, 2 fully.

    Source: Linux, Documentation/admin-guide/sysctl/kernel.rst, randomize_va_space.
    """
    return host.number("proc/sys/kernel/randomize_va_space")
