"""What a reader of a picture must know of it: nothing is dropped in silence."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from benchyard.core.model import Outcome
from benchyard.show.results_plot.cells import PlotSide, tell_apart
from benchyard.show.results_plot.chart import PlotKind
from tests.benchyard.analysis.comparison.conftest import failed, run, run_set, runs, step, titled
from tests.benchyard.show.results_plot.conftest import SIX, charted, records, sides, times

DISTURBED = step(9.0, suspect=["it swapped"])
FINE = records({"load": SIX}, name="a")
BROKEN = [run(n, failed(), **titled("b")) for n in (1, 2)]
OTHER = replace(run_set(runs(*SIX)), others=tuple(runs(1.0, 2.0)))
UNDONE = [
    run(7, DISTURBED),
    run(8, failed()),
    run(9, failed(outcome=Outcome.TOLERATED), outcome=Outcome.COMPLETED),
]


@pytest.mark.parametrize(
    ("found", "count", "said"),
    [
        (sides(runs(*SIX)), 6, []),
        (sides(runs(1.0, 1.1, 1.2)), 3, ["No interval: Load (6 runs can have one)."]),
        (
            sides([*runs(*SIX), *UNDONE]),
            *(6, ["Left out: 1 suspect (Load), 1 tolerated (Load), 1 failed (Load)."]),
        ),
        (
            sides([*runs(*SIX[:5]), run(6, DISTURBED)]),
            *(6, ["On a busy host: 1 suspect counted (Load)."]),
        ),
        (tell_apart([("x", OTHER)]), 6, ["Not in it: 2 runs measured something else."]),
        (sides(FINE, BROKEN), 6, ["Nothing of: b (2 runs failed)."]),
        (
            sides(records({f"q{n}": (1.0, 2.0) for n in range(9)})),
            *(2, ["No interval: 9 of 9 (6 runs can have one)."]),
        ),
    ],
    ids=["all", "few", "left out", "suspect", "others", "a case", "many names"],
)
def test_a_caption_tells_level_runs_and_what_is_missing(
    found: Sequence[PlotSide], count: int, said: Sequence[str]
) -> None:
    chart = charted(found)
    marks = f"Points: medians of {count} runs; bars: their 95 % intervals; dots: single runs."
    failures = ["Not in it: 1 run failed."] if "tolerated" in str(said) else []
    assert [*chart.caption] == [marks, *said, *failures]
    assert len(chart.panels[0].marks[0].values) == count


def test_a_case_without_the_steps_that_are_drawn_is_named() -> None:
    other = records({"ask": SIX}, name="c")
    assert "Nothing of: a." in charted(sides(FINE, other), steps=("ask",)).caption


def test_the_reference_of_ratios_is_counted_too() -> None:
    base = [*FINE, replace(run(7, DISTURBED), case=FINE[0].case)]
    other = records({"load": times(1.0, 2.0)}, name="b")
    caption = charted(sides(base, other), PlotKind.RATIO).caption
    assert caption[0].startswith("Points: ratios to a over 12 runs and 6 runs of the refer")
    assert "Left out: 1 suspect (Load [a])." in caption
