"""What is found of where results go."""

import os
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from benchyard.host.checks.check_context import CheckContext, Finding, Status
from benchyard.host.facts.reading import Host
from benchyard.host.facts.system import Contact, EngineFacts
from tests.benchyard.host.checks.hosts import LAPTOP, made, scene_of

MOUNT = "22 1 259:2 / / rw - {fstype} {source} rw\n"


def found(tmp_path: Path, fstype: str = "ext4", **more: Any) -> Finding:
    files = LAPTOP | {"proc/self/mountinfo": MOUNT.format(fstype=fstype, source="/dev/sda1")}
    files |= {
        "sys/dev/block/259:2/partition": "1",
        "sys/dev/block/queue/rotational": "1" if more.pop("turns", False) else "0",
    }
    return made("results folder", scene_of(tmp_path, files, **more))


def with_space(monkeypatch: pytest.MonkeyPatch, free: int, total: int, **more: int) -> None:
    state = {"f_bavail": free, "f_blocks": total, "f_frsize": 1}
    state |= {"f_flag": 0, "f_files": 0, "f_favail": 0, **more}
    monkeypatch.setattr(os, "statvfs", Mock(return_value=Mock(**state)))


def test_space_is_told_and_weighed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for free, total, status in (
        (500_000_000_000, 10**12, Status.OK),
        (40_000_000_000, 10**12, Status.WARN),
        (9_000_000_000, 20_000_000_000, Status.WARN),
        (900_000_000, 10**12, Status.FAIL),
        (0, 0, Status.UNKNOWN),
    ):
        with_space(monkeypatch, free, total)
        assert found(tmp_path).status is status


def test_what_it_lies_on_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_space(monkeypatch, 5 * 10**11, 10**12)
    assert found(tmp_path).finding == f"500 GB of 1 TB free in {tmp_path} (ext4)"
    assert found(tmp_path / "a", turns=True).finding.endswith("(ext4 on a disk that turns)")
    assert "in memory (tmpfs)" in found(tmp_path / "b", "tmpfs").finding
    remote = found(tmp_path / "c", "nfs4")
    assert remote.status is Status.WARN
    assert "another host's" in remote.finding


def unwritable(finding: Finding, why: str) -> None:
    assert (finding.status, finding.advice) == (Status.FAIL, "give another one with --results")
    assert f"cannot be written to: {why}" in finding.finding


@pytest.mark.parametrize(
    ("state", "why"),
    [
        (None, "this user may not"),
        ({"f_flag": os.ST_RDONLY}, "it is mounted read-only"),
        ({"f_files": 1000, "f_favail": 0}, "there can be no more files (inodes)"),
    ],
)
def test_a_folder_that_cannot_be_written_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: dict[str, int] | None, why: str
) -> None:
    with_space(monkeypatch, 5 * 10**11, 10**12, **(state or {}))
    if state is None:
        monkeypatch.setattr(os, "access", lambda _, mode: mode == os.F_OK)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    unwritable(found(tmp_path), why)


@pytest.mark.parametrize("folder", ["/proc", "/proc/self/not/there", "/sys"])
def test_folders_of_the_kernel_hold_no_results_even_for_root(folder: str) -> None:
    """Its access rights allow it, and it has 0 of 0 bytes free."""
    engine = EngineFacts(Contact.ABSENT)
    finding = made("results folder", CheckContext(Host(), Path(folder), Path("/"), engine))
    unwritable(finding, "what is there is the kernel's (")


def test_where_nobody_tells_the_room_no_figure_is_made_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_space(monkeypatch, 0, 0)
    assert found(tmp_path).finding == f"nobody tells how much is free in {tmp_path} (ext4)"
    memory = found(tmp_path / "b", "tmpfs")
    assert memory.status is Status.OK
    assert memory.finding.startswith("nobody tells how much is free")
    assert found(tmp_path / "c", "fuse.sshfs").status is Status.WARN


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for results in (tmp_path / "file", tmp_path / "file" / "below"):
        finding = found(tmp_path, results=results)
        unwritable(finding, "it is no folder")
        assert str(tmp_path / "file") in finding.finding


def test_the_temporary_folder_is_looked_at_too_and_one_to_come_by_the_one_above(
    tmp_path: Path,
) -> None:
    finding = made("temporary folder", scene_of(tmp_path / "a", LAPTOP, temporary=tmp_path))
    assert f" free in {tmp_path} " in finding.finding
    assert f"free in {tmp_path} " in found(tmp_path, results=tmp_path / "not" / "yet").finding
