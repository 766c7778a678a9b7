"""KROWN's columns of the host, from raw files."""

from hypothesis import given
from hypothesis import strategies as st

from benchyard.host.sampler.columns import HostColumns
from benchyard.host.sampler.rows import LENGTHS
from benchyard.host.sampler.watched import host_files

DISK = b"1 0 2 10 3 0 4 20 0 30 50\n"


def test_this_host_tells_its_columns() -> None:
    columns = HostColumns()
    for one in host_files():
        content = one.path.read_bytes()
        columns.update(one.name, content[: one.size or None])
    cpu, memory, _, network = columns.parts
    assert all(isinstance(value, float) for value in cpu)
    assert all(isinstance(value, int) for value in (*memory, *network))


def test_defect_25_what_is_not_there_is_unknown() -> None:
    columns = HostColumns()
    assert [len(part) for part in columns.parts] == list(LENGTHS)
    assert {value for part in columns.parts for value in part} == {None}


def test_disks_are_added_up_and_one_that_was_taken_out_stays_in_the_sum() -> None:
    columns = HostColumns()
    columns.update("disk/a", DISK)
    assert columns.parts[2] == (1, 3, 2 * 512, 4 * 512, 10, 20, 30)
    columns.update("disk/b", DISK)
    assert columns.parts[2] == (2, 6, 4 * 512, 8 * 512, 20, 40, 60)
    columns.update("disk/b", None)
    assert columns.parts[2] == (2, 6, 4 * 512, 8 * 512, 20, 40, 60)


LINE = b"%b: %d 1 0 0 0 0 0 0 %d 1 0 0 0 0 0 0\n"


def test_an_interface_that_vanished_stays_in_the_sum_and_a_new_one_begins_anew() -> None:
    columns = HostColumns()
    found: list[float | None] = []
    for lines in (
        LINE % (b"eth0", 10, 1) + LINE % (b"veth", 50, 5),
        LINE % (b"eth0", 11, 1),
        LINE % (b"eth0", 12, 1) + LINE % (b"veth", 7, 1),
        LINE % (b"eth0", 12, 1) + LINE % (b"veth", 9, 1),
        b"",
    ):
        columns.update("network", lines)
        found.append(columns.parts[3][2])
    assert found == [60, 61, 69, 71, 71]


def test_idle_interfaces_leave_the_same_object() -> None:
    columns = HostColumns()
    columns.update("network", LINE % (b"eth0", 10, 1))
    before = columns.parts[3]
    columns.update("network", LINE % (b"eth0", 10, 1))
    assert columns.parts[3] is before


def test_a_file_that_is_gone_is_unknown() -> None:
    columns = HostColumns()
    columns.update("stat", b"cpu  100 0 100 100 100 0 0 0\n")
    columns.update("stat", None)
    assert columns.parts[0] == (None,) * 4


@given(st.sampled_from(["stat", "meminfo", "network", "disk/a", "?"]), st.binary())
def test_no_content_raises(name: str, content: bytes) -> None:
    columns = HostColumns()
    columns.update(name, content)
    assert [len(part) for part in columns.parts] == list(LENGTHS)
