"""Checks of where results and temporary files go."""

import os
from pathlib import Path

from benchyard.host.checks.check_context import CheckContext, Checks
from benchyard.host.checks.finding import Finding, fail, ok, size, unknown, warn
from benchyard.host.facts.hardware import hypervisor
from benchyard.host.facts.storage import block_device, mount_of

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
_MEMORY = ("tmpfs", "ramfs")
_REMOTE = ("nfs", "cifs", "smb", "9p", "fuse", "ceph", "lustre", "glusterfs", "virtiofs")


def results_folder(context: CheckContext) -> Finding:
    """Check that results can be written."""
    return _folder(context, "results folder", context.results, "give another one with --results")


def temporary_folder(context: CheckContext) -> Finding:
    """Check that temporary files can be written."""
    return _folder(context, "temporary folder", context.temporary, "name another one in TMPDIR")


def _folder(context: CheckContext, check: str, folder: Path, otherwise: str) -> Finding:
    there = _existing(folder)
    kind, told = _file_system(context, there)
    state = os.statvfs(there)
    why = _unwritable(there, kind, state)
    if why:
        return fail(check, f"{there} cannot be written to{why}", otherwise)
    free, total = state.f_bavail * state.f_frsize, state.f_blocks * state.f_frsize
    room = f"{size(free)} of {size(total)} free" if total else "nobody tells how much is free"
    found = f"{room} in {there}{told}"
    if total and free < _TOO_FEW:
        return fail(check, found, f"free some, or {otherwise}")
    if total and (free < _FEW or free < _FULL_SHARE * total):
        return warn(check, found, f"free some, or {otherwise}")
    if kind.startswith(_REMOTE):
        return warn(check, f"{found}: what it does is another host's", otherwise)
    # A tmpfs without a limit is as large as memory, and says 0.
    if not total and kind not in _MEMORY:
        return unknown(check, found)
    return ok(check, found)


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
    if mount.fstype in _MEMORY:
        return mount.fstype, f", in memory ({mount.fstype}): what is written there is no disk's"
    # What a hypervisor calls a disk need not turn, whatever it says.
    turns = not hypervisor(context.host) and block_device(context.host, mount)["rotational"]
    return mount.fstype, f" ({mount.fstype}{' on a disk that turns' if turns else ''})"


CHECKS: Checks = {
    "results folder": results_folder,
    "temporary folder": temporary_folder,
}
