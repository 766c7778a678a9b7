import sys

from benchyard.core.json_text import memory_of


def test_all_that_is_referred_to_counts_once() -> None:
    text = "x" * 10_000
    one = memory_of([text])
    assert one >= sys.getsizeof(text)
    assert memory_of([text, text, {"again": (text,)}]) < one + 1_000


def test_what_refers_to_itself_is_counted() -> None:
    ring: list[object] = ["y" * 5_000]
    ring.append(ring)
    assert 5_000 < memory_of(ring) < 6_000


def test_classes_and_functions_are_free() -> None:
    class Point:
        def __init__(self) -> None:
            self.call = memory_of

    assert memory_of(Point()) < 1_000
