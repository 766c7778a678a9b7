"""Whether an output is what the case says."""

import os
import re
import socket
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchyard.core.errors import CheckFailedError, CommandTimedOutError
from benchyard.core.files import sha256
from benchyard.core.model import Check
from benchyard.process.labels import RUN, labelled
from benchyard.run import checks
from benchyard.run.checks import Checks
from benchyard.run.judging import DIFF_LINES, Looking, SearchLimits, count_rows
from tests.conftest import eventually


def wrong(
    folder: Path, found: str, expected: str = "", *, suffix: str = "csv", **check: Any
) -> str | None:
    """Check ``found``; return what is said to be wrong."""
    output = folder / f"output.{suffix}"
    output.write_bytes(found.encode())
    (folder / f"expected.{suffix}").write_bytes(expected.encode())
    if not check.keys() & {"rows", "sha256", "pattern"}:
        check["equal"] = f"expected.{suffix}"
    try:
        Checks().check(Check(**check), output, folder)
    except CheckFailedError as error:
        return str(error)
    return None


# -- rows


@pytest.mark.parametrize(
    ("name", "content", "rows"),
    [
        ("a.csv", "", 0),
        ("a.csv", "h\n", 0),
        ("a.csv", "h\n1\n2\n", 2),
        ("a.csv", "h\n1\n2", 2),
        ("a.csv", 'h,i\n"two\nlines",x\n', 1),
        ("a.csv", "h\n\n", 1),
        ("a.csv", f"h\n{'x' * 300_000}\n", 1),
        ("a.csv", "h\n\x00\n", 1),
        ("a.nt", "", 0),
        ("a.nt", "1\n2\n", 2),
        ("a.nt", "1\n2", 2),
        ("a.tbl", "1|\n2|\n3|\n", 3),
    ],
)
def test_rows_are_counted(tmp_path: Path, name: str, content: str, rows: int) -> None:
    (tmp_path / name).write_text(content)
    assert count_rows(tmp_path / name) == rows


def test_a_wrong_number_of_rows_says_both(tmp_path: Path) -> None:
    assert wrong(tmp_path, "h\n1\n", rows=1) is None
    assert wrong(tmp_path, "h\n1\n", rows=2) == "wrong answer in 'output.csv': 1 rows, must be 2"


def test_a_digest_and_rows_of_bytes_that_are_no_text(tmp_path: Path) -> None:
    output = tmp_path / "a.csv"
    output.write_bytes(b"h\n\xff\xfe\n")
    digest = sha256(output)
    Checks().check(Check(rows=1, sha256=digest), output, tmp_path)
    assert f"must be {digest}" in (wrong(tmp_path, "y", sha256=digest) or "")


# -- digest and pattern


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [("rows: [0-9]+", True), ("^rows", True), (r"\Arows", False), ("Rows", False), ("$", True)],
)
def test_a_pattern_is_looked_for_in_the_whole(tmp_path: Path, pattern: str, matches: bool) -> None:
    said = wrong(tmp_path, "head\nrows: 5\n", suffix="txt", pattern=pattern)
    assert said == (
        None if matches else f"wrong answer in 'output.txt': nothing matches '{pattern}'"
    )


# -- equality


ANY: dict[str, Any] = {"any_order": True}


@pytest.mark.parametrize(
    ("found", "expected", "options", "same"),
    [
        ("h\r\n1,a\r\n", "h\n1,a", {}, True),  # how lines end means nothing
        *[
            (*texts, options, False)
            for texts in [("a\n", "a\nb\n"), ("a\nb\n", "a\n"), ("", "a\n")]
            for options in [{}, ANY, {"tolerance": 1}]
        ],
        ("sum  1.01", "sum 1.0", {"suffix": "txt", "tolerance": 0.1}, True),
        ("1.0", "1", {"suffix": "txt"}, False),
        ("h\nb\na\n", "h\na\nb\n", {}, False),
        ("h\na\na\nb\n", "h\na\nb\nb\n", ANY, False),
        ("b\nh\na\n", "h\na\nb\n", ANY, False),  # the header stays first
        ("b\na\n", "a\nb\n", ANY | {"suffix": "txt"}, True),
        # Records of several lines stay whole.
        ('h\n"a\nd"\n"c\nb"\n', 'h\n"a\nb"\n"c\nd"\n', ANY, False),
        ('h\n"c\nd"\n"a\nb"\n', 'h\n"a\nb"\n"c\nd"\n', ANY, True),
        # Whole numbers are keys: within a tolerance one that is off by one would pass.
        ("h\n5000001\n", "h\n5000002\n", {"tolerance": 1e-6}, False),
        ("h\n9007199254740993\n", "h\n9007199254740992\n", {}, False),
        ("h\n+07\n", "h\n7\n", {}, True),
        ("h\n5000001.0\n", "h\n5000002\n", {"tolerance": 1e-6}, True),
        # As text, 9.9999999 comes after 9.9 and 10.000 before it.
        ("n\n9.9\n9.9999999\n", "n\n10.000\n9.9\n", ANY | {"tolerance": 1e-6}, True),
        ("n\n9.9\n9.9999999\n", "n\n10.000\n9.9\n", ANY | {"tolerance": 1e-9}, False),
    ],
)
def test_what_is_equal(
    tmp_path: Path, found: str, expected: str, options: dict[str, Any], same: bool
) -> None:
    assert (wrong(tmp_path, found, expected, **options) is None) == same


def test_a_difference_is_shown_without_lines_within_the_tolerance(tmp_path: Path) -> None:
    said = wrong(tmp_path, "h\n1.0000001\n9\n3\n", "h\n1\n2\n3\n", tolerance=1e-3) or ""
    assert said.startswith("wrong answer in 'output.csv': not equal to 'expected.csv'\n")
    assert "\n-2\n+9" in said
    assert "1.0000001" not in said


def test_a_long_difference_is_cut(tmp_path: Path) -> None:
    lines = [f"{n}\n" for n in range(500)]
    said = wrong(tmp_path, "".join(f"x{line}" for line in lines), "".join(lines)) or ""
    assert len(said.splitlines()) <= DIFF_LINES + 3
    assert said.endswith("lines more")


@pytest.mark.parametrize(
    ("found", "expected", "tolerance", "same"),
    [
        ("1.0", "1", 0, True),
        ("1.00000001", "1", 0, False),
        ("1.00000001", "1", 1e-6, True),
        ("1.1", "1", 1e-6, False),
        ("a,1.1,b", "a,1,b", 0.2, True),
        ("a,1.1,b", "a,1,c", 0.2, False),
        ('"x, y",1', '"x, y",1.0', 0, True),
        ("x", "1", 1, False),
        ("", "0", 1, False),
        ("nan", "nan", 0, True),
        ("nan", "1", 1, False),
        ("inf", "inf", 0, True),
        ("inf", "1e308", 0.5, False),
        ("1,2", "1,2,3", 1, False),
    ],
)
def test_cells_of_a_table_may_differ_by_the_tolerance(
    tmp_path: Path, found: str, expected: str, tolerance: float, same: bool
) -> None:
    assert (wrong(tmp_path, found, expected, tolerance=tolerance) is None) == same
    assert (wrong(tmp_path, found, expected, tolerance=tolerance, any_order=True) is None) == same


@settings(deadline=None)
@given(
    rows=st.lists(st.tuples(st.sampled_from("abc"), st.integers(-5, 5)), max_size=8),
    order=st.randoms(use_true_random=False),
)
def test_any_order_takes_any_order(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, int]], order: Any
) -> None:
    mixed = order.sample(rows, len(rows))
    text, other = ("h,n\n" + "".join(f"{a},{n}\n" for a, n in s) for s in (rows, mixed))
    floats = "h,n\n" + "".join(f"{a},{n:.3f}\n" for a, n in mixed)
    folder = tmp_path_factory.getbasetemp()
    assert wrong(folder, other, text, any_order=True) is None
    assert wrong(folder, floats, text, any_order=True) is None


# -- what there is to check


def test_all_criteria_must_hold(tmp_path: Path) -> None:
    assert wrong(tmp_path, "h\n1\n", rows=1, pattern="1") is None
    assert "nothing matches" in (wrong(tmp_path, "h\n1\n", rows=1, pattern="2") or "")
    assert "rows" in (wrong(tmp_path, "h\n1\n", rows=2, pattern="1") or "")


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    def refuses(match: str, output: str, **check: Any) -> None:
        with pytest.raises(CheckFailedError, match=match):
            Checks().check(Check(**check), tmp_path / output, tmp_path)

    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/zero")
    (tmp_path / "folder").mkdir()
    (tmp_path / "fine").write_text("x")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(tmp_path / "socket"))
    for name, what in (("pipe", "named pipe"), ("device", "device"), ("socket", "socket")):
        refuses(f"the output '{name}' is a {what}, not a file", name, pattern="x")
        refuses(f"'{name}' in data/shared is a {what}", "fine", equal=name)
    refuses("'gone' in data/shared is not there any more", "fine", equal="gone")
    for name in ("absent", "folder"):
        refuses(f"the output '{name}' was not made", name, rows=0)


# -- what would take for ever, or all memory

#: Nested repetitions: each letter more doubles the time that Python's engine takes.
ENDLESS = ["(a+)+$", "((a*)*)*$", "(a|aa)+$", r"(\w+\s?)+$", "^(([a-z])+.)+[A-Z]([a-z])+$"]


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    (tmp_path / "output.txt").write_text("a" * 5_000 + "!")
    return tmp_path / "output.txt"


@pytest.mark.slow
@pytest.mark.parametrize("pattern", ENDLESS)
def test_a_pattern_that_takes_for_ever_is_stopped(
    tmp_path: Path, endless: Path, pattern: str
) -> None:
    look = Checks(limits=SearchLimits(search_seconds=0.2)).check
    told = rf"the pattern takes more than 0.2 s on 5,001 bytes.*'{re.escape(pattern)}'\Z"
    with pytest.raises(CheckFailedError, match=told):
        look(Check(pattern=pattern), endless, tmp_path)


@pytest.mark.slow
def test_others_go_on_while_a_pattern_is_looked_for(tmp_path: Path, endless: Path) -> None:
    looking = Checks({RUN: str(tmp_path)})
    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(looking.check, Check(pattern=ENDLESS[0]), endless, tmp_path)
        assert eventually(lambda: str(tmp_path) in [run for _, run in labelled(RUN)], 60)
        looking.abort()
    with pytest.raises(CheckFailedError, match="was stopped with the run"):
        ended.result()
    with pytest.raises(CheckFailedError, match="was not checked: the run was stopped"):
        looking.check(Check(pattern="a"), endless, tmp_path)


@pytest.mark.slow
def test_the_timeout_of_a_step_holds_for_its_check(
    tmp_path: Path, endless: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "LEAST_SECONDS", 0.3)
    with pytest.raises(CommandTimedOutError, match=r"the check of 'output.txt' was stopped after"):
        Checks().check(Check(pattern=ENDLESS[0]), endless, tmp_path, 0.1)


def sparse(file: Path, size: int) -> Path:
    """Make a file that is one long line."""
    with file.open("wb") as stream:
        stream.truncate(size)
    return file


@pytest.mark.slow
def test_a_long_line_is_looked_at_in_little_memory(tmp_path: Path) -> None:
    long = sparse(tmp_path / "one", 300 << 20)
    look = Checks(limits=SearchLimits(memory_bytes=100 << 20)).check
    look(Check(rows=1), long, tmp_path)
    with pytest.raises(CheckFailedError, match="a pattern is looked for in 256 MiB at most"):
        look(Check(pattern="x"), long, tmp_path)


@pytest.mark.slow
def test_what_takes_too_much_memory_says_so(tmp_path: Path) -> None:
    one, _ = (sparse(tmp_path / name, 200 << 20) for name in ("one.csv", "other.csv"))
    look = Checks(limits=SearchLimits(memory_bytes=1 << 27)).check
    with pytest.raises(CheckFailedError, match=r"the check takes more than 0.125 GiB of memory"):
        look(Check(equal="other.csv"), one, tmp_path)


@pytest.mark.slow
def test_large_files_are_compared_side_by_side(tmp_path: Path) -> None:
    lines = [f"{number},word-{number}\n" for number in range(200_000)]
    (tmp_path / "expected.csv").write_text("".join(lines))
    found = tmp_path / "found.csv"
    look = Checks().check
    found.write_text("".join([lines[0], *lines[:0:-1]]))
    look(Check(equal="expected.csv", any_order=True), found, tmp_path)
    found.write_text("".join([*lines[:150_000], "new\n", *lines[150_000:]]))
    with pytest.raises(CheckFailedError) as caught:
        look(Check(equal="expected.csv"), found, tmp_path)
    assert str(caught.value).endswith("@@ record 150001 @@\n+new")


@pytest.mark.parametrize("pattern", ["(((a{1000}){1000}){1000})", "(?:(?:x?){1000}){1000}y"])
def test_a_pattern_may_count_far(tmp_path: Path, pattern: str) -> None:
    assert "nothing matches" in (wrong(tmp_path, "b", suffix="txt", pattern=pattern) or "")


# -- a pattern in output that comes bit by bit


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=6))
def test_a_pattern_is_found_however_it_is_cut(text: bytes, cuts: list[int]) -> None:
    whole = text + b"\n it is ready now\n"
    edges = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]
    looking = Looking(b"it is ready")
    found = [looking.finds(0, whole[a:b]) for a, b in pairwise(edges) if a < b]
    assert any(found)


def test_streams_are_lines_of_their_own() -> None:
    looking = Looking(b"^ready$")
    assert not looking.finds(0, b"one\nre")
    assert not looking.finds(1, b"ady\n")
    assert looking.finds(0, b"ady\n")
