"""Engines without an engine of containers: what they would run, and what they hand over."""

import stat
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

import pytest
from pyoxigraph import RdfFormat, parse

import resources
from benchyard.case.resource import CommandResult, Workspace, step_context
from resources._containers import Specification, settings
from resources._containers.base import ContainerResource

#: What KROWN's cases give, with a password that would do harm in a shell, a URL or an ini file.
DATABASE: dict[str, Any] = {
    "rdb_username": "root",
    "rdb_password": "pa$$ w%rd:'\"\\@/#",
    "rdb_host": "PostgreSQL",
    "rdb_port": 5432,
    "rdb_name": "db",
    "rdb_type": "PostgreSQL",
}

R2RML = """\
@base <http://ex.com/> .
@prefix ex: <http://example.com/> .
@prefix rr: <http://www.w3.org/ns/r2rml#> .

<#TriplesMap1> a rr:TriplesMap ;
    rr:logicalTable [ a rr:LogicalTable ; rr:tableName "data" ] ;
    rr:subjectMap [ rr:template "http://ex.com/table/{id}" ] ;
    rr:predicateObjectMap [ a rr:PredicateObjectMap ;
        rr:predicateMap [ a rr:PredicateMap ; rr:constant ex:p1 ] ;
        rr:objectMap [ a rr:ObjectMap ; rr:column "p1" ] ] .
"""


@dataclass
class Calls:
    """What an engine's containers were made from, and what they pretend to write.

    Args:
        makes: Path in the container to the content of a file.
        seen: Path in the container to the content of a file that it saw, per call.
    """

    makes: dict[str, str] = field(default_factory=dict[str, str])
    specs: list[Specification] = field(default_factory=list[Specification])
    seen: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    modes: dict[str, int] = field(default_factory=dict[str, int])

    def run(self, spec: Specification) -> CommandResult:
        for path, content in self.makes.items():
            file, read_only = on_host(spec, path)
            assert not read_only, f"{path} cannot be written to"
            file.write_text(content)
        self.specs.append(spec)
        self.seen.append(self._look(spec))
        return CommandResult({"exit_code": 0, "run_s": 0.5, "out_of_memory": False})

    def _look(self, spec: Specification) -> dict[str, str]:
        folder, read_only = on_host(spec, "/data/.")
        if not folder.is_dir() or not read_only:
            return {}
        files = [file for file in sorted(folder.iterdir()) if file.is_file()]
        self.modes |= {f.name: stat.S_IMODE(f.stat().st_mode) for f in files}
        return {f"/data/{file.name}": file.read_text() for file in files}

    @property
    def command(self) -> Sequence[str]:
        (spec,) = self.specs
        return spec.command

    @property
    def environment(self) -> dict[str, str]:
        (spec,) = self.specs
        own = spec.environment.items()
        return {name: value for name, value in own if not name.startswith("BENCHYARD_")}


def on_host(spec: Specification, path: str) -> tuple[Path, bool]:
    """Return where on this host a path of a container lies, and whether it is read-only there."""
    mounts = sorted(spec.mounts, key=lambda mount: len(mount.target), reverse=True)
    for mount in mounts:
        if PurePosixPath(path).is_relative_to(mount.target):
            return mount.source / PurePosixPath(path).relative_to(mount.target), mount.read_only
    return Path("/nowhere", path.lstrip("/")), True


def statements(file: Path) -> set[str]:
    """Return the triples of a file of N-Triples or N-Quads."""
    return {str(quad.triple) for quad in parse(path=str(file), format=RdfFormat.N_QUADS)}


MakeEngine: TypeAlias = Callable[..., Any]


@pytest.fixture(autouse=True)
def memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give this host 16 GB, whatever it has."""

    def usable(limit: int | None) -> int:
        return limit or 16_000_000_000

    monkeypatch.setattr(settings, "usable_memory", usable)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """Record containers instead of running them."""
    recorded = Calls()

    def run(self: object, spec: Specification, exit_code: int = 0, name: str = "") -> CommandResult:
        del self, exit_code, name
        return recorded.run(spec)

    monkeypatch.setattr(ContainerResource, "_run", run)
    return recorded


@pytest.fixture
def inputs(workspace: Workspace) -> Workspace:
    """Put a mapping and its data into the run's shared folder, as links to inputs."""
    for name, content in {"mapping.ttl": R2RML, "data.csv": "id,p1\n1,one\n2,two\n"}.items():
        (workspace.inputs / name).write_text(content)
        (workspace.shared / name).symlink_to(workspace.inputs / name)
    return workspace


@pytest.fixture
def engine(inputs: Workspace) -> MakeEngine:
    """Make an engine that is not started: ``engine("MorphKGC", memory="2GB")``."""

    def make(name: str, **given: Any) -> Any:
        found: Any = resources.find().classes[name]
        return found(found.Settings(**given), inputs)

    return make


@pytest.fixture
def started(engine: MakeEngine) -> Generator[MakeEngine]:
    """Make and start engines; all of them are stopped afterwards."""
    made: list[Any] = []

    def start(name: str, **given: Any) -> Any:
        resource = engine(name, **given)
        resource.initialize()
        made.append(resource)
        resource.start()
        resource.wait_until_ready()
        return resource

    with step_context("01-map"):
        yield start
    for resource in reversed(made):
        resource.stop()


@pytest.fixture
def database() -> dict[str, Any]:
    """Give the parameters that name a database."""
    return dict(DATABASE)
