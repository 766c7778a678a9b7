"""Disks, and what is mounted where."""

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from benchyard.host.facts.hardware import disks, mount_of, mounts
from benchyard.host.facts.reading import Host
from benchyard.process.cgroups import read_mounts
from tests.benchyard.host.checks.hosts import write_host

LINE = "22 1 {device} / {point} rw,noatime shared:1 - {fstype} {source} rw,discard\n"


def host(folder: Path, *rows: tuple[str, str, str, str], **files: str) -> Host:
    text = "".join(
        LINE.format(source=source, fstype=fstype, point=point, device=device)
        for source, fstype, point, device in rows
    )
    return write_host(folder, {"proc/self/mountinfo": text, **files})


def test_only_real_disks_are_told(tmp_path: Path) -> None:
    made = host(
        tmp_path,
        ("/dev/sda1", "ext4", "/data", "8:1"),
        ("/dev/loop3", "squashfs", "/snap", "7:3"),
        ("/dev/loop4", "ext4", "/image", "7:4"),
        ("server:/home", "nfs4", "/dead", "0:40"),
        ("overlay", "overlay", "/", "0:50"),
        ("tmpfs", "tmpfs", "/run", "0:51"),
        ("/dev/sda1", "ext4", "/etc/resolv.conf", "8:1"),
        ("pool/home", "zfs", "/home", "0:52"),
    )
    for folder in ("data", "snap", "image", "dead", "run", "home", "etc"):
        (tmp_path / folder).mkdir()
    (tmp_path / "etc" / "resolv.conf").touch()
    found: list[Any] = disks(made)
    assert [disk["mountpoint"] for disk in found] == ["/data", "/home"]
    told = [found[0][name] for name in ("device", "fstype", "options")]
    assert told == ["/dev/sda1", "ext4", "rw,noatime,discard"]
    assert found[0]["total_bytes"] > 0
    # Defect 25: a host may have none.
    assert disks(host(tmp_path / "diskless", ("none", "tmpfs", "/", "0:1"))) == []
    assert disks(Host(tmp_path / "absent")) == []


def test_what_kind_of_disk_is_told(tmp_path: Path) -> None:
    block = "sys/devices/pci/nvme0n1"
    files = {
        f"{block}/nvme0n1p2/partition": "2\n",
        f"{block}/queue/rotational": "0\n",
        f"{block}/queue/scheduler": "mq-deadline kyber [none]\n",
        f"{block}/queue/write_cache": "write back\n",
        f"{block}/device/model": "Samsung SSD 980 PRO  \n",
        "sys/devices/virtual/dm-0/queue/rotational": "1\n",
        "sys/dev/block/259:2": "-> ../../devices/pci/nvme0n1/nvme0n1p2",
        "sys/class/block/dm-0": "-> ../../devices/virtual/dm-0",
        "sys/devices/virtual/dm-0/slaves/nvme0n1p2": "-> ../../../pci/nvme0n1/nvme0n1p2",
        "dev/dm-0": "",
        "dev/mapper/root": "-> ../dm-0",
    }
    rows = ("/dev/nvme0n1p2", "ext4", "/", "259:2"), ("/dev/mapper/root", "btrfs", "/", "0:30")
    found: list[Any] = disks(host(tmp_path, *rows, **files))
    kinds = [(disk["model"], disk["rotational"]) for disk in found]
    assert kinds == [("Samsung SSD 980 PRO", False), ("Samsung SSD 980 PRO", True)]
    assert (found[0]["scheduler"], found[0]["write_cache"]) == ("none", "write back")


def test_the_nearest_and_latest_mount_is_it(tmp_path: Path) -> None:
    made = host(
        tmp_path,
        ("/dev/a", "ext4", "/", "1:1"),
        ("/dev/b", "ext4", "/data", "1:2"),
        ("/dev/c", "xfs", "/data", "1:3"),
        ("/dev/d", "xfs", "/dat", "1:4"),
    )
    sources = [mount_of(made, path) for path in ("/", "/data", "/data/x", "/database")]
    assert [mount.source[-1] for mount in sources if mount] == ["a", "c", "c", "a"]
    # Blanks in names are read.
    [mount] = mounts(host(tmp_path / "b", ("/dev/a", "ext4", "/my\\040disk\\134x", "1:1")))
    assert mount.point == "/my disk\\x"


@given(text=st.text(alphabet="0123456789:/ -\\rw\n", max_size=200))
def test_no_table_of_mounts_is_too_strange(text: str) -> None:
    assert len(read_mounts(text)) <= text.count("\n") + 1
