"""Checks of other load on the host: processes, containers and their engine, other labs."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from benchyard.core.quantity import percent, plural
from benchyard.core.wording import some
from benchyard.host.checks.check_context import CheckContext, Judgement, fail, ok, unknown, warn
from benchyard.host.checks.suspicion import STEAL_SHARE, STEAL_TICKS
from benchyard.host.counters.parsing import TICKS_PER_S, cpu_times
from benchyard.host.facts.hardware import hypervisor, mounts
from benchyard.host.facts.reading import Host
from benchyard.host.facts.system import Contact, EngineFacts, container, running
from benchyard.process.labels import OWNER, WINDS_UP, this_owner

#: Load per core that is too much: tasks that ran or waited in the last minute. Of our own making.
_LOAD_PER_CORE = 0.1
#: The lab itself, and what started it, are a load too; of our own making.
_LOAD_OF_THE_LAB = 0.5
#: Percent of the last 10 s in which some task waited that are too much. Of our own making.
_PRESSURE_PERCENT = 1.0
#: Share of a core above which a process is worth a name.
BUSY_SHARE = 0.05


def load_average(context: CheckContext) -> Judgement:
    """Check that the host has had nothing to do lately.

    At the start of a run it may be the run before that it had to do; so it fails with a look only.
    Source: proc_loadavg(5).
    """
    words = (context.host.text("proc/loadavg") or "").split()
    last = float(words[0])
    found = f"{' '.join(words[:3])} over 1, 5 and 15 minutes, on {plural(context.cores, 'core')}"
    if last >= context.cores and context.look:
        return fail(found, "wait, or stop what runs: top")
    if last > max(_LOAD_PER_CORE * context.cores, _LOAD_OF_THE_LAB):
        return warn(found, "wait, or stop what runs: top")
    return ok(found)


def pressure(context: CheckContext) -> Judgement:
    """Check that no task waits for CPU, memory or disk.

    Source: Linux, Documentation/accounting/psi.rst.
    """
    told = {kind: _waited(context, kind) for kind in ("cpu", "memory", "io")}
    known = {kind: percent for kind, percent in told.items() if percent is not None}
    if not known:
        advice = "boot with psi=1; without it, no record tells how long tasks waited"
        return unknown("the kernel does not measure how long tasks wait", advice)
    shares = ", ".join(f"{kind} {percent:.2f}%" for kind, percent in known.items())
    found = f"of the last 10 s, tasks waited: {shares}"
    if any(percent > _PRESSURE_PERCENT for percent in known.values()):
        return warn(found, "find who works: top, iotop")
    return ok(found)


def _waited(context: CheckContext, kind: str) -> float | None:
    for line in (context.host.text(f"proc/pressure/{kind}") or "").splitlines():
        words = line.split()
        if words[:1] == ["some"] and words[1:] and words[1].startswith("avg10="):
            return float(words[1].removeprefix("avg10="))
    return None


def busy_processes(context: CheckContext) -> Judgement | None:
    """Check that nobody else computes: processes that took more than 5 % of a core in the look."""
    if context.look is None:
        return None
    look = context.look
    shares = {pid: share for pid, share in look.shares().items() if pid != os.getpid()}
    busy = sorted((pid for pid in shares if shares[pid] > BUSY_SHARE), key=lambda pid: -shares[pid])
    if not busy:
        return ok(f"none above {percent(BUSY_SHARE)} of a core in {look.seconds:.1f} s")
    names = {pid: context.host.text(f"proc/{pid}/comm") or "ended" for pid in busy}
    named = [f"{name} (pid {pid}) {percent(shares[pid])}" for pid, name in names.items()]
    return warn(f"{some(named)} of a core", "stop them, or wait until they are done")


def steal(context: CheckContext) -> Judgement | None:
    """Check that no hypervisor gives the host's CPUs to others.

    Source: proc_stat(5), steal; the threshold is that of a suspect step.
    """
    times = cpu_times(context.host.content("proc/stat"))
    if times.steal_s is None:
        return unknown("the kernel does not tell what a hypervisor takes")
    total = sum(seconds for seconds in times if seconds is not None)
    share = times.steal_s / total if total else 0.0
    found = f"{percent(share, 3)} of all CPU time since boot"
    if context.look:
        stolen = context.look.grown("host_cpu_steal_s")
        found = f"{stolen:.2f} s in {context.look.seconds:.1f} s just now; {found}"
        ticks = round(stolen * TICKS_PER_S)
        if ticks > STEAL_TICKS and stolen > STEAL_SHARE * context.look.seconds:
            return warn(found, "use a dedicated host, or ask for CPUs of your own")
    if share > STEAL_SHARE:
        return warn(found, "use a dedicated host, or ask for CPUs of your own")
    return ok(found) if times.steal_s or hypervisor(context.host) else None


#: Names of the cgroups that engines make for a container: an id of 64 digits, with the engine
#: before it under systemd. Source: moby, runc, containers/podman, containerd, CRI-O, LXC.
_CONTAINER = re.compile(
    r"(?:(docker|libpod|cri-containerd|crio|nerdctl)-)?([0-9a-f]{64})(?:\.scope)?"
    r"|(lxc)\.payload\.([\w.-]+)"
)
#: Folders that are looked into: engines nest no deeper, and hosts with more are no testbeds.
_DEPTH, _MOST_FOLDERS = 6, 3000


def other_containers(context: CheckContext) -> Judgement:
    """Check that no container works beside the lab.

    What the engine lists and what has a cgroup count; the lab's own container does not.
    """
    listed = [*_listed(context.engine)]
    unnamed = {i: how for i, how in _by_cgroup(context.host).items() if i not in dict(listed)}
    # The lab's own cgroups, as text that contains the id of its container.
    own = context.host.text("proc/self/cgroup") or ""
    names = [name for ident, name in listed if ident not in own]
    names += [f"{how} {ident[:12]}" for ident, how in unnamed.items() if ident not in own]
    if names:
        advice = "stop them: docker stop NAME, systemctl stop kubelet"
        return warn(f"{plural(len(names), 'container')}: {some(names)}", advice)
    inside = container(context.host)
    if context.engine.contact is not Contact.ANSWERS and (inside or not _hierarchy(context.host)):
        blind = f"from inside a container ({inside})" if inside else "without cgroups of version 2"
        return unknown(f"{blind} others cannot be seen")
    return ok("none run")


def _listed(engine: EngineFacts) -> Iterator[tuple[str, str]]:
    """Yield id and name of each container that the engine lists."""
    for entry in running(engine.body):
        names = entry.get("Names")
        first = str(names[0]).lstrip("/") if isinstance(names, list) and names else ""
        ident = str(entry.get("Id", ""))
        if ident:
            yield ident, first or ident[:12]


def _by_cgroup(host: Host) -> dict[str, str]:
    """Return id and engine of each container that has a cgroup with processes."""
    found: dict[str, str] = {}
    for folder in _cgroups(host, _hierarchy(host)):
        told = _CONTAINER.fullmatch(PurePosixPath(folder).name)
        events = host.text(f"{folder}/cgroup.events") if told else None
        if told and "populated 1" in (events or "").splitlines():
            found[told[2] or told[4]] = told[1] or told[3] or PurePosixPath(folder).parent.name
    return found


def _hierarchy(host: Host) -> str:
    """Return the mount that has every container: version 2's, where version 1 is not beside it."""
    points = {mount.fstype: mount.point for mount in mounts(host)}
    return "" if "cgroup" in points else points.get("cgroup2", "")


def _cgroups(host: Host, top: str) -> Iterator[str]:
    """Yield the cgroups below a mount; a container's own inner ones are not looked into."""
    waiting = [(top, 0)] if top else []
    for _ in range(_MOST_FOLDERS):
        if not waiting:
            return
        folder, depth = waiting.pop()
        yield folder
        if depth < _DEPTH and not _CONTAINER.fullmatch(PurePosixPath(folder).name):
            inner = _folders(host, folder)
            waiting += [(f"{folder}/{name}", depth + 1) for name in inner]


def _folders(host: Host, folder: str) -> list[str]:
    """Return the folders in a folder; a cgroup's own files, dozens, are not listed for nothing."""
    place = host.at(folder)
    try:
        # Two links, from above and from itself: none from a folder inside.
        if place.stat().st_nlink == 2:
            return []
        with os.scandir(place) as entries:
            return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def other_labs(context: CheckContext) -> Judgement | None:
    """Check that no other lab has processes here; takes time, so only with a look."""
    if context.look is None:
        return None
    mine = {this_owner(), os.environ.get(OWNER, "")}
    owners = set(_owners(context.host, context.look.after.processes)) - mine
    if not owners:
        return ok("none has processes that this user may see")
    named = [f"that of pid {owner.partition(':')[0]}" for owner in sorted(owners)]
    return warn(some(named), "wait until it is done; benchyard run waits by itself")


def _owners(host: Host, pids: Iterable[int]) -> Iterator[str]:
    for pid in pids:
        for line in (host.text(f"proc/{pid}/environ") or "").split("\0"):
            name, _, value = line.partition("=")
            if name == OWNER:
                yield value.removesuffix(WINDS_UP)


def docker(context: CheckContext) -> Judgement:
    """Check that the Docker engine can be asked: cases with containers need it."""
    place = context.engine.place
    match context.engine.contact:
        case Contact.ANSWERS:
            return ok(f"{context.engine.server or 'the engine'} answers at {place}")
        case Contact.REFUSED:
            advice = "usermod -aG docker USER, then log in again"
            return warn(f"this user may not use the engine at {place}", advice)
        case Contact.SILENT:
            advice = "look after it: systemctl status docker"
            return warn(f"the engine at {place} does not answer", advice)
        case Contact.ELSEWHERE:
            found = f"the engine is on another host ({place}): what it does is measured nowhere"
            return warn(found, "unset DOCKER_HOST, and use an engine of this host")
        case Contact.ABSENT:
            found = f"no engine at {place}; only cases with containers need one"
            return unknown(found, "systemctl start docker")
