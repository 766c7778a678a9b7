"""How much memory Java gets."""

from resources import _memory


def test_half_of_the_limit() -> None:
    assert _memory.heap_arguments(2 * 2**30) == ("-Xmx1073741824", "-Xms1073741824")


def test_half_of_the_host_without_a_limit(memory: int) -> None:
    assert _memory.heap_arguments(None) == (f"-Xmx{memory // 2}", f"-Xms{memory // 2}")
