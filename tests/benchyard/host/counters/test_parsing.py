"""From the bytes of kernel files to values: real files, recorded ones, and anything at all."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.host.counters import groups, parsing

CPU_STAT_V2 = b"usage_usec 516169\nuser_usec 124035\nsystem_usec 392133\nthrottled_usec 45678\n"
MEMORY_STAT_V2 = b"anon 4096\nfile 8192\npgfault 900\npgmajfault 7\n"
IO_STAT_V2 = (
    b"254:0 rbytes=4096 wbytes=209719296 rios=1 wios=214 dbytes=0 dios=0\n"
    b"253:1 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0\n"
)
NET_DEV = b"""Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo
    lo:    3193      29    1    2    0     0          0         0     3193      29    3    4    0
  eth0:244276025    5598    10    20    0     0          0         0   370667    3377    30    40
"""


def amount_in(content: bytes, metric: str) -> float | None:
    """Read an amount of a group whose files all hold the same."""
    files = ("cpu", "cpu_user", "cpu_system", "throttling", "memory", "memory_stat", "oom")
    return groups.amount(dict.fromkeys(files, content), f"resource_{metric}")


PARSERS: list[Callable[[bytes], object]] = [
    *(parsing.cpu_times, parsing.memory, parsing.memory_events),
    *(parsing.disk, parsing.network, parsing.pressure, parsing.number),
    *(parsing.process_stat, parsing.process_disk, parsing.peak_resident_bytes),
    lambda content: [amount_in(content, metric[len("resource_") :]) for metric in groups.AMOUNTS],
    groups.disk_use,
]
_REAL = (
    *("/proc/stat", "/proc/meminfo", "/proc/vmstat", "/proc/diskstats", "/proc/net/dev"),
    *("/proc/self/stat", "/proc/self/io", "/proc/self/status"),
)


def read(path: str) -> bytes:
    return Path(path).read_bytes()


# -- the host


NONE = (None,) * 8
MEMINFO = b"MemTotal: 100 kB\nMemAvailable:  60 kB\nSwapTotal: 8 kB\nSwapFree: 5 kB\n"
VMSTAT = b"nr_free_pages 1\npswpin 2\npswpout 3\npgfault 9\npgmajfault 4\noom_kill 5\n"
PAGE = os.sysconf("SC_PAGE_SIZE")
DISK = b" 8288 4409 946658 8178 3522 35810 1780752 7363 0 4632 16065 3663 48 356376 502 265 20"
SECTORS = (8288, 3522, 946658 * 512, 1780752 * 512, 8178, 7363, 4632)
PSI = b"some avg10=0.04 avg60=0.34 avg300=0.24 total=6131997\nfull avg10=0.00 total=12\n"


@pytest.mark.parametrize(
    ("parse", "content", "values"),
    [
        # An old kernel tells less.
        (parsing.cpu_times, b"cpu  100 0 50 800\n", (1.0, 0.5, 8.0, None, None)),
        (parsing.memory, MEMINFO, (40 * 1024, 3 * 1024)),
        (parsing.memory, b"MemTotal: 100 kB\nMemFree: 60 kB\n", (None, None)),
        (parsing.memory_events, VMSTAT, (2 * PAGE, 3 * PAGE, 4, 5)),
        (parsing.disk, DISK, SECTORS),
        (parsing.network, NET_DEV, (5627, 3406, 244279218, 373860, 11, 33, 22, 44)),
        (parsing.network, NET_DEV.partition(b" lo")[0], NONE),
        (parsing.pressure, PSI, (6.131997, 0.000012)),
        (parsing.pressure, PSI.splitlines()[0], (6.131997, None)),
    ],
)
def test_the_host(
    parse: Callable[[bytes], tuple[object, ...]], content: bytes, values: tuple[object, ...]
) -> None:
    assert parse(content)[: len(values)] == values


def test_disks_add_up_if_all_are_known() -> None:
    one, two = parsing.disk(b"1 " * 11), parsing.disk(b"2 " * 11)
    assert parsing.sum_of_disks([one, two]) == (3, 3, 1536, 1536, 3, 3, 3)
    assert set(parsing.sum_of_disks([])) == {None}
    assert set(parsing.sum_of_disks([one, parsing.disk(b"")])) == {None}


# -- processes


def test_a_process_may_be_called_anything() -> None:
    numbers = b" ".join(str(number).encode() for number in range(4, 60))
    found = parsing.process_stat(b"12 (a) R 1 (b c) S " + numbers)
    assert found is not None
    assert (found.state, found.parent) == ("S", 4)
    assert (found.minor_faults, found.waited_minor_faults) == (10, 11)
    assert (found.major_faults, found.waited_major_faults) == (12, 13)
    assert (found.user_ticks, found.system_ticks) == (14, 15)
    assert (found.started_ticks, found.resident_pages) == (22, 24)


# -- control groups


def test_disks_of_version_2() -> None:
    assert groups.disk_use(IO_STAT_V2) == (4097, 209719298, 4, 218)
    assert groups.disk_use(IO_STAT_V2, {"254:0"}) == (4096, 209719296, 1, 214)
    assert groups.disk_use(b"") == (0, 0, 0, 0)
    assert groups.disk_use(None) == (None,) * 4
    assert groups.disk_use(b"254:0 rbytes=x wbytes=1 rios=1 wios=1") == (None,) * 4


def test_version_1() -> None:
    # A longer name is another counter.
    assert amount_in(b"oom_kill_disable 7\nunder_oom 8\noom_kill 9\n", "oom_kill_count") == 9
    assert amount_in(b"oom 1\noom_kill_disable 7\n", "oom_kill_count") is None
    throttled = b"nr_periods 0\nnr_throttled 5\nthrottled_time 2500000000\n"
    assert amount_in(throttled, "throttled_count") == 5
    assert amount_in(throttled, "throttled_s") is None
    cpu = {"cpu": b"516169846\n", "cpu_user": b"5000000000", "cpu_system": b"0"}
    names = [f"resource_cpu_{name}" for name in ("s", "user_s", "system_s")]
    assert [groups.amount(cpu, name) for name in names] == [0.516169846, 5.0, 0.0]
    memory = b"rss 1\ncache 2\npgfault 1\npgmajfault 1\n"
    memory += b"total_rss 10\ntotal_cache 20\ntotal_pgfault 900\ntotal_pgmajfault 7\n"
    faults = "page_fault_minor_count", "page_fault_major_count"
    names = ["memory_anonymous_bytes", "memory_file_bytes", *faults]
    assert [amount_in(memory, name) for name in names] == [10, 20, 900, 7]


# -- whatever it is


RECORDED = (CPU_STAT_V2, MEMORY_STAT_V2, IO_STAT_V2, NET_DEV, *map(read, _REAL))


@given(st.sampled_from(RECORDED), st.binary(max_size=300), st.integers(0, 10_000))
def test_no_damage_makes_it_raise(content: bytes, junk: bytes, place: int) -> None:
    start = place % (len(content) + 1)
    for damaged in (junk, content[:start], content[:start] + junk + content[start + len(junk) :]):
        for parse in PARSERS:
            parse(damaged)


@given(st.integers(0, 2**64 - 1))
def test_64_bits_are_read(value: int) -> None:
    assert parsing.number(str(value).encode() + b"\n") == value


@pytest.mark.parametrize("text", [b"1_0", b"-1", b"+1", b"1.5", b"9" * 5000, "٣".encode(), b" "])
def test_what_is_no_number(text: bytes) -> None:
    assert parsing.number(text) is None
