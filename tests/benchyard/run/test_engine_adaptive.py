"""As many runs as the precision takes, whether or not the execution is interrupted."""

import json
from collections.abc import Iterator
from itertools import count

import pytest

from benchyard.core.errors import InputError
from benchyard.run.adaptive import Adaptive
from benchyard.run.request import Request
from tests.benchyard.run.conftest import Call, Lab, Script, results, step

RULE = Adaptive(5, 30, 0.01)
STEP = step("One", "Alpha")


def lasting(script: Script, lengths: Iterator[float]) -> None:
    """Let each call of the step last as long as the next number says."""

    def act(call: Call) -> None:
        del call
        script.clock.advance(next(lengths))

    script.on("Alpha.work", always=act)


def steady() -> Iterator[float]:
    return (1.0 + number % 2 / 1000 for number in count())


def noisy() -> Iterator[float]:
    return (1.0 + 0.5 * (number % 3) for number in count())


def test_stops_at_the_first_look_that_is_precise_and_the_summary_tells_it(
    lab: Lab, script: Script
) -> None:
    lasting(script, steady())
    case = lab.case(STEP)
    executed = lab.execute(case, range(1, 31), rule=under(lab, RULE))
    assert len(executed.records) in RULE.looks[:-1]
    assert not executed.interrupted
    assert any("every step is known to ±1 %" in text for text in lab.notices)
    told = json.loads((results(case) / "summary.json").read_text())["adaptive"]
    assert (told["rule"], told["precise"]) == (RULE.to_json(), True)
    assert told["look"] == len(executed.records)


def test_resumed_execution_stops_where_a_whole_one_does(lab: Lab, script: Script) -> None:
    lasting(script, steady())
    case = lab.case(STEP)
    lab.adaptive = RULE.to_json()
    lab.execute(case, range(1, 4))
    executed = lab.execute(case, range(1, 31), rule=RULE)
    assert len(executed.done) in RULE.looks
    again = lab.execute(case, range(1, 31), rule=RULE)
    assert again.records == ()
    assert again.done == executed.done


@pytest.mark.parametrize(
    "request_",
    [
        Request("c", runs=5, most_runs=30),
        Request("c", runs=5, until=0.01),
        Request("c", runs=5, most_runs=4, until=0.01),
        Request("c", runs=5, most_runs=9, until=1.5),
    ],
)
def test_half_a_rule_is_refused(request_: Request) -> None:
    with pytest.raises(InputError):
        _ = request_.rule


def under(lab: Lab, rule: Adaptive | None) -> Adaptive | None:
    """Let the records have a rule, as the opening of a case does."""
    lab.adaptive = {} if rule is None else rule.to_json()
    return rule


def test_another_rule_is_told_and_so_is_a_fixed_number_after_a_rule(
    lab: Lab, script: Script
) -> None:
    lasting(script, noisy())
    case = lab.case(STEP)
    lab.execute(case, range(1, 3), rule=under(lab, Adaptive(6, 14, 0.05)))
    assert not any("another rule" in text for text in lab.notices)
    for rule, words in (
        (Adaptive(6, 16, 0.05), "(6..14 until 5 %; now it is 6..16 until 5 %)"),
        (None, "(6..14 until 5 %; now it is a fixed number)"),
    ):
        lab.events.clear()
        lab.execute(case, range(1, 3), rule=under(lab, rule))
        [warning] = [text for text in lab.notices if "another rule" in text]
        assert "runs 1-2 were made under another rule" in warning
        assert words in warning


@pytest.mark.parametrize(("done", "rest"), [(2, 1.0), (7, 0.0)], ids=["runs", "nothing to do"])
def test_turns_tell_the_same_thing_once(lab: Lab, script: Script, done: int, rest: float) -> None:
    lasting(script, (1.0 for _ in count()))
    case = lab.case(STEP)
    lab.execute(case, range(1, done + 1), rule=under(lab, None))
    rule = under(lab, Adaptive(6, 12, 0.05))
    for run in range(done + 1, 13):
        lab.execute(case, [run], rule=rule, rest_first=rest, cooldown=0)
    assert sum("another rule" in text for text in lab.notices) == 1
    assert sum("every step is known" in text for text in lab.notices) == 1
