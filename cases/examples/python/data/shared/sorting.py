"""What is timed: functions that take what the case gives them."""

import bisect


def numbers(size):
    """Return what the functions get; called once, outside of the clock."""
    return [(17 * number) % size for number in range(size)]


def sort(values):
    """Sort with Python's own sort."""
    return sorted(values)


def insert(values):
    """Sort by insertion."""
    ordered = []
    for value in values:
        bisect.insort(ordered, value)
    return ordered
