"""What a comparison can never tell, said before the runs for it are made."""

from pathlib import Path
from typing import Any

from benchyard.analysis.regressions import PREVIOUS
from benchyard.suite.foreseeing import foresee_comparison
from benchyard.suite.plan import ChosenCase
from tests.benchyard.analysis.comparison.conftest import place, run, runs, step, titled

FIVE = (1.0, 1.1, 1.2, 1.3, 1.4)


def asked(*titles: str, there: Path, runs: int, campaign: str = "auto") -> list[ChosenCase]:
    given: dict[str, Any] = {"wanted": runs, "campaign": campaign}
    return [ChosenCase(title, "", results=there / title, **given) for title in titles]


def test_every_measured_step_of_every_case_counts(tmp_path: Path) -> None:
    steps = [step(1.0, name=n, measure=n != "s", suspect=["busy"]) for n in ("load", "q", "s")]
    for title in ("a", "b"):
        place(tmp_path / "base" / title, [run(n, *steps, **titled(title)) for n in range(1, 6)])

    (told,) = foresee_comparison(str(tmp_path / "base"), asked("a", "b", there=tmp_path, runs=5))

    assert "a, b: 5 and 5 runs cannot tell at the 1 % level over 4 comparisons; " in told


def test_the_campaign_before_is_what_is_there_once_another_begins(tmp_path: Path) -> None:
    results = place(tmp_path / "tpch", runs(*FIVE))
    place(results / "earlier" / "20260101T010000Z-0123456789ab", runs(*FIVE[:2]))

    (goes_on,) = foresee_comparison(PREVIOUS, asked("tpch", there=tmp_path, runs=5))
    (begins,) = foresee_comparison(PREVIOUS, asked("tpch", there=tmp_path, runs=4, campaign="new"))

    assert "2 and 5 runs cannot tell" in goes_on
    assert "5 and 4 runs cannot tell" in begins


def test_runs_of_the_baselines_own_folder_are_not_the_candidates(tmp_path: Path) -> None:
    place(tmp_path / "tpch", runs(*FIVE))
    (told,) = foresee_comparison(f"{tmp_path / 'tpch'}@1-5", asked("tpch", there=tmp_path, runs=8))

    assert "5 and 3 runs cannot tell" in told


def test_what_has_nothing_to_be_compared_with_is_named(tmp_path: Path) -> None:
    place(tmp_path / "base", runs(*FIVE))
    cases = asked("tpch", "w", "x", "y", "z", there=tmp_path, runs=5)

    (told,) = foresee_comparison(str(tmp_path / "base"), cases)
    (first,) = foresee_comparison(PREVIOUS, asked("tpch", there=tmp_path, runs=5))

    assert told.endswith("nothing to compare with: w, x, y and 1 more")
    assert first == "against previous: nothing to compare with: tpch"


def test_an_empty_baseline_is_one_sentence(tmp_path: Path) -> None:
    (told,) = foresee_comparison(str(tmp_path), asked("tpch", there=tmp_path, runs=5))
    assert told.startswith("a comparison with the baseline is not possible: ")
