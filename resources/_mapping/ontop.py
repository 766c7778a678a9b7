"""What both of Ontop's classes share."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from resources._containers.base import ContainerSettingsT
from resources._containers.specification import Specification
from resources._mapping.configuration import properties
from resources._mapping.converting import with_classes
from resources._mapping.databases import Database
from resources._mapping.folder import WithFolder
from resources._memory import heap_arguments

IMAGE = "kgconstruct/ontop:v5.0.0"
PROGRAM = "/ontop/ontop"

_DRIVERS = {"MySQL": "com.mysql.cj.jdbc.Driver", "PostgreSQL": "org.postgresql.Driver"}


class OntopContainer(WithFolder[ContainerSettingsT]):
    """Ontop, whatever it is to do."""

    def _specification(self) -> Specification:
        spec = super()._specification()
        heap = " ".join(heap_arguments(self.settings.memory_bytes))
        own = {"ONTOP_JAVA_ARGS": heap, "ONTOP_LOG_LEVEL": "info"}
        return replace(spec, environment={**own, **spec.environment})

    def _files(self, mapping_file: str, database: Database, *more: str) -> Sequence[str]:
        """Write what it reads; return the arguments that name it.

        Args:
            more: Arguments to stand between both files.
        """
        text = with_classes(self.workspace.file(mapping_file), mapping_file)
        mapping = self._hand_over("mapping_converted.r2rml.ttl", text)
        connection = self._hand_over("config.properties", properties(_connection(database)))
        return "-m", mapping, *more, "-p", connection


def _connection(database: Database) -> Mapping[str, str]:
    return {
        "jdbc.url": database.jdbc_url(),
        "jdbc.driver": _DRIVERS[database.kind],
        "jdbc.user": database.username,
        "jdbc.password": database.password,
    }
