"""Which runs are executed and why: missing, changed, stale, all; and why the others are not."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.case.loading import Loaded
from benchyard.case.problems import Problem
from benchyard.case.registry import Registry
from benchyard.core.errors import InputError
from benchyard.core.model import Case, JsonObject, Outcome
from benchyard.results.campaigns import Campaign, read_campaign
from benchyard.results.layout import DONE, run_folder
from benchyard.results.record import RunRecord, write_record
from benchyard.suite.plan import Chooser, ChosenCase, make_suite_plan, seconds_of_run
from benchyard.suite.request import SuiteRequest

NOW = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)
CASE = Case(Path("/cases/c"), "urn:c", "c", "", ())


def finish(
    results: Path, run: int, days: float = 1.0, version: str = "old", took: float = 2.0
) -> None:
    ended = NOW - timedelta(days=days)
    folder = run_folder(results, run)
    folder.mkdir(parents=True)
    when = ended.isoformat()
    record = RunRecord({"hash": version}, run, Outcome.COMPLETED, when, when, took, ())
    write_record(folder, record)
    (folder / DONE).write_text(when + "\n")


def choose(
    results: Path, version: str = "old", *, host: str | None = None, **given: Any
) -> ChosenCase:
    """Choose of one case three runs; the testbed measures a version of it."""
    subject: JsonObject = {"case": {"hash": version}, **({"host": host} if host else {})}
    asked: dict[str, Any] = {"runs": 3, **given}
    chooser = Chooser(SuiteRequest(**asked), NOW, lambda _: subject)
    (entry,) = chooser.choose([Loaded(Path("x"), "c", (CASE,))], lambda _: results)
    return entry


def test_a_case_without_runs_is_executed_whatever_is_asked_for(tmp_path: Path) -> None:
    many: list[dict[str, Any]] = [{}, {"changed": True}, {"stale": 7.0}, {"force": True}]
    for options in many:
        entry = choose(tmp_path, **options)
        assert (entry.runs, entry.again, entry.why) == ((1, 2, 3), False, "no finished run")


@pytest.mark.parametrize(
    ("days", "version", "options", "runs", "campaign", "why"),
    [
        ([1, 1, 1], "new", {}, (), "", "files of the case old and new): --changed measures anew"),
        ([1], "new", {}, (1, 2, 3), "new", ""),
        ([1], "new", {"campaign": "keep"}, (2, 3), "keep", ""),
        ([1, 1, 1], "old", {"campaign": "new"}, (1, 2, 3), "new", "a new campaign"),
        ([1, 1, 1], "old", {"campaign": "new", "force": True}, (1, 2, 3), "new", ""),
        # By their records the runs that are there are the suite's own, and it begins no other.
        ([-0.01], "old", {"campaign": "new"}, (2, 3), "new", ""),
        ([100] * 3, "old", {"changed": True}, (), "", "not changed; "),
        ([9, 8, 7], "old", {"stale": 6.9}, (1, 2, 3), "new", "the last run is 7 days old"),
        ([9, 8, 7], "old", {"stale": 7.1}, (), "", ""),
        ([10] * 3, "old", {"stale": 7.0, "changed": True}, (1, 2, 3), "new", ""),
        ([10] * 3, "new", {"stale": 30.0, "changed": True}, (1, 2, 3), "new", ""),
        ([10] * 3, "old", {"stale": 30.0, "changed": True}, (), "", "not changed and not stale; "),
    ],
)
def test_what_is_there_decides_what_is_done_and_in_which_campaign(
    tmp_path: Path,
    days: Sequence[float],
    version: str,
    options: Mapping[str, Any],
    runs: tuple[int, ...],
    campaign: str,
    why: str,
) -> None:
    for run, ago in enumerate(days, 1):
        finish(tmp_path, run, days=ago)
    entry = choose(tmp_path, version, **options)
    assert (entry.runs, entry.again) == (runs, False)
    assert entry.campaign == campaign or not runs
    assert why in entry.why


def test_a_testbed_elsewhere_is_asked_whether_it_would_measure_something_else(
    tmp_path: Path,
) -> None:
    for run in (1, 2, 3):
        finish(tmp_path, run)
    entry = choose(tmp_path, host="another", pool="testbeds", changed=True)
    assert (entry.runs, entry.again, entry.campaign) == ((1, 2, 3), False, "auto")
    assert entry.why == "its testbed tells whether it has changed"


def test_a_retry_of_the_suite_does_not_repeat_what_it_has_done(tmp_path: Path) -> None:
    """Runs that ended after the suite began at first are its own."""
    finish(tmp_path, 1, days=-0.01, version="new")
    finish(tmp_path, 2, days=10)
    finish(tmp_path, 3, days=10)
    entry = choose(tmp_path, "new", force=True)
    assert (entry.runs, entry.again, entry.campaign) == ((2, 3), True, "auto")


@pytest.mark.parametrize("options", [{"stale": 7.0}, {"changed": True}, {"campaign": "new"}])
def test_a_retry_of_the_suite_begins_no_second_campaign(
    tmp_path: Path, options: Mapping[str, Any]
) -> None:
    finish(tmp_path, 1, days=-0.01, version="new")
    entry = choose(tmp_path, "new", **options)
    assert (entry.runs, entry.campaign) == ((2, 3), options.get("campaign", "auto"))


def test_an_invalid_case_is_told_and_hides_no_other(tmp_path: Path) -> None:
    problem = Problem(Path("bad/metadata.json"), "$.name", "must be a string")
    loaded = [Loaded(Path("x"), "bad", (), (problem, problem)), Loaded(Path("y"), "c", (CASE,))]
    bad, good = Chooser(SuiteRequest(runs=3), NOW, lambda _: {}).choose(loaded, lambda _: tmp_path)
    assert bad.runs == ()
    assert bad.problems
    assert bad.why.startswith("it is not valid: bad/metadata.json: $.name: must be a string (and 1")
    assert good.runs == (1, 2, 3)


def test_the_length_of_a_run_comes_from_the_newest_ones(tmp_path: Path) -> None:
    for run, (days, took) in enumerate([(9, 100.0), (3, 1.0), (2, 2.0), (1, 3.0)], 1):
        finish(tmp_path, run, days=days, took=took)
    assert seconds_of_run(read_campaign(tmp_path)) == 2.0
    assert choose(tmp_path, runs=5).seconds == 2.0
    assert seconds_of_run(read_campaign(tmp_path / "nowhere")) is None


def test_what_is_no_record_is_no_finished_run(tmp_path: Path) -> None:
    finish(tmp_path, 1, days=2, took=1.0)
    finish(tmp_path, 2, days=1, took=9.0)
    (run_folder(tmp_path, 2) / "run.json").write_text('{"no": "record"}')
    assert seconds_of_run(read_campaign(tmp_path)) == 1.0
    assert choose(tmp_path, runs=2).runs == (2,)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"runs": 0}, "runs 0: write 1 to"),
        ({"budget": 0.0}, "budget 0.0: write hours"),
        ({"budget": float("inf")}, "budget inf: write hours"),
        ({"stale": -1.0}, "stale -1.0: write 0 to 36,525 days"),
        ({"stale": 1e300}, "stale 1e\\+300: write 0 to 36,525 days"),
        ({"force": True, "stale": 1.0}, "leave out changed and stale, or force"),
    ],
)
def test_what_nobody_can_mean_is_refused(options: Mapping[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        SuiteRequest(**options).check()


@given(st.integers(1, 5), st.sets(st.integers(1, 8)), st.floats(0, 20), st.booleans())
def test_wanted_runs_are_within_what_was_asked_for(
    runs: int, done: set[int], stale: float, changed: bool
) -> None:
    ended = {run: (NOW - timedelta(days=run)).isoformat() for run in done}
    records = {n: RunRecord({}, n, Outcome.COMPLETED, at, at, 1.0, ()) for n, at in ended.items()}
    chooser = Chooser(
        SuiteRequest(runs=runs, stale=stale, changed=changed),
        NOW,
        lambda _: {"case": {"hash": "new"}},
        know=lambda _: Campaign(Path(), records),
    )
    (entry,) = chooser.choose([Loaded(Path("x"), "c", (CASE,))], lambda _: Path("/nowhere"))
    missing = set(range(1, runs + 1)) - done
    assert missing <= set(entry.runs) <= set(range(1, runs + 1))
    assert list(entry.runs) == sorted(set(entry.runs))
    assert (entry.campaign == "new") == bool(set(entry.runs) - missing)
    assert not entry.again
    assert entry.why


# -- planning
def write_cases(root: Path, *names: str) -> None:
    for name in names:
        folder = root / name
        folder.mkdir(parents=True)
        (folder / "metadata.json").write_text(json.dumps({"name": name, "steps": []}))


def plan(root: Path, **options: Any) -> Any:
    asked: dict[str, Any] = {"root": str(root), "runs": 3, **options}
    return make_suite_plan(SuiteRequest(**asked), Registry({}), NOW)


def test_a_plan_names_invalid_cases_too(tmp_path: Path) -> None:
    write_cases(tmp_path, "a", "b")
    made = plan(tmp_path)
    assert [bool(entry.problems) for entry in made.entries] == [True, True]
    assert made.turns == []
    assert made.runs == []
    assert made.seed is None


def test_a_seed_is_chosen_where_none_is_given(tmp_path: Path) -> None:
    write_cases(tmp_path, "a")
    assert len({plan(tmp_path, order="random").seed for _ in range(3)}) > 1
    assert plan(tmp_path, order="random", seed=7).seed == 7
    assert plan(tmp_path, order="round-robin", seed=7).seed is None


def test_a_selection_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no cases below"):
        plan(tmp_path)
    with pytest.raises(InputError, match="there is no folder"):
        plan(tmp_path / "nowhere")
    with pytest.raises(InputError, match="no case is 'x'"):
        plan(tmp_path, cases=("x",))


def test_what_testbeds_elsewhere_have_done_is_not_told_from_this_folder(tmp_path: Path) -> None:
    for run in (1, 2):
        finish(tmp_path, run, days=-1)
    entry = choose(tmp_path, campaign="new", pool="testbeds")
    assert (entry.runs, entry.campaign, entry.why) == ((1, 2, 3), "new", "a new campaign")
