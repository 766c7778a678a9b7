"""Where what was measured changed along a series, and in what."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from benchyard.publish.sinks import Timing
from benchyard.results.subject import Difference, Subject, differences, in_words


@dataclass(frozen=True, slots=True)
class Change:
    """The first timing of another subject.

    Args:
        timing: It.
        differences: From the timing before it on its host.
    """

    timing: Timing
    differences: tuple[Difference, ...]

    @property
    def text(self) -> str:
        """What differs, before and after: "DuckDB 1.2.2 and 2.0.0"."""
        return in_words(self.differences)


def changes_in(timings: Iterable[Timing]) -> Iterator[Change]:
    """Yield where the subject is another than at the timing before, of the same host.

    Args:
        timings: Oldest first, of any number of hosts.
    """
    before: dict[str, Subject] = {}
    for timing in timings:
        found = _between(before.get(timing.host, {}), timing.subject)
        if found:
            yield Change(timing, found)
        before[timing.host] = timing.subject


def _between(before: Subject, after: Subject) -> tuple[Difference, ...]:
    found = differences(before, after)
    digests = before.get("digest"), after.get("digest")
    if found or None in digests or digests[0] == digests[1]:
        return found
    if "case" in before and "case" in after:
        return ()  # one of them tells what the other does not know
    return (Difference("subject", *digests),)
