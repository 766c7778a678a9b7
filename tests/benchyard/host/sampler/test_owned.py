"""Rows of resources.csv: what the files of each kind of thing mean."""

import csv

import pytest

from benchyard.host.counters.parsing import PAGE_BYTES, TICKS_PER_S
from benchyard.host.sampler import owned, process
from benchyard.host.sampler.owned import CgroupCurve, EnergyCurve, OwnedUsage, RunCurves, TreeCurve


def filled(curve: owned.Curve, files: dict[str, bytes | None]) -> OwnedUsage:
    for name, content in files.items():
        curve.update(name, content)
    return curve.usage(curve.files)


def stat(user: int, waited: int = 0, pages: int = 3, state: str = "S", name: str = "a) b") -> bytes:
    numbers = [*[0] * 10, user, 2, waited, *[0] * 7, pages, *[0] * 9]
    return f"12 ({name}) {state} {' '.join(map(str, numbers))}\n".encode()


def io(read: int, written: int) -> bytes:
    return f"rchar: 9\nread_bytes: {read}\nwrite_bytes: {written}\n".encode()


@pytest.mark.parametrize(
    ("files", "used"),
    [
        (
            {
                "cpu": b"usage_usec 3000000\nuser_usec 2000000\nsystem_usec 1000000\n",
                "memory": b"4096\n",
                "io": b"8:0 rbytes=10 wbytes=20 rios=1 wios=2\n253:0 rbytes=10 wbytes=20\n",
                "pids": b"7\n",
            },
            OwnedUsage(3.0, 2.0, 1.0, 4096, 10, 20, 7),
        ),
        (
            {"cpu": b"1500000000\n", "cpu_user": b"1000000000\n", "cpu_system": b"0\n"},
            OwnedUsage(1.5, 1.0, 0.0),
        ),
        # Defect 25: what a group does not tell is unknown.
        ({"memory": b"5"}, OwnedUsage(memory_bytes=5)),
    ],
    ids=["version 2", "version 1", "little"],
)
def test_a_group(files: dict[str, bytes | None], used: OwnedUsage) -> None:
    assert filled(CgroupCurve("db", "cgroup:/a", {"8:0"}), files) == used


def test_a_tree_is_the_sum_of_its_members() -> None:
    files = {"1/stat": stat(100, waited=50), "1/io": io(5, 6), "2/stat": stat(7), "2/io": io(1, 2)}
    used = filled(TreeCurve("db", "tree:1"), {**files})
    ticks = [used.cpu_s, used.cpu_user_s, used.cpu_system_s]
    assert ticks == pytest.approx([n / TICKS_PER_S for n in (161, 157, 4)])
    rest = used.memory_bytes, used.disk_read_bytes, used.disk_write_bytes, used.process_count
    assert rest == (6 * PAGE_BYTES, 6, 8, 2)


def test_totals_of_a_tree_never_fall() -> None:
    curve = TreeCurve("db", "tree:1")
    filled(curve, {"1/stat": stat(10), "1/io": io(5, 6), "2/stat": stat(20), "2/io": io(5, 6)})
    ended = filled(curve, {"2/stat": None, "2/io": None})
    assert (ended.cpu_user_s, ended.disk_read_bytes) == (30 / TICKS_PER_S, 10)
    assert ended.process_count == 1
    waited = filled(curve, {"1/stat": stat(10, waited=25)})
    assert waited.cpu_user_s == 35 / TICKS_PER_S


@pytest.mark.parametrize(("state", "read", "count"), [("Z", 5, 1), ("S", None, 2)])
def test_a_zombie_used_time_and_is_no_process_and_may_hide_its_bytes(
    state: str, read: int | None, count: int
) -> None:
    files = {"1/stat": stat(10, state=state), "2/stat": stat(1), "2/io": io(5, 6)}
    used = filled(TreeCurve("db", "tree:1"), {**files})
    assert (used.process_count, used.memory_bytes) == (count, 3 * count * PAGE_BYTES)
    assert used.cpu_user_s == 11 / TICKS_PER_S
    assert used.disk_read_bytes == read


def test_energy_runs_round_and_is_unknown_without_its_range() -> None:
    curve = EnergyCurve("host", "energy:intel-rapl:0")
    readings = (b"900000", b"950000", b"50000")
    found = [filled(curve, {"999999": reading}).energy_j for reading in readings]
    assert found == pytest.approx([0.0, 0.05, 0.149999])
    assert filled(EnergyCurve("host", "energy:x"), {"": b"5\n"}).energy_j is None


def test_a_gpu() -> None:
    content = b"utilisation_percent 35\nmemory_bytes 5000\npower_mw ?\n"
    used = filled(owned.GpuCurve("host", "gpu:0_T"), {"0_T": content})
    assert used == OwnedUsage(memory_bytes=5000, utilisation_ratio=0.35)


def test_names_are_read_back_and_quoted() -> None:
    curve = CgroupCurve("a%20b,c", 'cgroup:/x"%2Cy%3A', ())
    curve.update("memory", b"5")
    cells = next(csv.reader([curve.text()]))
    assert cells[:3] == ["a b,c", "cgroup", '/x",y:']
    assert len(cells) == len(owned.HEADER) - 3


# -- all of them


def test_a_row_for_each_thing_that_a_tick_read() -> None:
    curves = RunCurves(())
    for owner, what, name in (
        ("db", "cgroup:/a", "memory"),
        ("db", "tree:1", "1/stat"),
        ("host", "gpu", "0_A"),
        ("host", "gpu", "1_B"),
    ):
        curve = curves.curve(owner, what, name)
        assert curve is not None
        curve.update(name, b"5")
    masks = (process.STEADY, process.PROCESSES, process.DEVICES)
    seen = [[curve.text().split(",")[1] for curve in curves.read(mask)] for mask in masks]
    assert seen == [["cgroup"], ["tree"], ["gpu", "gpu"]]
    assert len(curves.read(7)) == 4


def test_files_of_one_thing_are_one_curve_until_all_are_gone() -> None:
    curves = RunCurves(())
    first = curves.curve("db", "tree:1", "1/stat")
    assert first is not None
    assert curves.curve("db", "tree:1", "1/io") is first
    assert curves.read(7) == []
    for name in ("1/stat", "1/io"):
        first.update(name, b"5")
        first.update(name, None)
    assert curves.curve("db", "tree:1", "1/stat") is not first
