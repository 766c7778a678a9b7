import struct
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchyard.catalogue.mindspore.summaries import MOST_PROBLEMS, Progress, masked_checksum
from benchyard.catalogue.mindspore.summaries import records as read_records
from tests.benchyard.catalogue.mindspore.writing import checksum, head, record, records


def read(content: bytes, offset: int = 0) -> tuple[list[bytes], Progress]:
    progress = Progress(offset)
    with tempfile.TemporaryFile() as stream:
        stream.write(content)
        stream.flush()
        return [*read_records(stream, progress, longest=1000)], progress


def test_checksum_is_that_of_tfrecord() -> None:
    assert struct.pack("<I", masked_checksum(b"123456789")) == checksum(b"123456789")


def test_payloads_come_in_order_and_the_offset_is_the_end() -> None:
    content = records([b"one", b"", b"x" * 900])
    payloads, reader = read(content)
    assert payloads == [b"one", b"", b"x" * 900]
    assert (reader.offset, reader.unfinished, reader.stopped) == (len(content), False, "")
    assert reader.left_out == []


@pytest.mark.parametrize("missing", range(1, 19))
def test_a_cut_record_is_read_when_it_is_finished(missing: int) -> None:
    whole = records([b"one", b"two"])
    payloads, reader = read(whole[:-missing])
    assert (payloads, reader.unfinished, reader.stopped) == ([b"one"], True, "")
    payloads, reader = read(whole, reader.offset)
    assert (payloads, reader.unfinished, reader.offset) == ([b"two"], False, len(whole))


def test_a_wrong_payload_is_left_out_and_told_with_its_place() -> None:
    content = bytearray(records([b"one", b"two", b"three"]))
    content[len(record(b"one")) + 12] ^= 1
    payloads, reader = read(bytes(content))
    assert payloads == [b"one", b"three"]
    assert reader.left_out == ["byte 19: the checksum of a record is wrong; it is left out"]


def test_nothing_behind_a_wrong_length_is_read() -> None:
    content = bytearray(records([b"one", b"two", b"three"]))
    content[19] ^= 1
    payloads, reader = read(bytes(content))
    assert (payloads, reader.offset, reader.unfinished) == ([b"one"], 19, False)
    assert reader.stopped.startswith("byte 19: the checksum of a record's length is wrong")


def test_a_long_record_is_passed_without_being_read() -> None:
    payloads, reader = read(records([b"y" * 1001, b"two"]))
    assert payloads == [b"two"]
    assert reader.left_out == [
        "byte 0: a record of 1,001 bytes is left out; at most 1,000 are read"
    ]


@pytest.mark.parametrize("length", [2**40, 2**63, 2**64 - 1])
def test_a_huge_length_takes_no_memory(length: int) -> None:
    payloads, reader = read(record(b"one") + head(length) + b"rest")
    assert payloads == [b"one"]
    assert (reader.offset, reader.unfinished) == (19, False)
    assert f"{length:,} bytes is announced" in reader.stopped


def test_a_thousand_wrong_records_are_told_in_short() -> None:
    wrong = bytearray(record(b"one"))
    wrong[-1] ^= 1
    payloads, reader = read(bytes(wrong) * 1000)
    assert payloads == []
    assert (len(reader.left_out), reader.more_left_out) == (
        MOST_PROBLEMS,
        1000 - MOST_PROBLEMS,
    )


_PIECES = st.one_of(
    st.binary(max_size=40),
    st.binary(max_size=60).map(record),
    st.integers(0, 2**64 - 1).map(head),
    st.integers(0, 30).map(head),
)


@given(st.lists(_PIECES, max_size=8).map(b"".join), st.integers(0, 400))
@example(bytes(64), 0)
def test_any_bytes_are_read_to_where_nothing_new_comes(content: bytes, cut: int) -> None:
    payloads, reader = read(content[:cut])
    assert 0 <= reader.offset <= len(content[:cut])
    assert sum(len(payload) + 16 for payload in payloads) <= len(content[:cut])
    rest, again = read(content[:cut], reader.offset)
    assert (rest, again.offset) == ([], reader.offset)
    at_once, _ = read(content)
    later, _ = read(content, reader.offset)
    assert payloads + later == at_once


def test_a_file_that_shrinks_while_it_is_read_ends(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(records([b"x" * 500] * 4))
    with path.open("r+b", buffering=0) as stream:
        reader = Progress()
        payloads = read_records(stream, reader)
        assert next(payloads) == b"x" * 500
        stream.truncate(700)
        assert list(payloads) == []
        assert reader.left_out or reader.unfinished or reader.stopped
