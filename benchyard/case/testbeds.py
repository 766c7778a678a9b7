"""The testbed that a host is, and whether it meets a case's requirements."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from benchyard.core.errors import InputError
from benchyard.core.json_text import read_as
from benchyard.core.model import Case, Json, JsonObject, Requires
from benchyard.host.facts.hardware import meminfo
from benchyard.host.facts.reading import Host
from benchyard.host.facts.system import cpu_limit, docker, memory_limit

#: Name of this testbed in its lab; the worker sets it.
NAME = "BENCHYARD_TESTBED"
#: Tags of this testbed, separated by commas; the worker sets them.
TAGS = "BENCHYARD_TAGS"
#: Firmware and kernel keep some memory: who asks for 16 GiB means a machine that is sold with them.
_KEPT = 1 / 16
_GIB = 1024**3


@dataclass(frozen=True, slots=True)
class Testbed:
    """What a host tells of itself; an unknown value is None, and meets no requirement.

    Args:
        host: Name of the host, without its domain.
        name: Of the testbed in its lab, "" outside of one.
        cores: That the lab may use.
        memory_bytes: That the lab may have.
        docker: Whether a Docker engine answers.
    """

    __test__ = False  # keeps pytest from collecting a class that is named Test…

    host: str
    name: str = ""
    tags: tuple[str, ...] = ()
    cores: int | None = None
    memory_bytes: int | None = None
    docker: bool | None = None

    def to_json(self) -> JsonObject:
        """Return it as the lab keeps it."""
        return {**asdict(self), "tags": [*self.tags]}

    @classmethod
    def from_json(cls, document: Mapping[str, Json]) -> "Testbed":
        """Read a testbed's description; return one without facts if it is not readable."""
        try:
            return read_as(cls, document)
        except ValueError:
            return cls("")


def this_testbed() -> Testbed:
    """Return what this host is; its tags are those that the worker was started with."""
    host = Host()
    return Testbed(
        host=os.uname().nodename.partition(".")[0] or "testbed",
        name=os.environ.get(NAME, ""),
        tags=tuple(tag.strip() for tag in os.environ.get(TAGS, "").split(",") if tag.strip()),
        cores=_cores(host),
        memory_bytes=_memory(host),
        docker=docker(host) is not None,
    )


def _cores(host: Host) -> int:
    """Return the cores that this process may run on, or the whole ones of its group's limit."""
    allowed = len(os.sched_getaffinity(0))
    limit = cpu_limit(host)
    return allowed if limit is None else max(1, min(allowed, int(limit)))


def _memory(host: Host) -> int | None:
    known = (meminfo(host).get("MemTotal"), memory_limit(host))
    return min((one for one in known if one is not None), default=None)


def unmet(requires: Requires, testbed: Testbed) -> list[str]:
    """Return the requirements that a testbed does not meet, each as a sentence."""
    lacking = [tag for tag in requires.tags if tag not in testbed.tags]
    found = [f"it lacks the tag{'s' * (len(lacking) != 1)} {', '.join(lacking)}"] if lacking else []
    if requires.hosts and not {testbed.host, testbed.name} & set(requires.hosts):
        found.append(f"it is not {' or '.join(requires.hosts)}")
    cores, memory = testbed.cores, testbed.memory_bytes
    if requires.cores is not None and (cores is None or cores < requires.cores):
        found.append(f"it has {_told(cores)} of {requires.cores} cores")
    wanted = requires.memory_bytes
    if wanted is not None and (memory is None or memory < wanted * (1 - _KEPT)):
        has = None if memory is None else f"{memory / _GIB:,.2f}"
        found.append(f"it has {_told(has)} of {wanted / _GIB:,.2f} GiB of memory")
    if requires.docker and not testbed.docker:
        found.append("no Docker engine answers there")
    return found


def _told(value: object) -> str:
    return "an unknown number" if value is None else str(value)


def refuse_unfit(cases: Sequence[Case]) -> None:
    """Refuse cases that this host is not fit for.

    Raises:
        InputError: If there are any; it names the first and the number of others.
    """
    demanding = [case for case in cases if case.requires != Requires()]
    if not demanding:
        return
    here = this_testbed()
    wrong = [(case, reasons) for case in demanding if (reasons := unmet(case.requires, here))]
    if not wrong:
        return
    case, reasons = wrong[0]
    others = f" (and so for {len(wrong) - 1} more)" if len(wrong) > 1 else ""
    raise InputError(
        f"this host ({here.name or here.host}) is not what '{case.title}' requires: "
        f"{'; '.join(reasons)}{others}; execute it on a testbed that is, or ignore it with "
        "--ignore-requirements"
    )
