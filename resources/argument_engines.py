"""Engines that are told a mapping by arguments: RMLMapper and Soufflé.

Source: https://github.com/RMLio/rmlmapper-java, https://souffle-lang.github.io.
"""

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import ClassVar

from benchyard.case.resource import CommandResult, Workspace, current_step
from benchyard.core.amounts import parse_size
from benchyard.core.errors import CommandFailedError, InputError, ResourceError
from benchyard.core.files import sha256
from benchyard.core.redaction import known_forms
from resources._containers import Mount
from resources._containers.base import SHARED
from resources._containers.network import addresses
from resources._containers.settings import heap_arguments
from resources._files import written
from resources._mapping import Database, Mapping, MappingEngine
from resources._mapping.folder import (
    ContainerEngine,
    load_conversions,
    properties,
    shared,
    write_private,
)
from resources.process import ProgramResource, usage

#: Name of the file that a secret password is handed over in.
CONFIGURATION = "rmlmapper.properties"


def keeps_password(database: Database | None, file: Path) -> bool:
    """Write a secret password to a configuration file; tell whether it is a secret.

    A password that stands in the case is an argument, as in KROWN. So is one with a space, which
    RMLMapper's configuration cannot hold. Source: getOptionValues in rmlmapper-java's Main.java.
    """
    if database is None or " " in database.password or database.password not in known_forms():
        return False
    write_private(file, properties({"r2rml-password": database.password}))
    return True


def mapping_arguments(
    mapping: str, output: str, serialization: str, database: Database | None, configured: str = ""
) -> list[str]:
    """Return RMLMapper's arguments for a mapping, as KROWN gives them: duplicates are removed.

    Args:
        mapping: Path of the mapping file.
        output: Path of the file to write.
        configured: Path of the configuration with the password; else that is an argument, which
            who may list this host's processes can read meanwhile.
    """
    arguments = ["-m", mapping, "-s", serialization, "-o", output, "-d"]
    return [*arguments, *_access(database, configured)]


def _access(database: Database | None, configured: str = "") -> Sequence[str]:
    """Return the arguments that name a database."""
    if database is None:
        return ()
    password = ("-c", configured) if configured else ("-p", database.password)
    return "-u", database.username, *password, "-dsn", database.jdbc_url(options=True)


class RMLMapper(ContainerEngine, MappingEngine):
    """RMLMapper: one container for each command."""

    _image: ClassVar[str] = "kgconstruct/rmlmapper:v6.0.0"
    _program: ClassVar[Sequence[str]] = ("java", "-jar", "/rmlmapper/rmlmapper.jar")

    def _execute_mapping(self, mapping: Mapping) -> CommandResult:
        file, seen = self.workspace.own / CONFIGURATION, f"/{CONFIGURATION}"
        secret = keeps_password(mapping.database, file)
        arguments = mapping_arguments(
            *(shared(mapping.file), shared(mapping.output), mapping.serialization),
            mapping.database,
            seen if secret else "",
        )
        mounts = [Mount(file, seen, read_only=True)] if secret else []
        return self._call(self._engine_call(arguments), mapping.output, mounts)


@dataclass(frozen=True, slots=True)
class RMLMapperJarSettings:
    """What a case may set.

    Args:
        jar: Path of RMLMapper's jar; one that is relative begins where the lab was started.
        java: Name or path of Java.
        memory: Twice the heap, with its unit, such as ``2GB``; all that this host has if empty.
    """

    jar: str = "rmlmapper.jar"
    java: str = "java"
    memory: str = ""

    def __post_init__(self) -> None:
        if self.memory and not parse_size(self.memory):
            raise InputError("memory is 0; Java needs some")


class RMLMapperJar(MappingEngine, ProgramResource[RMLMapperJarSettings]):
    """RMLMapper as a program of this host: one process for each command.

    It reads and writes the run's own files, also where a mapping says ``/data/shared``. A database
    is found by its class name here, too.
    """

    Settings: ClassVar[type[RMLMapperJarSettings]] = RMLMapperJarSettings

    def __init__(self, settings: RMLMapperJarSettings, workspace: Workspace) -> None:
        super().__init__(settings, workspace)
        self._known: dict[str, str] = {}

    @property
    def _jar(self) -> Path:
        """The jar.

        Raises:
            ResourceError: If it is not there.
        """
        jar = Path(self.settings.jar).expanduser().absolute()
        if not jar.is_file():
            raise ResourceError(
                f"RMLMapperJar: there is no file {jar}; name RMLMapper's jar under 'jar' in the "
                "case's resources"
            )
        return jar

    def version(self) -> str:
        """Return what the jar says of itself, and its digest."""
        jar = self._jar
        return f"{_manifest(jar).get('Implementation-Version', jar.name)} (sha256:{sha256(jar)})"

    def initialize(self) -> None:
        """See that the jar is there."""
        _ = self._jar

    def begin(self, step: str) -> None:
        """Find out where the run's containers are, before anything is measured."""
        super().begin(step)
        load_conversions()
        self._known = addresses(self.workspace.labels)

    def _run_engine(self, arguments: list[str], output_file: str | None) -> CommandResult:
        memory = parse_size(self.settings.memory) if self.settings.memory else None
        java = [self.settings.java, *heap_arguments(memory), "-jar", str(self._jar)]
        with written(self.workspace, output_file, "RMLMapper", anew=True) as output:
            call = self._kept_call([*java, *arguments], self.workspace.shared)
            ended = self._run(call)
        kept = call.stdout if call.stdout.exists() else None
        return CommandResult(usage(ended), output or kept)

    def _execute_mapping(self, mapping: Mapping) -> CommandResult:
        file = self.workspace.own / CONFIGURATION
        secret = keeps_password(mapping.database, file)
        database = mapping.database
        if database is not None:
            # By an address that this host can reach.
            host = self._known.get(database.host.lower(), database.host)
            database = replace(database, host=host)
        arguments = mapping_arguments(
            str(self._mapping(mapping.file)),
            str(self.workspace.new_file(mapping.output)),
            mapping.serialization,
            database,
            str(file) if secret else "",
        )
        return self._run_engine(arguments, mapping.output)

    def _mapping(self, name: str) -> Path:
        """Return the mapping, or a copy whose sources lie where they do on this host."""
        file = self.workspace.file(name)
        if f"{SHARED}/".encode() not in file.read_bytes():
            return file
        from resources._mapping.mappings import with_moved_sources  # noqa: PLC0415 - see load_conversions

        text = with_moved_sources(file, name, f"{SHARED}/", f"{self.workspace.shared}/")
        copy = self.workspace.own / "mapping_moved.ttl"
        write_private(copy, text)
        return copy


def _manifest(jar: Path) -> dict[str, str]:
    """Return the attributes of a jar; none if it has no manifest."""
    try:
        with zipfile.ZipFile(jar) as archive:
            text = archive.read("META-INF/MANIFEST.MF").decode(errors="replace")
    except (OSError, KeyError, zipfile.BadZipFile):
        return {}
    pairs = (line.partition(": ") for line in text.splitlines())
    return {name: value for name, _, value in pairs}


def write_rdf(relations: Sequence[Path], target: Path, *, graphs: bool) -> None:
    """Write relations of three or four columns as N-Triples or N-Quads, in their order.

    Each column holds a term as N-Triples writes it.

    Args:
        graphs: Whether the fourth column, the graph, is kept.
    """
    with target.open("wb") as whole:
        for relation in relations:
            with relation.open("rb") as lines:
                for line in lines:
                    terms = line.rstrip(b"\r\n").split(b"\t")
                    whole.write(b" ".join(terms if graphs else terms[:3]) + b" .\n")


#: Threads that it may use, as KROWN calls it.
_JOBS = "12"
_RULES = "Datalog_rules.rs"
#: Relations of the rules: statements, and statements in named graphs.
_TRIPLES, _QUADS = "triple.csv", "quadruple.csv"


class Souffle(ContainerEngine, MappingEngine):
    """Soufflé: a container that makes rules of a mapping, and one that evaluates them.

    The rules and their facts, and the relations that come of them, lie in the run's shared folder.
    """

    _image: ClassVar[str] = "alloka/souffle:v1.0.0"
    _program: ClassVar[Sequence[str]] = ("./bin/souffle", "-c", "-j", _JOBS)

    def _execute_mapping(self, mapping: Mapping) -> CommandResult:
        rules = self._make_rules(mapping)
        for name in (_TRIPLES, _QUADS):
            self.workspace.new_file(name).unlink(missing_ok=True)
        # Its facts lie beside the rules.
        folder = str(PurePosixPath(rules).parent)
        evaluated = self._run_engine([rules, "-F", folder, "-D", f"{SHARED}/"], None)
        target = self.workspace.new_file(mapping.output)
        target.unlink(missing_ok=True)
        relations = [self.workspace.shared / name for name in (_TRIPLES, _QUADS)]
        made = [file for file in relations if file.exists()]
        if not made:
            raise CommandFailedError(
                f"'{self._image_name}' ended well and wrote neither {_TRIPLES} nor {_QUADS}"
            )
        write_rdf(made, target, graphs=mapping.serialization == "nquads")
        return CommandResult(evaluated.values, target)

    def _make_rules(self, mapping: Mapping) -> str:
        """Let the image's translator make Datalog of a mapping; return where containers see it."""
        heap = heap_arguments(self.settings.memory_bytes)
        call = ["java", *heap, "-jar", "rulegen.jar", "-m", shared(mapping.file)]
        rules = str(PurePosixPath(mapping.file).with_name(_RULES))
        self.workspace.new_file(rules).unlink(missing_ok=True)
        # The translator takes the password nowhere else; and two containers in one step each keep
        # what they say.
        spec = replace(self._specification(), command=(*call, *_access(mapping.database)))
        self._run(spec, name=f"{current_step()}-rules")
        if not self.workspace.new_file(rules).exists():
            raise CommandFailedError(
                f"'{self._image_name}' ended well and made no rules of '{mapping.file}'"
            )
        return shared(rules)
