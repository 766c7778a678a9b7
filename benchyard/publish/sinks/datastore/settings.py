"""Which Datastore: project, database and namespace, by the environment."""

import os
import re
from dataclasses import dataclass
from typing import Self

from benchyard.core.errors import InputError

#: Google's own names, in the order in which its client and ``gcloud … env-init`` mean them.
PROJECT_VARIABLES = (
    "DATASTORE_DATASET",
    "DATASTORE_PROJECT_ID",
    "GOOGLE_CLOUD_PROJECT",
    "GCLOUD_PROJECT",
)
EMULATOR_VARIABLE = "DATASTORE_EMULATOR_HOST"
#: Ours: Google has none for these two.
DATABASE_VARIABLE = "BENCHYARD_DATASTORE_DATABASE"
NAMESPACE_VARIABLE = "BENCHYARD_DATASTORE_NAMESPACE"

#: Source: reference of google.datastore.v1.PartitionId, "Partition dimensions".
_NAMESPACE = re.compile(r"(?!__.*__$)[0-9A-Za-z._-]{0,100}")
#: Source: reference of Firestore's databases.create, "databaseId".
_DATABASE = re.compile(r"(\(default\)|[a-z][a-z0-9-]{2,61}[a-z0-9])?")
_ADDRESS = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+):[0-9]{1,5}")


@dataclass(frozen=True, slots=True)
class Settings:
    """Where entities go.

    Args:
        project: The project's id; None if only the credentials may tell.
        database: Its database; empty for the default one.
        namespace: Of all keys; empty for the default one.
        emulator: ``host:port`` of a local server, which wants no credentials.
    """

    project: str | None
    database: str = ""
    namespace: str = ""
    emulator: str | None = None

    @classmethod
    def from_environment(cls) -> Self:
        """Read the variables; an empty one does not count. Nothing is checked."""
        named = filter(None, map(os.environ.get, PROJECT_VARIABLES))
        database = os.environ.get(DATABASE_VARIABLE, "")
        emulator = os.environ.get(EMULATOR_VARIABLE, "").removeprefix("http://").rstrip("/")
        return cls(
            next(named, None),
            "" if database == "(default)" else database,
            os.environ.get(NAMESPACE_VARIABLE, ""),
            emulator or None,
        )

    @property
    def place(self) -> str:
        """What it is called in a sentence."""
        return f"Datastore at {self.emulator}" if self.emulator else "Google Cloud Datastore"

    def check(self) -> None:
        """Look at the values themselves.

        Raises:
            InputError: If one of them can not be right.
        """
        if self.emulator and not _ADDRESS.fullmatch(self.emulator):
            raise InputError(
                f"{EMULATOR_VARIABLE} is '{self.emulator}'; write it as host:port, "
                "such as 127.0.0.1:8081"
            )
        if not _DATABASE.fullmatch(self.database):
            raise InputError(
                f"{DATABASE_VARIABLE} is '{self.database}'; a database is named with 4 to 63 "
                "lower-case letters, digits and hyphens"
            )
        if not _NAMESPACE.fullmatch(self.namespace):
            raise InputError(
                f"{NAMESPACE_VARIABLE} is '{self.namespace}'; a namespace is named with at most "
                "100 letters, digits, dots, hyphens and underscores"
            )
