"""What is found of where results go."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchyard.preflight.finding import Finding, Status
from benchyard.preflight.storage import CHECKS
from tests.benchyard.preflight.hosts import LAPTOP, scene_of

MOUNT = "22 1 259:2 / / rw - {fstype} {source} rw\n"


def found(tmp_path: Path, fstype: str = "ext4", **more: Any) -> Finding:
    files = LAPTOP | {"proc/self/mountinfo": MOUNT.format(fstype=fstype, source="/dev/sda1")}
    files |= {
        "sys/dev/block/259:2/partition": "1",
        "sys/dev/block/queue/rotational": "1" if more.pop("turns", False) else "0",
    }
    made = CHECKS["results folder"](scene_of(tmp_path, files, **more))
    assert made is not None
    return made


def with_space(monkeypatch: pytest.MonkeyPatch, free: int, total: int) -> None:
    def told(_: object) -> Any:
        return SimpleNamespace(f_bavail=free, f_blocks=total, f_frsize=1)

    monkeypatch.setattr(os, "statvfs", told)


@pytest.mark.parametrize(
    ("free", "total", "status"),
    [
        (500_000_000_000, 10**12, Status.OK),
        (40_000_000_000, 10**12, Status.WARN),
        (9_000_000_000, 20_000_000_000, Status.WARN),
        (900_000_000, 10**12, Status.FAIL),
        (0, 0, Status.OK),
    ],
)
def test_space_is_told_and_weighed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, total: int, status: Status
) -> None:
    with_space(monkeypatch, free, total)
    assert found(tmp_path).status is status


def test_what_it_lies_on_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_space(monkeypatch, 5 * 10**11, 10**12)
    assert found(tmp_path).finding == f"500 GB of 1.0 TB free in {tmp_path} (ext4)"
    assert found(tmp_path / "a", turns=True).finding.endswith("(ext4 on a disk that turns)")
    assert "in memory (tmpfs)" in found(tmp_path / "b", "tmpfs").finding
    remote = found(tmp_path / "c", "nfs4")
    assert remote.status is Status.WARN
    assert "another host's" in remote.finding


def test_a_folder_that_is_not_there_yet_is_judged_by_the_one_above(tmp_path: Path) -> None:
    made = found(tmp_path, results=tmp_path / "not" / "yet")
    assert f"free in {tmp_path} " in made.finding


def test_a_folder_that_cannot_be_written_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> bool:
        return False

    monkeypatch.setattr(os, "access", refused)
    made = found(tmp_path)
    assert made.status is Status.FAIL
    assert made.finding == f"{tmp_path} cannot be written to"
    assert made.advice == "give another one with --results"


def test_the_temporary_folder_is_looked_at_too(tmp_path: Path) -> None:
    made = CHECKS["temporary folder"](scene_of(tmp_path, LAPTOP, temporary=Path("/")))
    assert made is not None
    assert made.check == "temporary folder"
    assert " free in / " in made.finding
