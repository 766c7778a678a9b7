"""Records of runs, with what they measured, as executing leaves them, and what sinks keep of it."""

import hashlib
import json
import random
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta, timezone

import pytest

from benchyard.core.errors import DocumentRejectedError
from benchyard.core.model import JsonObject, Outcome
from benchyard.publish.sinks.contract import Reader, Sink, Spooled, TimingWindow
from benchyard.publish.testresults import text_of
from benchyard.results.events import dump, events_of
from benchyard.results.record import Attempt, Repetition, RunRecord, StepRecord

FIRST = datetime(2026, 11, 21, 19, 30, tzinfo=UTC)
DIRTY = "sha256:" + "d" * 64


def subject(host: str = "h1", version: str = "1.2.2", commit: str = "a" * 40) -> JsonObject:
    """Make the document of a subject."""
    body: JsonObject = {
        "case": {"hash": "sha256:" + "c" * 64, "point": ""},
        "versions": {"DuckDB": {"version": version, "image": None}},
        "repositories": {"package words": {"commit": commit, "changes": DIRTY}},
        "host": host,
    }
    digest = hashlib.sha256(json.dumps(body).encode()).hexdigest()
    return {**body, "digest": f"sha256:{digest}"}


def record(
    number: int,
    seconds: float,
    duration_s: float,
    measured: JsonObject | None = None,
    suspect: Sequence[str] = (),
) -> RunRecord:
    """Make the record of a run of ``words``.

    Args:
        seconds: After ``FIRST``, when it began.
        duration_s: Of its only step, ``load``.
        measured: The subject; None is a record of an older version.
    """
    began = (FIRST + timedelta(seconds=seconds)).isoformat()
    made = Repetition("measured", 0.0, duration_s, Outcome.COMPLETED, suspect=tuple(suspect))
    attempt = Attempt(1, began, 0.0, duration_s, Outcome.COMPLETED, (made,))
    step = StepRecord(
        1, "load", "Load", "DuckDB", "load", {}, True, Outcome.COMPLETED, (attempt,)
    )  # fmt: skip
    host = measured.get("host") if measured else "h0"
    return RunRecord(
        case={"name": "words", "title": "words", "hash": "sha256:" + "c" * 64},
        run=number,
        outcome=Outcome.COMPLETED,
        started_at=began,
        ended_at=began,
        duration_s=duration_s,
        steps=(step,),
        environment={"host": host},
        subject=measured or {},
    )


def results(made: RunRecord) -> Spooled:
    """Return a run as a sink of TestResults gets it."""
    return Spooled(f"{made.run}.json", text_of(made).encode(), "archive/a.json")


def events(made: RunRecord) -> Spooled:
    """Return a run as a sink of events gets it."""
    return Spooled(f"{made.run}.events.jsonl", dump(events_of(made)), "archive/a.events.jsonl")


def several_results(second: int, walls: Sequence[float]) -> Spooled:
    """Return a document of another program that measured one thing several times."""
    document = {
        "name": "//x:rep",
        "startTime": (FIRST + timedelta(seconds=second)).timestamp(),
        "runTime": 1,
        "entries": {"entry": [{"name": "BM_a", "iters": "1", "wallTime": one} for one in walls]},
    }
    return Spooled("rep.json", json.dumps(document).encode(), "archive/rep.json")


#: Three runs within a second, none of the order of their times: of two versions, one suspect.
NEIGHBOURS = (
    record(1, 0.7, 0.01, subject(version="2.0.0")),
    record(2, 0.1, 0.03, subject()),
    record(3, 0.4, 0.02, subject(), ["the host swapped"]),
)


class SubjectTests:
    """What was measured goes along, and runs of one second keep their order, whatever the sink.

    A test module derives a class from it, and has fixtures for a sink and a reader of it.
    """

    #: Makes what the sink takes.
    spooled: Callable[[RunRecord], Spooled] = staticmethod(results)
    #: Of a history.
    runs = 5

    def test_runs_of_one_second_keep_their_order_and_their_subject(
        self, sink: Sink, reader: Reader
    ) -> None:
        for made in NEIGHBOURS:
            sink.store(self.spooled(made))
        found = list(reader.timings("words", "load"))
        assert [one.value for one in found] == [0.01, 0.02, 0.03]
        microseconds = [(one.began - FIRST) // timedelta(microseconds=1) for one in found]
        assert microseconds == [700_000, 400_000, 100_000]
        assert list(reader.starts("words", limit=1)) == [found[0].began]
        assert [one.subject for one in found] == [subject(version="2.0.0"), subject(), subject()]
        assert [one.suspect for one in found] == ["", "the host swapped", ""]
        assert [one.versions["DuckDB"] for one in found] == ["2.0.0", "1.2.2", "1.2.2"]
        assert {one.host for one in found} == {"h1"}

    def test_a_part_of_a_history(self, sink: Sink, reader: Reader) -> None:
        walls = [number + 0.5 for number in range(self.runs)]
        starts = [FIRST + timedelta(days=number) for number in range(self.runs)]
        for number in random.Random(1).sample(range(self.runs), self.runs):  # noqa: S311
            sink.store(self.spooled(record(number + 1, number * 86_400.0, walls[number])))
        second, later = starts[1], starts[1] + timedelta(microseconds=1)
        parts: list[tuple[TimingWindow, slice]] = [
            ({}, slice(None, None, -1)),
            ({"limit": 1000}, slice(None, None, -1)),
            ({"since": second.astimezone(timezone(timedelta(hours=5)))}, slice(None, 0, -1)),
            ({"since": later, "limit": 2}, slice(-1, -3, -1)),
            ({"since": second, "limit": 3}, slice(-1, -4, -1)),
        ]
        for window, part in parts:
            found = list(reader.timings("words", "load", **window))
            assert [one.value for one in found] == walls[part]
            assert [one.began for one in found] == starts[part]
            assert list(reader.starts("words", **window)) == starts[part]
        assert (list(reader.tests()), list(reader.entries("words"))) == (["words"], ["load"])
        for test, entry in (("words", "sort"), ("others", "load")):
            assert list(reader.timings(test, entry)) == []
        assert list(reader.starts("others")) == list(reader.entries("others")) == []

    def test_two_campaigns_have_runs_of_the_same_numbers(self, sink: Sink, reader: Reader) -> None:
        campaigns = [
            record(number, 60.0 * place + number, 0.1, measured)
            for place, measured in enumerate((subject(), subject(version="2.0.0")))
            for number in (1, 2)
        ]
        for made in (*campaigns, *campaigns):  # published, and published again
            sink.store(self.spooled(made))
        found = list(reader.timings("words", "load"))
        assert [one.began for one in found] == [made.began for made in reversed(campaigns)]
        assert [one.versions["DuckDB"] for one in found] == ["2.0.0", "2.0.0", "1.2.2", "1.2.2"]

    @pytest.mark.parametrize("name", ["a.json", "a.events.jsonl"])
    def test_what_is_no_document_is_rejected(self, sink: Sink, name: str) -> None:
        with pytest.raises(DocumentRejectedError):
            sink.store(Spooled(name, b"{}", "a"))

    def test_an_older_record_says_its_host_alone(self, sink: Sink, reader: Reader) -> None:
        sink.store(self.spooled(record(1, 0.0, 0.1)))
        [found] = reader.timings("words", "load")
        assert (found.host, found.versions, found.suspect) == ("h0", {}, "")
        assert "digest" not in found.subject

    def test_several_results_of_one_name_in_a_document_are_one_timing(
        self, sink: Sink, reader: Reader
    ) -> None:
        for second in (0, 1, 1, 2):
            middle = (1.3, 1.4, 1.5)[second]
            walls = (1.0, 2.0, middle) if second else (1.0, middle, float("nan"), 2.0)
            for wall in (walls, walls[::-1]):
                sink.store(several_results(second, wall))

        def told(limit: int | None) -> list[tuple[int, float]]:
            found = reader.timings("//x:rep", "BM_a", limit=limit)
            return [((one.began - FIRST).seconds, one.value) for one in found]

        every = [(2, 1.5), (2, 1.5), (1, 1.4), (1, 1.4), (0, 1.3), (0, 1.3)]
        for limit in (None, 3, 1, 20):
            assert told(limit=limit) == every[:limit]
