"""How much memory programs get that must be told."""

import os


def heap_arguments(limit: int | None) -> tuple[str, str]:
    """Return Java's arguments for a heap of half the memory, all of it taken at the start.

    Java's own default is a quarter. Source: KROWN, which measures engines with half.

    Args:
        limit: Memory in bytes that it may use; None for all that this host has.
    """
    half = usable_memory(limit) // 2
    return f"-Xmx{half}", f"-Xms{half}"


def usable_memory(limit: int | None) -> int:
    """Return bytes: the container's limit, or what this host has.

    Args:
        limit: Bytes, or None without a limit.
    """
    return host_memory() if limit is None else limit


def host_memory() -> int:
    """Return the memory of this host in bytes."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
