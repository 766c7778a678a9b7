"""Much advice is said in few lines, and nothing of it gets lost."""

from hypothesis import given
from hypothesis import strategies as st

from benchyard.cli.outcome import digest


def test_one_step_is_named() -> None:
    assert digest([(2, "load", "needs about 12 runs")]) == ["step 2 load: needs about 12 runs"]


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


def test_of_many_steps_a_few_are_named() -> None:
    (row,) = digest([(index, "s", "warm up") for index in range(1, 21)])
    (apart,) = digest([(index, "s", "warm up") for index in range(1, 41, 2)])
    assert row == "steps 1-20: warm up"
    assert apart == f"steps {', '.join(map(str, range(1, 25, 2)))} and more: warm up"


@given(st.lists(st.tuples(st.integers(1, 99), st.just("s"), st.text(max_size=30)), max_size=20))
def test_any_text_is_fine(advised: list[tuple[int, str, str]]) -> None:
    assert len(digest(advised)) <= len(advised)
