"""Counters of the kernel, read at boundaries: of the host, and of what a resource owns."""
