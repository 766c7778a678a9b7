"""Runs as traces: executed ones, and whatever a run that broke off leaves."""

import json
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchyard.core.errors import InputError
from benchyard.core.model import Json, Outcome
from benchyard.results.attempts import note_began
from benchyard.results.record import (
    Attempt,
    ErrorRecord,
    PhaseRecord,
    Repetition,
    RunRecord,
    StepRecord,
    read_record,
    write_record,
)
from benchyard.traces.model import Trace
from benchyard.traces.nesting import nest
from benchyard.traces.of_run import UNKNOWN_HOST, trace_of_run
from benchyard.traces.statistics import statistics_of
from tests.benchyard.results.conftest import metrics_text
from tests.benchyard.run.conftest import Call, Lab, results, step
from tests.benchyard.show.curves.conftest import MakeRun, host_rows
from tests.conftest import MakeCase, RunBenchyard, process

BEGAN = "2026-11-20T08:00:00+00:00"
ZERO = 1_795_161_600 * 10**9
DONE, FAILED = Outcome.COMPLETED, Outcome.FAILED


def paths(trace: Trace) -> dict[str, list[str]]:
    """Return each thread's slices, as paths of names, in their order."""
    nesting = nest(trace.slices)
    found: dict[str, list[str]] = {}
    for track in trace.tracks:
        found[track.thread] = []
    on: list[int] = trace.slices.track.tolist()
    for place, track in enumerate(on):
        names: list[str] = []
        at = place
        while at >= 0:
            names.append(trace.names[int(trace.slices.name[at])])
            at = int(nesting.parent[at])
        found[trace.tracks[track].thread].append("/".join(reversed(names)))
    return found


def details(trace: Trace, name: str) -> list[Mapping[str, Json]]:
    return [
        trace.slices.details.get(place, {})
        for place, which in enumerate(trace.slices.name.tolist())
        if trace.names[which] == name
    ]


def instants(trace: Trace) -> dict[str, list[Mapping[str, Json]]]:
    found: dict[str, list[Mapping[str, Json]]] = {}
    for one in trace.instants:
        found.setdefault(one.name, []).append(one.details)
    return found


def span(trace: Trace, name: str) -> list[tuple[float, float]]:
    """Return start and end (s) of the slices of a name."""
    which = [place for place, n in enumerate(trace.slices.name) if trace.names[n] == name]
    return [(trace.slices.start[i] / 1e9, trace.slices.end[i] / 1e9) for i in which]


def stored(folder: Path, *steps: StepRecord, **facts: Any) -> Path:
    """Write a record of a run of ten seconds."""
    run = folder / "run_1"
    run.mkdir()
    record = RunRecord({"title": "words"}, 1, DONE, BEGAN, BEGAN, 10.0, steps)
    environment: dict[str, Json] = {"host": "bench1"}
    write_record(run, replace(record, environment=environment, **facts))
    return run


def made_step(index: int, name: str, *attempts: Attempt, resource: str = "DB") -> StepRecord:
    outcome = attempts[-1].outcome if attempts else Outcome.SKIPPED
    parameters: dict[str, Json] = {"query": "q1"}
    return StepRecord(
        index, name, name, resource, "execute", parameters, True, outcome, attempts, "a reason"
    )


def lasting(start: float, end: float, *made: Repetition, **more: Any) -> Attempt:
    return Attempt(1, BEGAN, start, end, DONE, made, **more)


# -- executed


def test_phases_steps_attempts_and_executions_nest(lab: Lab) -> None:
    lab.cost = 1.0
    lab.script.on("Alpha.work", 1.0, 2.0, 3.0)
    lab.script.on("Alpha.start", 4.0)
    case = lab.case(step("load", warmup=1, repeat=2, parameters={"text": "x"}))
    lab.execute(case)
    trace = trace_of_run(results(case) / "run_1")
    assert paths(trace)["Alpha"] == [
        "initialize",
        "load",
        "load/attempt 1",
        "load/attempt 1/start",
        "load/attempt 1/ready",
        "load/attempt 1/warmup",
        "load/attempt 1/measured",
        "load/attempt 1/measured",
        "stop",
    ]
    assert paths(trace)["lab"] == ["run", "run/set-up", "run/steps", "run/wind-up"]
    lengths = [round(end - start, 9) for start, end in span(trace, "measured")]
    assert lengths == [2.0, 3.0]
    assert [end - start for start, end in span(trace, "start")] == [4.0]
    [about] = details(trace, "load")
    assert about["parameters"] == {"text": "x"}
    assert about["outcome"] == "completed"
    assert [one["number"] for one in details(trace, "measured")] == [1, 2]
    host = read_record(results(case) / "run_1").environment["host"]
    assert all(track.process == host for track in trace.tracks)


def test_retries_and_failures_are_marked(lab: Lab) -> None:
    lab.cost = 1.0
    why = RuntimeError("connection refused")
    lab.script.on("Alpha.work", why, 1.0)
    case = lab.case(step("load", retries=2, retry_delay=0.01))
    lab.execute(case)
    trace = trace_of_run(results(case) / "run_1")
    assert [path.split("/")[1:] for path in paths(trace)["Alpha"] if path.count("/") == 1] == [
        ["attempt 1"],
        ["attempt 2"],
    ]
    found = instants(trace)
    assert [one["attempt"] for one in found["retry"]] == [2]
    assert "connection refused" in str(found["retry"][0]["reason"])
    assert [one["step"] for one in found["failed"]] == ["load"]
    assert details(trace, "attempt 1")[0]["outcome"] == "failed"


def test_a_failed_run_shows_what_never_began(lab: Lab) -> None:
    lab.script.on("Alpha.work", RuntimeError("no"))
    case = lab.case(step("load"), step("query", needs=["load"]))
    lab.execute(case)
    trace = trace_of_run(results(case) / "run_1")
    assert [one["step"] for one in instants(trace)["skipped"]] == ["query"]
    assert "query" not in trace.names
    assert details(trace, "run")[0]["outcome"] == "failed"


def test_steps_side_by_side_never_share_a_thread(lab: Lab) -> None:
    together = threading.Barrier(2)
    within = threading.Barrier(2)

    def long(_call: Call) -> None:
        together.wait(10)
        within.wait(10)
        lab.clock.advance(3.0)

    def short(_call: Call) -> None:
        together.wait(10)
        lab.clock.advance(1.0)
        within.wait(10)

    lab.script.on("Crowd.work", long, short)
    case = lab.case(
        step("a", "Crowd", needs=[]),
        step("b", "Crowd", needs=[]),
        step("c", "Alpha", needs=["a", "b"]),
    )
    lab.execute(case)
    trace = trace_of_run(results(case) / "run_1")
    found = paths(trace)
    assert [*found] == ["lab", "Crowd", "Crowd (2)", "Alpha"]
    on = {name: [t for t, several in found.items() if name in several] for name in "ab"}
    assert sorted([*on["a"], *on["b"]]) == ["Crowd", "Crowd (2)"]
    arrows = [(one.from_time, one.to_time) for one in trace.flows]
    assert arrows
    assert all(left <= reached for left, reached in arrows)


@pytest.mark.slow
def test_a_real_run(case_folder: MakeCase, run_benchyard: RunBenchyard) -> None:
    flag = "test -e ../flag || { touch ../flag; echo nope >&2; exit 3; }"
    case = case_folder(
        "real",
        process("a", "sleep 0.4", needs=[]),
        process("b", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; sleep 0.2", needs=[]),
        process("kill", "kill -9 $$", needs=["a", "b"], may_fail=True, retries=0),
        process("retry", flag, needs=["kill"], retries=1, retry_delay=0.1),
    )
    ended = run_benchyard("run", case, "--runs", "1", "--direct", "--interval", "0.02")
    assert ended.returncode == 0, ended.stderr
    trace = trace_of_run(case / "results" / "run_1")
    found = paths(trace)
    assert {"a", "b"} <= {*found["Process"], *found["Process (2)"]}
    assert "retry/delay" in found["Process"]
    # A busy host may add that samples were missed, or that a step is suspect.
    ours = [name for name in instants(trace) if name not in {"samples missed", "suspect"}]
    assert ours == ["killed", "failed", "retry"]
    assert "SIGKILL" in str(instants(trace)["killed"][0]["reason"])
    counters = {one.name: one for one in trace.counters}
    assert {"CPU of the host", "memory of the host", "CPU of Process"} <= {*counters}
    assert counters["memory of the host"].values.min() > 1e6
    assert trace.losses == []
    assert trace.zero is not None
    assert abs(trace.zero - (case / "results" / "run_1").stat().st_mtime_ns) < 60e9


# -- from records


def test_a_short_step_within_a_longer_one_is_beside_it_and_not_inside(tmp_path: Path) -> None:
    steps = made_step(1, "long", lasting(1, 9)), made_step(2, "short", lasting(2, 3))
    found = paths(trace_of_run(stored(tmp_path, *steps)))
    assert found["DB"] == ["long", "long/attempt 1"]
    assert found["DB (2)"] == ["short", "short/attempt 1"]


def test_threads_of_odd_resources_stay_apart(tmp_path: Path) -> None:
    steps = (
        made_step(1, "a", lasting(0, 5), resource="lab"),
        made_step(2, "b", lasting(0, 5), resource="X"),
        made_step(3, "c", lasting(0, 5), resource="X"),
        made_step(4, "d", lasting(0, 5), resource="X (2)"),
    )
    found = paths(trace_of_run(stored(tmp_path, *steps)))
    tops = {
        thread: [path for path in several if "/" not in path] for thread, several in found.items()
    }
    assert tops.pop("lab") == ["run"]
    assert sorted(tops.values()) == [["a"], ["b"], ["c"], ["d"]]


def test_suspects_kills_and_want_of_memory_are_marked(tmp_path: Path) -> None:
    killed = ErrorRecord("CommandFailedError", "'x' failed: killed by SIGTERM; on stderr: nothing")
    full = ErrorRecord("CommandFailedError", "out of memory: the kernel killed it at its limit")
    suspect = Repetition("measured", 0, 1, DONE, {}, suspect=("the host swapped",))
    starved = Repetition("measured", 1, 1, DONE, {"host_oom_kill_count": 2.0})
    steps = (
        made_step(1, "a", lasting(0, 2, suspect, starved)),
        made_step(2, "b", replace(lasting(2, 3), outcome=FAILED, error=killed)),
        made_step(3, "c", replace(lasting(3, 4), outcome=FAILED, error=full)),
        made_step(4, "d", replace(lasting(4, 5), outcome=Outcome.TIMED_OUT)),
    )
    found = instants(trace_of_run(stored(tmp_path, *steps)))
    assert [one["reasons"] for one in found["suspect"]] == [["the host swapped"]]
    assert [one["step"] for one in found["killed"]] == ["b"]
    assert [one["step"] for one in found["out of memory"]] == ["a", "c"]
    assert found["out of memory"][0]["killed"] == 2.0
    assert [one["step"] for one in found["timed out"]] == ["d"]


def test_pauses_gaps_and_earlier_tries(tmp_path: Path) -> None:
    run = stored(
        tmp_path,
        made_step(1, "a", lasting(1, 3)),
        made_step(2, "b", lasting(2, 4)),
        made_step(3, "c", lasting(6, 8)),
        collector={"gaps": [[2.5, 3], "odd"], "error": "the disk is full"},
        tries=({"started_at": BEGAN, "outcome": "failed"},),
    )
    trace = trace_of_run(run)
    assert span(trace, "pause") == [(4, 6)]
    assert (span(trace, "set-up"), span(trace, "wind-up")) == ([(0, 1)], [(8, 10)])
    found = instants(trace)
    assert found["samples missed"] == [{"missed": 3}]
    assert found["run tried again"] == [{"earlier": [{"started_at": BEGAN, "outcome": "failed"}]}]
    said = " ".join(map(str, trace.losses))
    assert "the disk is full" in said
    assert "gaps" in said
    assert trace.zero == ZERO


def test_pulls_of_images_are_told_in_a_thread_of_their_own(tmp_path: Path) -> None:
    pull: dict[str, Json] = {
        "image": "mysql:8",
        "started_at": "2026-11-20T08:00:01+00:00",
        "ended_at": "2026-11-20T08:00:03+00:00",
        "duration_s": 2.0,
        "bytes": 12,
    }
    run = stored(tmp_path, made_step(1, "a", lasting(4, 5)), resources={"DB": {"pulls": [pull]}})
    trace = trace_of_run(run)
    assert span(trace, "pull") == [(1, 3)]
    assert details(trace, "pull") == [{"image": "mysql:8", "bytes": 12}]
    assert paths(trace)["DB: pulls"] == ["pull"]


def test_times_that_cannot_be_are_losses(tmp_path: Path) -> None:
    phase = PhaseRecord("start", "DB", 1, 1e50, 1.0, DONE)
    odd = Repetition("measured", -1e80, 1, DONE)
    steps = (
        made_step(1, "a", lasting(0, 2, odd)),
        made_step(2, "b", lasting(3, 1)),
        made_step(3, "c", lasting(1e90, 1e91)),
        made_step(2, "b", lasting(5, 6)),
    )
    trace = trace_of_run(stored(tmp_path, *steps, phases=(phase,)))
    assert {loss.reason: loss.count for loss in trace.losses if "samples" not in loss.reason} == {
        "times that no run can have": 3,
        "ends before their beginnings, which are taken for both": 2,
        "steps of a number that another has": 1,
    }
    assert int(trace.slices.duration.min()) == 0
    assert int(statistics_of(trace).by_path.self_time.min()) >= 0


# -- without a record


def test_a_run_that_broke_off_shows_its_log_and_samples(make_run: MakeRun) -> None:
    folder = make_run(host_rows(2, cpu_user_system=1.0))
    (folder / "run.json").unlink()
    (folder / "samples.raw").write_bytes(b"raw")
    (folder / "resources.csv").write_text("run,step,timestamp,resource,what,name,cpu_s\n")
    lines = [
        "2026-11-20 08:00:01,500 INFO words run 1 step 1 load: started",
        "Traceback (most recent call last):",
        "2026-11-20 08:00:02,250 WARNING out of patience",
    ]
    (folder / "log.txt").write_text("\n".join(lines))
    note_began(folder.parent, "words", 1, BEGAN, {})
    trace = trace_of_run(folder)
    assert trace.zero == ZERO
    assert [(one.name, one.time) for one in trace.instants] == [
        ("words run 1 step 1 load: started", 1_500_000_000),
        ("out of patience", 2_250_000_000),
    ]
    assert span(trace, "run") == [(0, 2.25)]
    assert {one.name for one in trace.counters} >= {"CPU of the host"}
    assert [loss.first for loss in trace.losses] == ["run.json", "samples.raw"]


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"format": "benchyard-run", "version": 99}', b"\xff\x00"]
)
def test_a_damaged_record_is_a_loss(make_run: MakeRun, content: bytes) -> None:
    folder = make_run(host_rows(1))
    (folder / "run.json").write_bytes(content)
    trace = trace_of_run(folder)
    assert trace.losses[0].first == "run.json"
    assert trace.counters
    assert {one.process for one in trace.counters} == {UNKNOWN_HOST}
    assert trace.zero is None


def test_a_record_of_an_older_version_is_read(tmp_path: Path) -> None:
    run = stored(tmp_path, made_step(1, "a", lasting(0, 1)))
    document = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**document, "version": 1}))
    assert "a" in trace_of_run(run).names


def test_a_run_of_krowns(tmp_path: Path) -> None:
    run = tmp_path / "case" / "results" / "run_1"
    run.mkdir(parents=True)
    rows = [(1, 0.1, 5), (1, 1.1, 5), (2, 1.2, 7), (2, 3.2, 7)]
    (run / "metrics.csv").write_text(metrics_text(rows), newline="")
    (run / ".done").touch()
    trace = trace_of_run(run)
    assert span(trace, "step 2") == [(1.2, 3.2)]
    assert {"memory of the host"} <= {one.name for one in trace.counters}
    assert "KROWN" in str(trace.losses[0])


@pytest.mark.parametrize("name", ["run_1", "elsewhere"])
def test_a_folder_without_a_run_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="no such folder"):
        trace_of_run(tmp_path / name)
    (tmp_path / name).mkdir()
    with pytest.raises(InputError, match="holds no run"):
        trace_of_run(tmp_path / name)
