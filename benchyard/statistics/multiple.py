"""Many comparisons at once: how an error rate is kept for all of them together."""

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return the p-values adjusted for being looked at together, in the order given.

    Calling a difference shown where its adjusted p-value is at most the level keeps the
    probability of even one false call, over all of them and however they depend on each other, at
    most the level. That is what a build that fails on any regression needs. The false discovery
    rate (Benjamini and Hochberg) promises less: some of the calls may be false.

    Args:
        p_values: Shape (tests,), from 0 to 1.

    Source: Holm, 1979, "A simple sequentially rejective multiple test procedure", Scandinavian
    Journal of Statistics 6 (2), 65-70.
    """
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for done, position in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - done) * p_values[position]))
        adjusted[position] = highest
    return tuple(adjusted)


def needed_p(adjusted: Sequence[float], level: float) -> float:
    """Return how small a p-value had to be for one more of the tests to be called.

    Args:
        adjusted: What ``holm`` returned.
        level: The level of the whole family.

    Source: Holm, 1979, section 2: with R of k tests called, the next is held against
    level / (k - R).
    """
    left = sum(p > level for p in adjusted)
    return level / left if left else level
