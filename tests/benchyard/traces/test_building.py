"""A trace made piece by piece."""

from benchyard.traces.building import TraceBuilder
from benchyard.traces.model import Flow, Instant, Loss, Track


def test_names_and_tracks_are_there_once_and_times_are_in_order() -> None:
    builder = TraceBuilder(zero=7)
    first, second = builder.track("p", "a"), builder.track("p", "b")
    assert builder.track("p", "a") == first
    builder.slice(second, "load", 5, 2, {"rows": 3})
    builder.slice(first, "load", 1, 1)
    for time, value in ((9, 2.0), (4, 1.0)):
        builder.count("p", "memory", time, value, "B")
    builder.instant(first, "killed", 3)
    builder.flow(Flow("data", first, 1, second, 5))
    trace = builder.trace()
    assert trace.tracks == [Track("p", "a"), Track("p", "b")]
    assert trace.names == ["load"]
    assert trace.slices.details == {0: {"rows": 3}}
    assert trace.counters[0].times.tolist() == [4, 9]
    assert trace.counters[0].values.tolist() == [1.0, 2.0]
    assert trace.counters[0].unit == "B"
    assert trace.instants == [Instant(first, "killed", 3)]
    assert trace.zero == 7
    assert trace.span() == (1, 9)


def test_losses_of_one_reason_are_counted_with_the_first() -> None:
    builder = TraceBuilder()
    for where in ("byte 5", "byte 9"):
        builder.lose("no time", where)
    builder.lose("no name", "byte 7", 3)
    assert builder.trace().losses == [Loss("no time", 2, "byte 5"), Loss("no name", 3, "byte 7")]
    assert str(builder.trace().losses[1]) == "3 times: no name (first at byte 7)"
    assert builder.trace().span() == (0, 0)
