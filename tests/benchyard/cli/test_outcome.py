"""Much advice is said in few lines, and nothing of it gets lost."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.cli.outcome import _print_remarks, digest  # pyright: ignore[reportPrivateUsage]
from tests.benchyard.analysis.comparison.conftest import place, run, step
from tests.benchyard.cli.conftest import Cli


def test_what_differs_in_numbers_only_is_one_line() -> None:
    lines = digest(
        [
            (2, "load", "±13.5 %: needs about 1,261 runs for ±1 %"),
            (3, "q01", "warm up"),
            (4, "q03", "±2 %: needs about 12 runs for ±1 %"),
        ]
    )
    assert lines == [
        "steps 2, 4: ±2..13.5 %: needs about 12..1,261 runs for ±1 %",
        "step 3 q01: warm up",
    ]


@given(st.lists(st.tuples(st.integers(1, 99), st.just("s"), st.text(max_size=30)), max_size=20))
def test_any_text_is_fine(advised: list[tuple[int, str, str]]) -> None:
    assert len(digest(advised)) <= len(advised)


def test_two_lines_show_the_most_urgent_and_count_the_rest() -> None:
    advised = [
        (1, "a", "±1 % needs about 24 runs"),
        (2, "b", "slow first run (3 % above): add a warm-up"),
        (2, "b", "the values rise"),
        (3, "c", "±1 % needs about 30 runs"),
        (3, "c", "look what disturbed it"),
    ]
    assert digest(advised, 2) == [
        "steps 1, 3: ±1 % needs about 24..30 runs",
        "step 2 b: slow first run (3 % above): add a warm-up; 2 more: benchyard stats --verbose",
    ]
    assert len(digest(advised)) == 4
    assert digest(advised[:2], 2) == digest(advised[:2])


@pytest.mark.slow
def test_a_table_has_two_lines_of_advice_and_verbose_and_json_have_all(
    cli: Cli, tmp_path: Path
) -> None:
    values = {
        "slow": [3.0, *(1 + at / 1000 for at in range(11))],
        "rises": [1 + at / 10 for at in range(12)],
        "noisy": [1.0, 9.0, 2.0, 7.0, 3.0, 1.5, 8.0, 4.0, 6.0, 2.5, 5.0, 3.5],
    }
    numbered = [*enumerate(values.items(), 1)]
    records = [
        run(n + 1, *(step(v[n], name=name, index=at) for at, (name, v) in numbered))
        for n in range(12)
    ]
    place(tmp_path / "results", records)

    def advice(*options: str) -> list[str]:
        out = cli("stats", tmp_path / "results", *options).out
        return [line for line in out.splitlines() if line.startswith("advice: ")]

    document = json.loads(cli("stats", tmp_path / "results", "--json").out)
    steps = document["cases"][0]["summary"]["steps"]
    assert sum(len(one["advice"]) for one in steps) > 2
    assert len(advice()) == 2
    assert "more: benchyard stats --verbose" in advice()[1]
    assert len(advice("--verbose")) > 2


def test_it_is_said_whether_the_wanted_precision_is_reached(
    capsys: pytest.CaptureFixture[str],
) -> None:
    missed = "warning: the wanted precision was not reached: because"
    for stopped, precise, said in ((1, 0, missed), (1, 1, "precision: "), (0, 0, "precision: ")):
        adaptive = {"stopped": bool(stopped), "precise": bool(precise), "why": "because"}
        _print_remarks({"adaptive": adaptive}, [], None)
        assert capsys.readouterr().out.startswith(said)
