"""The raw file read back: whole, cut off, damaged."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchyard.host.sampler import process
from benchyard.host.sampler.process import FRAME, MAGIC, MISSED, PART, TICK
from benchyard.host.sampler.raw import LARGEST, Gone, Late, Opened, RawNote, Record, Tick, read_raw
from tests.benchyard.host.sampler.frames import frame, opened, tick

EVERY: dict[bytes, Record] = {
    opened(0, b"host columns stat"): Opened(0, "host", "columns", "stat"),
    tick(5, (0, b"cpu  1"), (1, b"")): Tick(5, 1, [(0, b"cpu  1"), (1, b"")]),
    frame(process.LATE, MISSED.pack(7, 2)): Late(7, 2),
    frame(process.GONE, PART.pack(0, 0)): Gone(0),
    frame(process.NOTE, b"open x: none"): RawNote("open x: none"),
    tick(9, classes=3): Tick(9, 3, []),
}
WHOLE, RECORDS = MAGIC + b"".join(EVERY), list(EVERY.values())


def read(path: Path, content: bytes) -> list[Record]:
    path.write_bytes(content)
    return list(read_raw(path))


def test_every_kind_reads_back_and_no_file_or_another_file_holds_nothing(tmp_path: Path) -> None:
    assert read(tmp_path / "raw", WHOLE) == RECORDS
    assert list(read_raw(tmp_path / "none")) == []
    assert read(tmp_path / "raw", b"at_ns,cpu_user\n5,1\n") == []
    assert read(tmp_path / "raw", b"") == []


@pytest.mark.parametrize("end", range(len(WHOLE)))
def test_a_record_that_death_cut_off_is_left_out(tmp_path: Path, end: int) -> None:
    found = read(tmp_path / "raw", WHOLE[:end])
    assert found == RECORDS[: len(found)]
    assert len(found) < len(RECORDS)


@pytest.mark.parametrize(
    "damage",
    [
        frame(b"?", b""),
        frame(process.TICKED, b"short"),
        frame(process.TICKED, TICK.pack(1, 1) + PART.pack(0, 99) + b"less"),
        frame(process.OPENED, PART.pack(0, 0) + b"two words"),
        frame(process.GONE, b""),
        FRAME.pack(process.NOTE, LARGEST + 1),
    ],
)
def test_damage_ends_the_file(tmp_path: Path, damage: bytes) -> None:
    assert read(tmp_path / "raw", WHOLE + damage + tick(99)) == RECORDS


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200), st.integers(0, len(WHOLE)))
def test_no_content_raises(tmp_path: Path, noise: bytes, at: int) -> None:
    read(tmp_path / "raw", WHOLE[:at] + noise + WHOLE[at:])
