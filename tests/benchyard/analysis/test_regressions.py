"""A case's finished runs against a baseline: what is told, and that nothing is raised."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from benchyard.analysis.comparison.rows import Rule
from benchyard.analysis.regressions import PREVIOUS, Baseline, check_baseline
from benchyard.core.errors import InputError
from benchyard.core.model import Outcome
from benchyard.results.record import RunRecord
from tests.benchyard.analysis.comparison.conftest import failed, place, run, runs, step

BASE = (1.0, 1.01, 0.99, 1.005, 0.995, 1.002, 0.998, 1.004)
SLOW = tuple(2 * value for value in BASE)
TITLE = "tpch"


@pytest.fixture
def baseline(tmp_path: Path) -> Path:
    return place(tmp_path / "baseline", runs(*BASE))


def test_a_slower_step_is_told_with_medians_change_and_interval(
    baseline: Path, tmp_path: Path
) -> None:
    results = place(tmp_path / "now", runs(*SLOW))

    looked = Baseline(str(baseline)).look(TITLE, results)

    (found,) = looked.regressions
    assert (found.case, found.name, found.metric) == (TITLE, "Load", "duration_s")
    assert found.text.startswith(
        f"{TITLE}: step Load is slower: duration_s 2.00 s instead of 1.00 s"
    )
    assert "+100.0 %" in found.text
    assert "8 against 8 runs" in found.text
    assert found.ratio == pytest.approx(2, rel=0.02)
    low, high = found.ratio_interval or (None, None)
    assert low
    assert high
    assert low < 2 < high
    assert looked.summary.startswith("1 regression")


def test_of_one_folder_the_other_runs_are_compared(tmp_path: Path) -> None:
    results = place(tmp_path / "now", runs(*BASE, *SLOW))

    looked = Baseline(f"{results}@1-8").look(TITLE, results)

    (found,) = looked.regressions
    assert found.runs == (8, 8)


def test_another_amount_of_work_is_no_regression(baseline: Path, tmp_path: Path) -> None:
    records = [run(n, step(value, parameters={"rows": 5})) for n, value in enumerate(SLOW, 1)]

    looked = Baseline(str(baseline)).look(TITLE, place(tmp_path / "now", records))

    assert looked.regressions == ()
    assert "not comparable" in looked.summary


def test_a_folder_that_is_gone_is_told_later_and_refused_before(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")

    assert "is no folder" in Baseline(missing).look(TITLE, tmp_path).summary
    with pytest.raises(InputError, match="is no folder"):
        check_baseline(missing)
    check_baseline(None)
    check_baseline(str(tmp_path))


def test_a_file_that_cannot_be_read_is_told_and_fails_nothing(
    baseline: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = place(tmp_path / "now", runs(*SLOW))

    def broken(_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("benchyard.analysis.regressions.read_run_sets", broken)
    looked = Baseline(str(baseline)).look(TITLE, results)

    assert looked.regressions == ()
    assert "not compared with the baseline: [Errno 5]" in looked.summary


def nights(tmp_path: Path, *earlier: tuple[str, list[RunRecord]]) -> Path:
    results = place(
        tmp_path / "results", runs(*SLOW, subject={"host": "bench1", "case": {"hash": "new"}})
    )
    for name, records in earlier:
        place(results / "earlier" / f"{name}-0123456789ab", records)
    return results


def test_the_previous_campaign_is_the_newest_of_the_same_host_with_values(
    tmp_path: Path,
) -> None:
    here = {"host": "bench1"}
    results = nights(
        tmp_path,
        ("20260101T010000Z", runs(*SLOW, subject=here | {"case": {"hash": "older"}})),
        ("20260102T010000Z", runs(*BASE, subject=here | {"case": {"hash": "old"}})),
        ("20260103T010000Z", [run(1, failed(), subject=here)]),
        ("20260104T010000Z", runs(*SLOW, subject={"host": "bench2"})),
        ("20260105T010000Z", [run(1, failed(outcome=Outcome.TOLERATED), subject=here)]),
    )
    check_baseline(PREVIOUS)

    looked = Baseline(PREVIOUS).look(TITLE, results)

    assert [found.name for found in looked.regressions] == ["Load"]
    assert looked.against.startswith(
        "the campaign of 2026-01-01 00:01:00 UTC (3 later campaigns of another host or without "
        "values), of something else ("
    )
    assert "20260102T010000Z" in looked.summary
    assert looked.verdict.startswith("1 regression: tpch: step Load is slower")
    assert "Load" in looked.page


def test_the_first_campaign_of_a_host_has_nothing_to_be_compared_with(tmp_path: Path) -> None:
    results = nights(tmp_path, ("20260104T010000Z", runs(*BASE, subject={"host": "bench2"})))

    looked = Baseline(PREVIOUS).look(TITLE, results)

    assert looked.verdict == (
        "nothing to compare with: it is the first campaign on this host; "
        "of 1 earlier campaign none has values of this host"
    )
    assert (looked.regressions, looked.against) == ((), "")


def test_all_cases_are_one_family(tmp_path: Path) -> None:
    """Five against five tell one comparison, and not three together."""
    cases = [named(tmp_path / "base", name, BASE[:5]) and (name, tmp_path / name) for name in "abc"]
    for name, values in zip("abc", (SLOW, BASE, BASE), strict=True):
        named(tmp_path, name, values[:5])
    baseline = Baseline(str(tmp_path / "base"))
    alone = baseline.look("a", tmp_path / "a")

    together = baseline.look_at(cases)

    assert [found.name for found in alone.regressions] == ["Load"]
    assert [one.regressions for one in together.cases] == [(), (), ()]
    assert all("3 comparisons at the 1 % level together" in one.summary for one in together.cases)
    document = together.to_json(["a", "b", "c"], "base")
    assert document["tested"] == 3
    assert document["not_compared"] == []


def test_what_cannot_be_compared_hides_no_other_and_weakens_none(tmp_path: Path) -> None:
    named(tmp_path / "base", "a", BASE)
    named(tmp_path, "a", SLOW)
    named(tmp_path, "new", BASE)

    baseline = Baseline(str(tmp_path / "base"))
    together = baseline.look_at([("a", tmp_path / "a"), ("new", tmp_path / "new")])

    assert [len(one.regressions) for one in together.cases] == [1, 0]
    document = together.to_json(["a", "new"], "base")
    assert document["verdict"] == "regression"
    assert document["not_compared"] == [{"case": "new", "why": "the baseline has no runs of new"}]


def test_cases_of_one_command_share_what_is_known_of_the_host(tmp_path: Path) -> None:
    for folder, values in (("base", BASE), ("now", SLOW)):
        for name in "abc":
            named(tmp_path / folder, name, values)
    asked: list[int] = []

    def others() -> list[Path]:
        asked.append(1)
        return []

    baseline = Baseline(str(tmp_path / "base"), Rule(other_results=others))
    together = baseline.look_at([(name, tmp_path / "now" / name) for name in "abc"])

    assert [len(one.regressions) for one in together.cases] == [1, 1, 1]
    assert len(asked) == 1


def named(folder: Path, title: str, values: Sequence[float]) -> Path:
    """Place runs of a case of this name."""
    return place(
        folder / title, [replace(r, case={**r.case, "title": title}) for r in runs(*values)]
    )
