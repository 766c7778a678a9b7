"""Several traces as one."""

from dataclasses import replace

from benchyard.traces.building import TraceBuilder
from benchyard.traces.model import Flow, Trace
from benchyard.traces.sources import add_profile, side_by_side


def sample(start: int, *names: str) -> Trace:
    builder = TraceBuilder(zero=1_000)
    track = builder.track("host", "main")
    for place, name in enumerate(names):
        builder.slice(track, name, start + 10 * place, 10, {"place": place})
    builder.instant(track, "retry", start + 5)
    builder.count("host", "memory", start, 3.0, "B")
    builder.flow(Flow("rows", track, start, track, start + 1))
    builder.lose("no time", "byte 9")
    return builder.trace()


def rows(trace: Trace) -> list[tuple[str, str, int]]:
    tracks = [trace.tracks[int(number)].process for number in trace.slices.track]
    names = [trace.names[int(number)] for number in trace.slices.name]
    return [*zip(tracks, names, map(int, trace.slices.start), strict=True)]


def test_runs_stand_side_by_side_and_begin_together() -> None:
    found = side_by_side([sample(100, "a", "b"), sample(7_000, "b", "c")], ["old", "new"])
    assert rows(found) == [
        ("old: host", "a", 0),
        ("old: host", "b", 10),
        ("new: host", "b", 0),
        ("new: host", "c", 10),
    ]
    assert found.names == ["a", "b", "c"]
    assert [one.time for one in found.instants] == [5, 5]
    assert [found.tracks[one.track].process for one in found.instants] == ["old: host", "new: host"]
    assert [(one.process, one.times.tolist()) for one in found.counters] == [
        ("old: host", [0]),
        ("new: host", [0]),
    ]
    assert [(one.from_track, one.from_time) for one in found.flows] == [(0, 0), (1, 0)]
    assert [one.reason for one in found.losses] == ["old: no time", "new: no time"]
    assert {place: dict(one) for place, one in found.slices.details.items()} == {
        place: {"place": place % 2} for place in range(4)
    }


def test_the_same_title_twice_is_numbered() -> None:
    found = side_by_side([sample(100, "a"), sample(100, "a")], ["old", "old"])
    assert rows(found) == [("old: host", "a", 0), ("old (2): host", "a", 0)]


def with_profile(run: Trace, profile: Trace) -> Trace:
    builder = TraceBuilder(run.zero)
    builder.add(run)
    add_profile(builder, profile, "Sort", 130)
    return builder.trace()


def test_a_profile_without_a_clock_begins_where_its_step_does() -> None:
    run, profile = sample(100, "step"), replace(sample(7_000, "f"), zero=None)
    found = with_profile(run, profile)
    assert rows(found) == [("host", "step", 100), ("Sort: host", "f", 130)]
    assert found.zero == 1_000


def test_a_profile_with_a_clock_begins_at_its_own_time() -> None:
    run, profile = sample(100, "step"), replace(sample(7, "f"), zero=1_500)
    assert rows(with_profile(run, profile))[1] == ("Sort: host", "f", 507)


def test_nothing_beside_nothing_is_nothing() -> None:
    nothing = TraceBuilder().trace()
    assert side_by_side([nothing, nothing], ["a", "b"]).span() == (0, 0)
