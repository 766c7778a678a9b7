"""Checks of who else lives here: containers, other labs, the engine that runs containers."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from benchyard.host.checks.finding import Finding, ok, some, unknown, warn
from benchyard.host.checks.scene import Checks, Contact, Engine, Scene
from benchyard.host.facts.confinement import container
from benchyard.host.facts.engine import running
from benchyard.host.facts.mounts import mounts
from benchyard.host.facts.reading import Host
from benchyard.process.labels import OWNER, WINDS_UP, this_owner
from benchyard.statistics.figures import plural

#: Names of the cgroups that engines make for a container: an id of 64 digits, with the engine
#: before it under systemd. Source: moby, runc, containers/podman, containerd, CRI-O, LXC.
_CONTAINER = re.compile(
    r"(?:(docker|libpod|cri-containerd|crio|nerdctl)-)?([0-9a-f]{64})(?:\.scope)?"
    r"|(lxc)\.payload\.([\w.-]+)"
)
#: Folders that are looked into: engines nest no deeper, and hosts with more are no testbeds.
_DEPTH, _MOST_FOLDERS = 6, 3000


def other_containers(scene: Scene) -> Finding:
    """Check that no container works beside the lab.

    What the engine lists and what has a cgroup count; the lab's own container does not.
    """
    check = "other containers"
    listed = [*_listed(scene.engine)]
    unnamed = {i: how for i, how in _by_cgroup(scene.host).items() if i not in dict(listed)}
    own = _own_path(scene.host)
    names = [name for ident, name in listed if ident not in own]
    names += [f"{how} {ident[:12]}" for ident, how in unnamed.items() if ident not in own]
    if names:
        advice = "stop them: docker stop NAME, systemctl stop kubelet"
        return warn(check, f"{plural(len(names), 'container')}: {some(names)}", advice)
    inside = container(scene.host)
    if scene.engine.contact is not Contact.ANSWERS and (inside or not _hierarchy(scene.host)):
        blind = f"from inside a container ({inside})" if inside else "without cgroups"
        return unknown(check, f"{blind} others cannot be seen")
    return ok(check, "none run")


def _listed(engine: Engine) -> Iterator[tuple[str, str]]:
    """Yield id and name of each container that the engine lists."""
    for entry in running(engine.containers):
        names = entry.get("Names")
        first = str(names[0]).lstrip("/") if isinstance(names, list) and names else ""
        ident = str(entry.get("Id", ""))
        if ident:
            yield ident, first or ident[:12]


def _own_path(host: Host) -> str:
    """Return the lab's own cgroups, as text that contains the id of its container."""
    return host.text("proc/self/cgroup") or ""


def _by_cgroup(host: Host) -> dict[str, str]:
    """Return id and engine of each container that has a cgroup with processes."""
    found: dict[str, str] = {}
    for folder in _cgroups(host, _hierarchy(host)):
        told = _CONTAINER.fullmatch(PurePosixPath(folder).name)
        if told and _is_populated(host, folder):
            found[told[2] or told[4]] = told[1] or told[3] or PurePosixPath(folder).parent.name
    return found


def _hierarchy(host: Host) -> str:
    """Return one mount that has every container: version 2's, else that for memory."""
    kinds = {mount.point: mount for mount in mounts(host) if mount.fstype.startswith("cgroup")}
    new = [point for point, mount in kinds.items() if mount.fstype == "cgroup2"]
    old = [point for point, mount in kinds.items() if "memory" in mount.options.split(",")]
    return next(iter([*old, *new]), "")


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


def _is_populated(host: Host, folder: str) -> bool:
    """Tell whether processes are in a cgroup; version 1 tells only of those directly in it."""
    events = host.text(f"{folder}/cgroup.events")
    if events is not None:
        return "populated 1" in events.splitlines()
    below = [folder, *(f"{folder}/{name}" for name in _folders(host, folder))]
    return any(host.text(f"{each}/cgroup.procs") for each in below)


def other_labs(scene: Scene) -> Finding | None:
    """Check that no other lab has processes here; takes time, so only with a look."""
    if scene.look is None:
        return None
    mine = {this_owner(), os.environ.get(OWNER, "")}
    owners = set(_owners(scene.host, scene.look.after.processes)) - mine
    if not owners:
        return ok("other labs", "none has processes that this user may see")
    named = [f"that of pid {owner.partition(':')[0]}" for owner in sorted(owners)]
    return warn("other labs", some(named), "wait until it is done; benchyard run waits by itself")


def _owners(host: Host, pids: Iterable[int]) -> Iterator[str]:
    for pid in pids:
        for line in (host.text(f"proc/{pid}/environ") or "").split("\0"):
            name, _, value = line.partition("=")
            if name == OWNER:
                yield value.removesuffix(WINDS_UP)


def docker(scene: Scene) -> Finding:
    """Check that the Docker engine can be asked: cases with containers need it."""
    engine, check = scene.engine, "docker"
    only = "only cases with containers need one"
    if engine.contact is Contact.ANSWERS:
        return ok(check, f"{engine.server or 'the engine'} answers at {engine.place}")
    if engine.contact is Contact.REFUSED:
        found = f"this user may not use the engine at {engine.place}"
        return warn(check, found, "usermod -aG docker USER, then log in again")
    if engine.contact is Contact.SILENT:
        found = f"the engine at {engine.place} does not answer"
        return warn(check, found, "look after it: systemctl status docker")
    if engine.contact is Contact.ELSEWHERE:
        found = f"the engine is on another host ({engine.place}): what it does is measured nowhere"
        return warn(check, found, "unset DOCKER_HOST, and use an engine of this host")
    return unknown(check, f"no engine at {engine.place}; {only}", "systemctl start docker")


CHECKS: Checks = {
    "other containers": other_containers,
    "other labs": other_labs,
    "docker": docker,
}
