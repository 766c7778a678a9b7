"""Whatever metadata.json holds, it is one object or exactly one problem."""

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from benchyard.case.loading import find_metadata, load_all
from benchyard.case.problems import Problem
from benchyard.case.reading import MAX_BYTES, MAX_DEPTH, MAX_DIGITS, read_metadata
from benchyard.case.registry import Registry
from tests.conftest import open_below


def write(folder: Path, content: str | bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "metadata.json"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def refused(file: Path) -> Problem:
    """Read a file that cannot be read; the problem is about the file as a whole."""
    read = read_metadata(file)
    assert isinstance(read, Problem), read
    assert (read.file, read.path) == (file, "$")
    assert str(read).startswith(f"{file}: $: ")
    return read


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not JSON: Expecting value at line 1, column 1"),
        (b" \n\t", "not JSON: Expecting value at line 2, column 2"),
        (b"\xef\xbb\xbf", "not JSON: Expecting value at line 1, column 1"),
        (b'{"a": 1', "not JSON: Expecting ',' delimiter at line 1, column 8"),
        (b'{"a": 1,}', "not JSON: "),
        (b"{'a': 1}", "not JSON: Expecting property name enclosed in double quotes"),
        (b'{"a": 1} x', "not JSON: Extra data at line 1, column 10"),
        (b'{"a": "line\nbreak"}', "not JSON: Invalid control character at line 1, column 12"),
        (b'{"a": "\\x"}', "not JSON: Invalid \\escape"),
        (b'\xff\xfe{\x00"\x00', "not UTF-8: byte 0 cannot be read; save it as UTF-8"),
        (b'{"a": "\xe9"}', "not UTF-8: byte 7 cannot be read; save it as UTF-8"),
        (b"[]", "must be an object, not an array"),
        (b'"text"', "must be an object, not a string"),
        (b"12", "must be an object, not a number"),
        (b"1.5", "must be an object, not a number"),
        (b"true", "must be an object, not a boolean"),
        (b"null", "must be an object, not null"),
        (b'{"a": NaN}', "NaN is not JSON; write a number or null"),
        (b'{"a": Infinity}', "Infinity is not JSON; write a number or null"),
        (b'{"a": -Infinity}', "-Infinity is not JSON; write a number or null"),
        (b'{"a": 1e999}', "the number 1e999 is too large"),
        (b'{"a": -1e999}', "the number -1e999 is too large"),
        (b'{"a": 1, "b": 2, "a": 3}', "the key 'a' stands twice in one object"),
        (b'{"deep": [{"a\\u0009": 1, "a\\t": 1}]}', "the key 'a\\t' stands twice in one object"),
        (b'{"a": "\\ud800"}', "holds half of a surrogate pair (\\ud800 to \\udfff)"),
        (b'{"\\udfff": 1}', "holds half of a surrogate pair (\\ud800 to \\udfff)"),
    ],
)
def test_broken_content_is_one_problem(tmp_path: Path, content: bytes, message: str) -> None:
    assert refused(write(tmp_path, content)).message.startswith(message)


def test_a_whole_pair_of_surrogates_is_a_character(tmp_path: Path) -> None:
    assert read_metadata(write(tmp_path, '{"a": "\\ud83d\\ude00"}')) == {"a": "😀"}


def test_a_byte_order_mark_is_no_content(tmp_path: Path) -> None:
    assert read_metadata(write(tmp_path, b'\xef\xbb\xbf{"a": 1}')) == {"a": 1}


@pytest.mark.parametrize("content", ["[" * 100_000, '{"a":' * 100_000, "[" * 500 + "]" * 500])
def test_deep_nesting_is_one_problem(tmp_path: Path, content: str) -> None:
    assert refused(write(tmp_path, content)).message == f"nested deeper than {MAX_DEPTH} levels"


def test_the_deepest_nesting_that_is_taken(tmp_path: Path) -> None:
    def nested(levels: int) -> str:
        return '{"a":' * levels + "{}" + "}" * levels

    assert isinstance(read_metadata(write(tmp_path, nested(MAX_DEPTH - 1))), dict)
    assert isinstance(read_metadata(write(tmp_path, nested(MAX_DEPTH))), Problem)


def test_a_huge_integer_is_one_short_problem(tmp_path: Path) -> None:
    assert read_metadata(write(tmp_path, f'{{"a": {10**200}}}')) == {"a": 10**200}
    for digits in (MAX_DIGITS + 1, 5_000, 100_000):
        problem = refused(write(tmp_path, f'{{"a": -{"9" * digits}}}'))
        assert "digits; write a string" in problem.message
        assert len(problem.message) < 200


def test_a_huge_key_makes_no_huge_message(tmp_path: Path) -> None:
    key = "k" * 1_000_000
    assert len(refused(write(tmp_path, f'{{"{key}": 1, "{key}": 2}}')).message) < 200


def test_reading_folders_leaves_no_open_files(tmp_path: Path) -> None:
    folder = tmp_path / "metadata.json"
    folder.mkdir()
    for _ in range(10):
        refused(folder)
    assert open_below(tmp_path) == []


@pytest.fixture
def unreadable() -> Generator[Path]:
    """Make a file that nobody may read, and be somebody who is not above that."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)  # pytest's own folders cannot even be entered
    write(folder, "{}").chmod(0)
    was = os.geteuid()
    if was == 0:
        os.seteuid(65534)
    yield folder / "metadata.json"
    os.seteuid(was)
    shutil.rmtree(folder)


def test_an_unreadable_file_is_one_problem(unreadable: Path) -> None:
    assert refused(unreadable).message == "cannot be read: Permission denied"


def test_a_name_too_long_for_the_system_is_one_problem(tmp_path: Path) -> None:
    assert refused(tmp_path / ("x" * 300)).message == "cannot be read: File name too long"


def make_huge(file: Path) -> None:
    file.touch()
    os.truncate(file, 200 * 1024 * 1024)


BROKEN: list[tuple[Callable[[Path], object], str]] = [
    (Path.mkdir, "cannot be read: Is a directory"),
    (make_huge, f"has more than {MAX_BYTES:,} bytes; data belongs into data/shared"),
    (os.mkfifo, "is a named pipe, not a file"),
    (lambda file: file.symlink_to("/dev/zero"), "is a device, not a file"),
    (lambda file: file.symlink_to("nowhere"), "cannot be read: "),
    (lambda file: file.symlink_to("metadata.json"), "cannot be read: "),
    (lambda file: file.write_bytes(b"[" * 100_000), "nested deeper than"),
    (lambda file: file.write_bytes(b'{"a": 1e999}'), "the number 1e999 is too large"),
]


@pytest.mark.parametrize(("make", "message"), BROKEN)
def test_what_is_no_readable_file_is_one_problem(
    tmp_path: Path, make: Callable[[Path], object], message: str
) -> None:
    make(tmp_path / "metadata.json")
    assert refused(tmp_path / "metadata.json").message.startswith(message)


def test_defect_27_one_broken_case_hides_no_other(tmp_path: Path) -> None:
    for number, (make, _) in enumerate(BROKEN):
        folder = tmp_path / f"broken{number}"
        folder.mkdir()
        make(folder / "metadata.json")
    write(tmp_path / "unbroken", json.dumps({"name": "fine", "steps": []}))
    loaded = load_all(find_metadata(tmp_path), Registry({}))
    assert [len(item.problems) for item in loaded] == [1] * (len(BROKEN) + 1)
    assert [item.name for item in loaded] == [f"broken{n}" for n in range(len(BROKEN))] + ["fine"]
    assert loaded[-1].problems[0].path == "$.steps"  # read, and wrong for a reason of its own
