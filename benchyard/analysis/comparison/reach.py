"""What so few runs can never tell, said before or after they are made."""

from benchyard.core.quantity import percent
from benchyard.statistics.pairs import fewest_pairs, smallest_paired_p
from benchyard.statistics.ranks import fewest_against, fewest_values, smallest_p


def cannot_tell(n_baseline: int, n_candidate: int, level: float, comparisons: int = 1) -> str:
    """Say that so many runs cannot show any difference, however large, and how many can.

    The level is divided among the comparisons (Bonferroni): Holm's correction, which judges them
    later, asks for no more than that, and for as much from the first one that it calls.

    Args:
        n_baseline: Runs of the baseline that count, as ``n_candidate`` those of the candidate.
        level: Of all comparisons together, from 0 to 1.
        comparisons: Steps times metrics (and pairs of sides) that are tested together.

    Returns:
        A clause such as "5 and 5 runs cannot tell at the 1 % level over 22 comparisons; 8 and 8
        can, or 12 against the baseline's 5"; empty where they can tell.
    """
    each = level / max(1, comparisons)
    if n_baseline and n_candidate and smallest_p(n_baseline, n_candidate) <= each:
        return ""
    few = f"{n_baseline} and {n_candidate} runs cannot tell {_at(level, comparisons)}"
    return f"{few}; {_enough(n_baseline, each)}"


def pairs_cannot_tell(n: int, level: float, comparisons: int = 1) -> str:
    """Say the same of runs that both values are of, such as the durations of two of their steps."""
    each = level / max(1, comparisons)
    if smallest_paired_p(n) <= each:
        return ""
    return f"{n} runs cannot tell {_at(level, comparisons)}; {fewest_pairs(each)} can"


def _at(level: float, comparisons: int) -> str:
    over = f" over {comparisons:,} comparisons" if comparisons > 1 else ""
    return f"at the {percent(level, 4)} level{over}"


def _enough(n_baseline: int, level: float) -> str:
    equal, against = fewest_values(level), fewest_against(n_baseline, level)
    if against is not None and against <= equal:
        return f"{against} against the baseline's {n_baseline} can"
    more = f", or {against} against the baseline's {n_baseline}" if against else ""
    return f"{equal} and {equal} can{more}"
