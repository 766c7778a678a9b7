"""How much memory a container may take, for systems that must be told."""

import os


def usable_memory(limit: int | None) -> int:
    """Return bytes: the container's limit, or what this host has.

    Args:
        limit: Bytes, or None without a limit.
    """
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if limit is None else limit
