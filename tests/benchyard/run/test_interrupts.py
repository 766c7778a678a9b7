"""Signals: who hears them, and that no error hides them."""

import asyncio
import signal

import pytest

from benchyard.run.interrupts import reraise_interrupt, two_stage_ctrl_c


def test_what_is_around_hears_the_first_one_too() -> None:
    heard: list[str] = []

    with two_stage_ctrl_c(lambda: heard.append("suite")):
        with two_stage_ctrl_c(lambda: heard.append("case")):
            signal.raise_signal(signal.SIGINT)
        with two_stage_ctrl_c(lambda: heard.append("next")):
            pass

    assert heard == ["suite", "case"]


def came_up_behind(end: BaseException) -> ValueError:
    """Return an error as Prefect raises it where a signal hits its making of a task run."""
    error = ValueError("nothing to clean up yet")
    error.__context__ = end
    return error


def test_what_fails_while_the_process_is_to_end_does_not_keep_it_from_ending() -> None:
    end = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt) as raised:
        reraise_interrupt(came_up_behind(end))
    assert raised.value is end


@pytest.mark.parametrize("ordinary", [SystemExit(2), OSError(), asyncio.CancelledError()])
def test_an_ordinary_failure_stays_one(ordinary: BaseException) -> None:
    reraise_interrupt(came_up_behind(ordinary))
