"""Which values count on a busy host: of both sides alike, and marked."""

from collections.abc import Sequence
from typing import Any

import pytest

from benchyard.analysis.comparison.document import comparison_csv, document
from benchyard.analysis.comparison.tables import table
from benchyard.analysis.comparison.wording import notes
from benchyard.results.record import RunRecord
from benchyard.results.trust import Suspect
from tests.benchyard.analysis.comparison.conftest import BASE, compared, run, step

REASON = "it waited for a CPU for {} s"


def disturbed(values: Sequence[float], suspect: int, steps: int = 1) -> list[RunRecord]:
    """Make runs of which the last ones are suspect."""
    made: list[RunRecord] = []
    for n, value in enumerate(values, 1):
        why = [REASON.format(n)] if n > len(values) - suspect else ()
        all_ = (step(value, name=f"q{at}", index=at, suspect=why) for at in range(1, steps + 1))
        made.append(run(n, *all_))
    return made


def slower(values: Sequence[float]) -> list[float]:
    return [1.5 * value for value in values]


def numbers(one: Sequence[RunRecord], other: Sequence[RunRecord], **rule: Any) -> tuple[int, int]:
    row = compared(one, other, **rule).rows[0]
    return row.difference.baseline_n, row.difference.candidate_n


@pytest.mark.parametrize(
    ("suspect", "expected"),
    [((0, 0), (8, 8)), ((2, 1), (6, 7)), ((3, 0), (8, 8)), ((8, 8), (8, 8))],
)
def test_trusted_values_count_alone_where_six_are_left_on_both_sides(
    suspect: tuple[int, int], expected: tuple[int, int]
) -> None:
    one, other = disturbed(BASE, suspect[0]), disturbed(slower(BASE), suspect[1])
    assert numbers(one, other) == expected
    assert numbers(one, other, suspect=Suspect.INCLUDE) == (8, 8)
    alone = numbers(one, other, suspect=Suspect.LEAVE_OUT)
    assert alone == (8 - suspect[0], 8 - suspect[1])


def test_more_comparisons_need_more_trusted_values() -> None:
    # 2/C(12,6) · 8 > 1 %: six of each cannot tell any of eight steps.
    one, other = (disturbed(values, 2, steps=8) for values in (BASE, slower(BASE)))
    made = compared(one, other)
    assert {row.difference.baseline_n for row in made.rows} == {8}
    assert made.regressions == 8


def test_the_verdict_the_figures_and_one_note_say_that_the_host_was_busy() -> None:
    made = compared(*(disturbed(values, 8, steps=2) for values in (BASE, slower(BASE))))
    lines = table(made).records()
    assert [line["VERDICT"] for line in lines] == ["slower, on a busy host"] * 3
    assert all(
        str(line[side]).endswith(" s*") for line in lines for side in ("BASELINE", "CANDIDATE")
    )
    [note] = notes(made)[1:]
    assert note.startswith("* on a busy host: 32 of 32 executions suspect (it waited for a CPU ")
    told: Any = document(made, ["old", "new"])
    assert [one["busy_host"] for one in (*told["comparisons"], *told["overall"])] == [True] * 3
    assert told["comparisons"][0]["candidate"]["suspect"] == 8
    assert comparison_csv(made).count(',regression,"slower, on a busy host"') == 2


def test_what_is_left_out_of_many_steps_is_told_once() -> None:
    many = [disturbed([*BASE, *BASE], 4, steps=3) for _ in range(2)]
    assert notes(compared(*many))[1:] == [
        "Q1, Q2, Q3: left out of the baseline: 4 suspect",
        "Q1, Q2, Q3: left out of the candidate: 4 suspect",
    ]
