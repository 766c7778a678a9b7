"""What came of publishing, in words."""

from collections.abc import Iterator

from benchyard.core.wording import printable
from benchyard.publish.outcome import Outcome
from benchyard.statistics.figures import plural


def summary(outcome: Outcome) -> str:
    """Return one line: ``local: 3 documents published, 1 waits``."""
    counts = [
        (len(outcome.published), "published"),
        (sum(1 for one in outcome.published if not one.new), "of them archived before"),
        (len(outcome.confirmed), "uploaded, to be archived"),
        (len(outcome.rejected), "rejected"),
        (len(outcome.waiting), "waiting"),
        (outcome.elsewhere, "taken by another publisher"),
    ]
    told = [f"{number:,} {what}" for number, what in counts if number]
    if not told:
        told = ["nothing waits"]
    if outcome.left_alone:
        told.append(f"{plural(outcome.left_alone, 'other file')} left alone")
    return f"{outcome.sink}: {', '.join(told)}{'; interrupted' if outcome.interrupted else ''}"


def advice(outcome: Outcome) -> Iterator[str]:
    """Yield, for who did not come to publish, which command brings what was left behind."""
    command = f"benchyard publish --sink {outcome.sink}"
    # What has a path is a run that no document could be made of.
    waiting = sum(1 for one in outcome.waiting if "/" not in one.name)
    if waiting:
        yield printable(
            f"{outcome.sink}: {plural(waiting, 'document')} waiting; '{command}' brings "
            f"{_them(waiting)}"
        )
    if outcome.rejected:
        count = len(outcome.rejected)
        yield printable(
            f"{outcome.sink}: {plural(count, 'document')} rejected; '{command} --again' offers "
            f"{_them(count)} once more"
        )


def _them(count: int) -> str:
    return "it" if count == 1 else "them"


def problems(outcome: Outcome) -> Iterator[str]:
    """Yield a sentence for everything that did not go well."""
    if outcome.error:
        yield printable(f"{outcome.sink}: {outcome.error}")
    for rejected in outcome.rejected:
        yield printable(f"{rejected.name}: rejected: {rejected.reason}")
    for left in outcome.waiting:
        if left.reason and left.reason != outcome.error:
            yield printable(f"{left.name}: waits: {left.reason}")
    for published in outcome.published:
        if published.warning:
            yield printable(f"{published.name}: published, but: {published.warning}")
