"""How much memory Java gets."""

from resources._mapping import java


def test_half_of_the_limit() -> None:
    assert java.heap_arguments(2 * 2**30) == ("-Xmx1073741824", "-Xms1073741824")


def test_half_of_the_host_without_a_limit(memory: int) -> None:
    assert java.heap_arguments(None) == (f"-Xmx{memory // 2}", f"-Xms{memory // 2}")
