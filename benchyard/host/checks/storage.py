"""Checks of memory, and of where results and temporary files go: is there enough, of what kind."""

import os
from pathlib import Path

from benchyard.core.quantity import amount
from benchyard.host.checks.check_context import CheckContext, Judgement, fail, ok, unknown, warn
from benchyard.host.facts.hardware import (
    SwapDevice,
    block_device,
    huge_pages,
    hypervisor,
    meminfo,
    mount_of,
    randomization,
    swap_devices,
)

#: Share of the memory that shall be free: less, and the page cache of a benchmark's inputs is
#: thrown out while it runs. Of our own making.
_FREE_SHARE = 0.1
_THP = "/sys/kernel/mm/transparent_hugepage"


def swap(context: CheckContext) -> Judgement:
    """Check that no memory can go to a disk.

    Source: Linux, Documentation/admin-guide/sysctl/vm.rst (swappiness); Beyer, Löwe, Wendler,
    "Reliable benchmarking", STTT 21 (2019): swapping makes times meaningless.
    """
    devices = swap_devices(context.host)
    if devices is None:
        return unknown("the kernel does not tell what it swaps to")
    if not devices:
        return ok("none")
    total, used = sum(d.size_bytes for d in devices), sum(d.used_bytes for d in devices)
    found = f"{amount(used, 'B')} of {amount(total, 'B')} used{_in_memory(devices)}"
    ways = ("host_swap_in_bytes", "host_swap_out_bytes")
    if context.look and (swapped := sum(map(context.look.grown, ways))):
        moved = f"{amount(swapped, 'B')} moved in {context.look.seconds:.1f} s just now"
        return fail(f"{found}; {moved}", "free memory first, then swapoff -a")
    return warn(found, "swapoff -a")


def _in_memory(devices: list[SwapDevice]) -> str:
    packed = [device for device in devices if "zram" in device.name]
    return ", in memory (zram)" if len(packed) == len(devices) else ""


def free_memory(context: CheckContext) -> Judgement:
    """Check that there is memory left.

    Source: Linux, Documentation/filesystems/proc.rst (MemAvailable).
    """
    told = meminfo(context.host)
    free, total = told["MemAvailable"], told["MemTotal"]
    found = f"{amount(free, 'B')} of {amount(total, 'B')} available"
    if free < _FREE_SHARE * total:
        return warn(found, "stop what is not needed: ps -eo rss,comm --sort=-rss")
    return ok(found)


def transparent_huge_pages(context: CheckContext) -> Judgement:
    """Check that programs do not get huge pages by chance, nor wait for the kernel to make one.

    Source: Linux, Documentation/admin-guide/mm/transhuge.rst.
    """
    told = huge_pages(context.host)
    enabled, defrag = told["enabled"], told["defrag"]
    if enabled is None:
        return unknown("the kernel does not tell whether it gives out huge pages unasked")
    if enabled == "always":
        found = "always: whether a program gets them depends on how scattered memory is"
        return warn(found, f"echo madvise > {_THP}/enabled")
    if enabled != "never" and defrag == "always":
        found = f"{enabled}, and programs wait while memory is put in order (defrag always)"
        return warn(found, f"echo madvise > {_THP}/defrag")
    return ok(f"{enabled}: only for programs that ask" if enabled == "madvise" else "never")


def address_randomization(context: CheckContext) -> Judgement:
    """Check that each process gets a layout of its own, so that several runs average over it.

    One layout is a bias that no number of runs shows. Source: Mytkowicz et al., "Producing wrong
    data without doing anything obviously wrong!", ASPLOS 2009; Curtsinger and Berger,
    "Stabilizer", ASPLOS 2013; pyperf, "system tune", turns it on as well.
    """
    level = randomization(context.host)
    if level is None:
        return unknown("the kernel does not tell whether it randomizes addresses")
    if level == 2:
        return ok("full: each process has a layout of its own, and runs average over them")
    how = "off" if level == 0 else f"partial ({level})"
    found = f"{how}: all runs share a layout, and with it its luck"
    return warn(found, "sysctl -w kernel.randomize_va_space=2")


#: Bytes with which a run can break off, and with which it may. A day of samples at 0.1 s is about
#: 0.1 GB; the rest is a case's own. Of our own making.
_TOO_FEW, _FEW = 1_000_000_000, 10_000_000_000
#: A fuller file system scatters what is written. Source: mkfs.ext4(8) keeps 5 % against that.
_FULL_SHARE = 0.05
#: What is shown there is the kernel's, and nobody can leave a file. For root all seem writable.
#: Source: proc_filesystems(5); of those that it marks "nodev", those that store nothing.
_KERNELS = (
    *("autofs", "binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts"),
    *("efivarfs", "fusectl", "mqueue", "proc", "pstore", "resctrl", "securityfs", "selinuxfs"),
    *("sysfs", "tracefs"),
)
_IN_MEMORY = ("tmpfs", "ramfs")
_REMOTE = ("nfs", "cifs", "smb", "9p", "fuse", "ceph", "lustre", "glusterfs", "virtiofs")


def results_folder(context: CheckContext) -> Judgement:
    """Check that results can be written."""
    return _folder(context, context.results, "give another one with --results")


def temporary_folder(context: CheckContext) -> Judgement:
    """Check that temporary files can be written."""
    return _folder(context, context.temporary, "name another one in TMPDIR")


def _folder(context: CheckContext, folder: Path, otherwise: str) -> Judgement:
    there = _existing(folder)
    kind, told = _file_system(context, there)
    state = os.statvfs(there)
    why = _unwritable(there, kind, state)
    if why:
        return fail(f"{there} cannot be written to{why}", otherwise)
    free, total = state.f_bavail * state.f_frsize, state.f_blocks * state.f_frsize
    room = (
        f"{amount(free, 'B')} of {amount(total, 'B')} free"
        if total
        else "nobody tells how much is free"
    )
    found = f"{room} in {there}{told}"
    if total and free < _TOO_FEW:
        return fail(found, f"free some, or {otherwise}")
    if total and (free < _FEW or free < _FULL_SHARE * total):
        return warn(found, f"free some, or {otherwise}")
    if kind.startswith(_REMOTE):
        return warn(f"{found}: what it does is another host's", otherwise)
    # A tmpfs without a limit is as large as memory, and says 0.
    if not total and kind not in _IN_MEMORY:
        return unknown(found)
    return ok(found)


def _unwritable(there: Path, kind: str, state: os.statvfs_result) -> str:
    """Say why no file can be made there; empty if one can.

    Nothing is written to find out: a look must not change the host. What the access rights say is
    not enough, as root may do everything even where there is nothing to be done.
    """
    if not there.is_dir():
        return ": it is no folder"
    if kind in _KERNELS:
        return f": what is there is the kernel's ({kind})"
    if state.f_flag & os.ST_RDONLY:
        return ": it is mounted read-only"
    if state.f_files and not state.f_favail:
        return ": there can be no more files (inodes)"
    return "" if os.access(there, os.W_OK | os.X_OK) else ": this user may not"


def _existing(folder: Path) -> Path:
    """Return the folder, or what is nearest above it."""
    folder = folder.resolve()
    return next((each for each in (folder, *folder.parents) if os.access(each, os.F_OK)), Path("/"))


def _file_system(context: CheckContext, folder: Path) -> tuple[str, str]:
    """Return the kind of the file system below, and that in words."""
    mount = mount_of(context.host, str(folder))
    if mount is None:
        return "", ""
    if mount.fstype in _IN_MEMORY:
        return mount.fstype, f", in memory ({mount.fstype}): what is written there is no disk's"
    # What a hypervisor calls a disk need not turn, whatever it says.
    turns = not hypervisor(context.host) and block_device(context.host, mount)["rotational"]
    return mount.fstype, f" ({mount.fstype}{' on a disk that turns' if turns else ''})"
