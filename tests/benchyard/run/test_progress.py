"""Who hears what happens."""

import threading

import pytest

from benchyard.run.progress import Event, Notice, current_listener, ignore, listening, tell


def test_nobody_listens_at_first() -> None:
    assert current_listener() is ignore
    ignore(Notice("x"))


def test_the_innermost_listener_hears_and_the_outer_one_comes_back() -> None:
    outer: list[Event] = []
    inner: list[Event] = []

    with listening(outer.append):
        with listening(inner.append):
            current_listener()(Notice("in"))
        current_listener()(Notice("out"))

    assert inner == [Notice("in")]
    assert outer == [Notice("out")]
    assert current_listener() is ignore


def test_a_listener_goes_with_the_error_that_ends_it() -> None:
    with pytest.raises(ZeroDivisionError), listening(lambda _: None):
        _ = 1 / 0

    assert current_listener() is ignore


def test_another_thread_has_a_listener_of_its_own() -> None:
    seen: list[bool] = []
    with listening(lambda _: None):
        thread = threading.Thread(target=lambda: seen.append(current_listener() is ignore))
        thread.start()
        thread.join(10)

    assert seen == [True]


def test_a_listener_that_breaks_is_no_error() -> None:
    def closed(_event: Event) -> None:
        raise BrokenPipeError

    tell(closed, Notice("x"))


def test_an_interruption_while_telling_goes_on() -> None:
    def interrupted(_event: Event) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tell(interrupted, Notice("x"))
