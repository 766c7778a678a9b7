"""Scanner's profiles: the values of a plain reader, and a sentence for whatever is damaged."""

import random
import struct
import tarfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.scanner_profiles import (
    NodeWorkers,
    intervals,
    master_file,
    node_file,
    synthetic_job,
)
from benchyard.core.errors import InputError
from benchyard.traces.scanner import Profile
from benchyard.traces.scanner.blocks import FormatError, ScannerWorker, read_node
from benchyard.traces.scanner.profile import JobDescriptor, read_descriptor
from benchyard.traces.sources import read_trace
from benchyard.traces.statistics import statistics_of
from tests.benchyard.traces.rows import damaged, rows

SAMPLES = Path(__file__).resolve().parents[5] / "shared" / "samples" / "scanner"


def job(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def worker(
    kind: str = "load", node: int = 0, *rows: tuple[int, int, int], **more: Any
) -> ScannerWorker:
    columns = np.array(rows, np.int64).reshape(-1, 3)
    made = intervals(columns[:, 0].astype(np.uint8), columns[:, 1], columns[:, 2])
    known: dict[str, Any] = {"tag": "", "number": 0, "names": {0: "io"}, "counters": {}} | more
    return ScannerWorker(
        node, kind, known["tag"], known["number"], known["names"], made, known["counters"]
    )


def one_node(
    process: ScannerWorker, *load: ScannerWorker, start: int = 0, end: int = 10**9
) -> bytes:
    return node_file(start, end, NodeWorkers(process, load))


def about(one: ScannerWorker) -> tuple[Any, ...]:
    return one.kind, one.tag, one.number, one.names, one.intervals.tolist(), one.counters


@pytest.mark.parametrize("seed", range(5))
def test_all_that_workers_wrote_is_read_and_added_up(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - no secret

    def wrote(kind: str, number: int = 0, tag: str = "") -> ScannerWorker:
        starts = rng.sample(range(10**12), rng.randrange(99))
        spent = [(rng.randrange(3), start, start + rng.randrange(10**9)) for start in starts]
        names = {0: "idle", 1: "io", 2: 'a "quoted" ü'}
        counters = {"rows": seed, "bytes": 5}
        return worker(kind, 0, *spent, number=number, tag=tag, names=names, counters=counters)

    load, save = ([wrote(kind, number) for number in range(3)] for kind in ("load", "save"))
    pipelines = [[wrote("eval", n, tag) for tag in ("pre", "post")] for n in range(2)]
    workers = NodeWorkers(wrote("process_job"), load, pipelines, save)
    content = node_file(0, 10**9, workers)
    profile = Profile(job(tmp_path, {f"profile_{node}.bin": content for node in (0, 1)}))
    written = [workers.process_job, *load, *pipelines[0], *pipelines[1], *save]
    for node in profile.nodes.values():
        assert list(map(about, node.workers)) == list(map(about, written))
    seconds: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for one in written:
        spent = one.intervals.tolist()
        assert b"".join(struct.pack("<Bqq", *row) for row in spent) in content
        for key, start, end in spent:
            seconds[one.kind][one.names[key]] += 2 * (end - start)
    statistics = profile.statistics()
    for kind, times in seconds.items():
        expected = {name: pytest.approx(ns / 1e9, rel=1e-12) for name, ns in times.items()}
        assert statistics.seconds[kind] == expected
    assert statistics.counters["load"] == {"rows": 2 * 3 * seed, "bytes": 30}
    assert profile.problems == []


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="real profiles are not here")
def test_a_real_profile_is_read_to_its_last_byte() -> None:
    profile = Profile(SAMPLES)
    assert list(profile.nodes) == [3]
    assert len(profile.nodes[3].workers) == 7
    assert profile.problems == []
    assert profile.descriptor is not None


# -- where the original is wrong


def test_the_total_time_is_that_of_all_nodes(tmp_path: Path) -> None:
    files = {
        f"profile_{node}.bin": one_node(worker("process_job"), start=0, end=end * 10**9)
        for node, end in enumerate((1, 2, 3, 1))
    }
    assert Profile(job(tmp_path, files)).statistics().total_time == 3.0


def test_nodes_keep_their_numbers_and_none_is_missed(tmp_path: Path) -> None:
    files = {f"profile_{node}.bin": one_node(worker("process_job")) for node in (0, 7, 1, 12)}
    (tmp_path / "profile_x.bin").write_bytes(b"")
    assert list(Profile(job(tmp_path, files)).nodes) == [0, 1, 7, 12]
    assert set(Profile(tmp_path, subsample=2).nodes) < {0, 1, 7, 12}
    assert len(Profile(tmp_path, subsample=2).nodes) == 2


def test_counters_are_not_added_to_times(tmp_path: Path) -> None:
    counted = worker("load", 0, (0, 0, 5 * 10**9), counters={"io": 3_000_000_000})
    files = {"profile_0.bin": one_node(worker("process_job"), counted)}
    statistics = Profile(job(tmp_path, files)).statistics()
    assert statistics.seconds["load"] == {"io": 5.0}
    assert statistics.counters["load"] == {"io": 3_000_000_000}


def test_kinds_that_share_a_number_are_not_merged_in_silence(tmp_path: Path) -> None:
    content = one_node(worker("process_job", 0, (0, 0, 9)))
    keys = b"".join(b"k%03d\0" % one + bytes([one % 256]) for one in range(300))
    known = struct.pack("<q", 1) + b"io\0\0"
    files = {"profile_0.bin": content.replace(known, struct.pack("<q", 300) + keys, 1)}
    profile = Profile(job(tmp_path, files))
    assert profile.statistics().seconds["process_job"] == {"k000 or k256": pytest.approx(9e-9)}
    assert "300 kinds of intervals at byte" in profile.problems[0]
    assert "those of 44 cannot be told apart" in profile.problems[0]


def test_a_key_without_a_name_and_names_that_are_no_utf8_are_read(tmp_path: Path) -> None:
    content = one_node(worker("process_job", 0, (0, 0, 9), (7, 1, 3)))
    files = {"profile_0.bin": content.replace(b"io\0", b"\xe9\0", 1)}
    profile = Profile(job(tmp_path, files))
    assert set(profile.statistics().seconds["process_job"]) == {"é", "unknown key 7"}
    assert "no UTF-8; read as Latin-1" in profile.problems[0]


def test_absurdly_many_counters_are_taken_for_none_and_told(tmp_path: Path) -> None:
    content = one_node(worker("process_job", 0, (0, 0, 9)))
    place = len(content) - 4 - 8
    absurd = content[:place] + struct.pack("<q", 10**9) + content[place + 8 :]
    profile = Profile(job(tmp_path, {"profile_0.bin": absurd}))
    assert "1,000,000,000 counters announced at byte" in profile.problems[0]
    assert profile.statistics().seconds["process_job"] == {"io": pytest.approx(9e-9)}


def test_a_damaged_file_is_told_with_its_byte_and_the_others_are_used(tmp_path: Path) -> None:
    whole = one_node(worker("process_job", 0, (0, 0, 9)))
    files = {"profile_0.bin": whole, "profile_1.bin": whole[:-20], "profile_2.bin": whole + b"xy"}
    profile = Profile(job(tmp_path, files))
    assert list(profile.nodes) == [0, 2]
    assert profile.problems[0].startswith("profile_1.bin: ")
    assert "at byte" in profile.problems[0]
    assert profile.problems[1] == (
        f"profile_2.bin: 2 bytes are left over from byte {len(whole)} on"
    )
    assert [loss.reason for loss in profile.trace().losses] == profile.problems


def test_where_nothing_can_be_read_the_reason_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no profile_<node>\.bin is there"):
        Profile(tmp_path)
    with pytest.raises(InputError, match=r"profile_0\.bin: cut off at byte 3"):
        Profile(job(tmp_path, {"profile_0.bin": b"abc"}))


def test_a_descriptor_tells_of_its_job() -> None:
    message = b"\x08\x07\x12\x03job\x18\x64\x20\x0a\x28\x04\x32\x02\x08\x01"
    assert read_descriptor(message) == JobDescriptor(7, "job", 100, 10, 4)
    with pytest.raises(FormatError, match="byte 2: 3 bytes announced, 1 left"):
        read_descriptor(message[:5])


# -- traces


@pytest.mark.parametrize("ending", [".trace", ".json", ".json.gz", ".tar.gz"])
def test_what_is_written_is_read_as_the_same_trace(tmp_path: Path, ending: str) -> None:
    profile = Profile(job(tmp_path / "job", synthetic_job(2, 2, 3_000, 4)))
    out = tmp_path / "a.b" / f"trace.of.job{ending}"
    out.parent.mkdir()
    assert profile.write_trace(out) == out
    assert [one.name for one in out.parent.iterdir()] == [out.name]
    if ending == ".tar.gz":
        with tarfile.open(out) as tar:
            tar.extraction_filter = getattr(tarfile, "data_filter", None)
            tar.extractall(tmp_path)  # noqa: S202 - Python before 3.11.4 has no filter
        out = tmp_path / "trace.of.job.trace"
    written, made = read_trace(out), profile.trace()
    assert written.tracks == made.tracks
    assert rows(written) == rows(made)


def test_times_that_cannot_be_are_counted(tmp_path: Path) -> None:
    least, most = -(2**63), 2**63 - 1
    rows = [(0, 1, 5), (0, least, least), (0, least, most), (0, most, 5), (0, 9, 8), (0, 2, 3)]
    node = one_node(worker("process_job"), worker("load", 0, *rows))
    trace = Profile(job(tmp_path, {"profile_0.bin": node})).trace()
    assert sorted(map(int, trace.slices.duration)) == [1, 4]
    assert {one.reason: one.count for one in trace.losses} == {
        "an interval that ends before it begins": 1,
        "an interval that has a time that is out of range": 3,
    }
    assert [one.busy for one in statistics_of(trace).tracks] == [4]


def test_other_endings_are_refused(tmp_path: Path) -> None:
    profile = Profile(job(tmp_path, {"profile_0.bin": one_node(worker("process_job"))}))
    with pytest.raises(InputError, match=r"t\.txt: a trace must end in \.trace, \.json"):
        profile.write_trace(tmp_path / "t.txt")


def test_a_job_is_a_trace_as_any_other(tmp_path: Path) -> None:
    master = master_file(5, 9, worker("master", 0, (0, 0, 4)))
    node = one_node(worker("process_job", 1), worker("load", 1, (0, 2, 9), (0, 9, 4), number=3))
    trace = read_trace(job(tmp_path, {"profile_master.bin": master, "profile_1.bin": node}))
    assert [(track.process, track.thread) for track in trace.tracks] == [
        ("master", "master"),
        ("node 1", "process_job_01_00"),
        ("node 1", "load_01_03"),
    ]
    assert trace.slices.track.tolist() == [0, 2]
    assert trace.slices.duration.tolist() == [4, 7]
    assert [loss.reason for loss in trace.losses] == ["an interval that ends before it begins"]


# -- damage


@pytest.mark.parametrize("trials", [2_000, pytest.param(50_000, marks=pytest.mark.long)])
def test_a_damaged_file_is_read_or_refused_with_its_byte(trials: int) -> None:
    rng = random.Random(trials)  # noqa: S311 - no secret
    whole = synthetic_job(1, 1, 60, 1, {"rows": 3})["profile_0.bin"]
    refused = 0
    for _ in range(trials):
        content = damaged(whole, rng)
        try:
            found = read_node(content)
        except FormatError as error:
            refused += "byte" in str(error)
        else:
            refused += bool(found.problems)
            assert sum(len(one.intervals) for one in found.workers) * 17 <= len(content)
    assert refused > trials / 3
