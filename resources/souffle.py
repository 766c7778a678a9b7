"""Soufflé, which evaluates Datalog that is made from a mapping: https://souffle-lang.github.io."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import ClassVar

from benchyard.case.resource import CommandResult, current_step
from benchyard.core.errors import CommandFailedError
from resources._containers.base import SHARED, ProgramContainer
from resources._containers.settings import ContainerSettings, heap_arguments
from resources._mapping import Database, Mapping, MappingEngine
from resources._mapping.folder import shared


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


class Souffle(MappingEngine, ProgramContainer[ContainerSettings]):
    """Soufflé: a container that makes rules of a mapping, and one that evaluates them.

    The rules and their facts, and the relations that come of them, lie in the run's shared folder.
    """

    _image: ClassVar[str] = "alloka/souffle:v1.0.0"

    def _run_engine(self, arguments: list[str], output_file: str | None) -> CommandResult:
        return self._call(["./bin/souffle", "-c", "-j", _JOBS, *arguments], output_file)

    def _execute_mapping(self, mapping: Mapping) -> CommandResult:
        rules = self._make_rules(mapping)
        for name in (_TRIPLES, _QUADS):
            self.workspace.new_file(name).unlink(missing_ok=True)
        # Its facts lie beside the rules.
        folder = str(PurePosixPath(rules).parent)
        evaluated = self._run_engine([rules, "-F", folder, "-D", f"{SHARED}/"], None)
        target = self.workspace.new_file(mapping.output)
        target.unlink(missing_ok=True)
        write_rdf(self._relations(), target, graphs=mapping.serialization == "nquads")
        return CommandResult(evaluated.values, target)

    def _make_rules(self, mapping: Mapping) -> str:
        """Let the image's translator make Datalog of a mapping; return where containers see it."""
        heap = heap_arguments(self.settings.memory_bytes)
        call = ["java", *heap, "-jar", "rulegen.jar", "-m", shared(mapping.file)]
        rules = str(PurePosixPath(mapping.file).with_name(_RULES))
        self.workspace.new_file(rules).unlink(missing_ok=True)
        # Two containers in one step: each keeps what it says.
        spec = replace(self._specification(), command=(*call, *_access(mapping.database)))
        self._run(spec, name=f"{current_step()}-rules")
        if not self.workspace.new_file(rules).exists():
            raise CommandFailedError(
                f"'{self._image_name}' ended well and made no rules of '{mapping.file}'"
            )
        return shared(rules)

    def _relations(self) -> Sequence[Path]:
        found = [self.workspace.shared / name for name in (_TRIPLES, _QUADS)]
        if not any(file.exists() for file in found):
            raise CommandFailedError(
                f"'{self._image_name}' ended well and wrote neither {_TRIPLES} nor {_QUADS}"
            )
        return [file for file in found if file.exists()]


def _access(database: Database | None) -> Sequence[str]:
    """Return the arguments that name a database; the translator takes the password nowhere else."""
    if database is None:
        return ()
    url = database.jdbc_url(options=True)
    return "-u", database.username, "-p", database.password, "-dsn", url
