"""Reading what a kernel tells."""

from importlib.metadata import version
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from benchyard.host.facts.reading import Host, as_list, chosen, cpu_list, integer, or_null, pairs


def test_paths_are_below_the_root(tmp_path: Path) -> None:
    (tmp_path / "x").write_text(" 5\n")
    assert Host(tmp_path).number("/x") == Host(tmp_path).number("x") == 5


def test_lists_of_cpus() -> None:
    known = {"0": {0}, "0-3,8": {0, 1, 2, 3, 8}}
    known |= dict.fromkeys(("3-1", "0-999999999", "-1", "", "a-b"))
    assert {text: cpu_list(text) for text in known} == known


@given(st.sets(st.integers(0, 300), min_size=1))
def test_lists_of_cpus_are_written_as_they_are_read(cpus: set[int]) -> None:
    assert cpu_list(as_list(cpus)) == cpus


@given(st.text())
def test_no_text_is_too_strange(text: str) -> None:
    assert cpu_list(text) is None or cpu_list(text)
    assert integer(text) is None or integer(text) == int(text)
    assert (chosen(text) or "") in text
    assert len(list(pairs(text))) <= len(text)


def test_the_word_in_brackets_is_chosen() -> None:
    found = [chosen(text) for text in ("always [madvise] never", "none", "a b", None)]
    assert found == ["madvise", "none", None, None]


def test_what_fails_is_null() -> None:
    def absent() -> str:
        raise FileNotFoundError

    asked = (lambda: 1 // 0, absent, lambda: version("no-such-package"), lambda: "", lambda: 1)
    assert [or_null(fact) for fact in asked] == [None, None, None, None, 1]
