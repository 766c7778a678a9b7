"""The settings of Datastore, from the environment, and Google's application default credentials."""

import os
import re
import time
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import google.auth
import google.auth.transport.requests
from google.auth.exceptions import DefaultCredentialsError, GoogleAuthError
from google.cloud.datastore_v1 import types

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
_DATABASE_RULE = "a database is named with 4 to 63 lower-case letters, digits and hyphens"
_NAMESPACE_RULE = (
    "a namespace is named with at most 100 letters, digits, dots, hyphens and underscores"
)
_ADDRESS = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+):[0-9]{1,5}")
#: The narrowest scope that reads and writes entities.
SCOPE = "https://www.googleapis.com/auth/datastore"
KEY_VARIABLE = "GOOGLE_APPLICATION_CREDENTIALS"
Credentials: TypeAlias = Any
#: Google's messages, whose library has no types that a checker could follow.
TYPES: Any = types
#: A message of protobuf itself, not Google's wrapper around it, which costs ten times as much.
Message: TypeAlias = Any
#: The library has no types that a checker could follow.
_AUTH: Any = google.auth
#: What the library raises for files that are JSON and of another shape.
_MALFORMED = (ValueError, TypeError, KeyError, AttributeError)


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
        """Its name in sentences."""
        return f"Datastore at {self.emulator}" if self.emulator else "Google Cloud Datastore"

    def check(self) -> None:
        """Check the form of the values.

        Raises:
            InputError: If one of them is malformed.
        """
        for name, value, form, rule in (
            (EMULATOR_VARIABLE, self.emulator, _ADDRESS, "write it as host:port"),
            (DATABASE_VARIABLE, self.database, _DATABASE, _DATABASE_RULE),
            (NAMESPACE_VARIABLE, self.namespace, _NAMESPACE, _NAMESPACE_RULE),
        ):
            if value and not form.fullmatch(value):
                raise InputError(f"{name} is '{value}'; {rule}")


def _bounded(seconds: float) -> Any:
    """Return how Google's library sends a request, with one deadline for all of them.

    Without other credentials, it asks the metadata server of Compute Engine three times, with three
    seconds each and pauses between. Elsewhere there is no such server.
    """
    send: Any = google.auth.transport.requests.Request()
    deadline = time.monotonic() + seconds

    def request(url: str, *given: Any, timeout: float | None = None, **named: Any) -> Any:
        left = deadline - time.monotonic()
        if left <= 0:  # the library tries nothing more after this error
            raise DefaultCredentialsError("nobody answered in time")
        return send(url, *given, timeout=min(left, timeout or left), **named)

    return request


def find_credentials(seconds: float = 5.0) -> tuple[Credentials, str | None]:
    """Find the application default credentials, and their project if they name one.

    A key file, or the login of gcloud, is read without the network.

    Args:
        seconds: How long the metadata server of Compute Engine may take to answer.

    Raises:
        InputError: If there are none, or the key file is not usable.
    """
    try:
        return _AUTH.default(scopes=[SCOPE], request=_bounded(seconds))
    except (GoogleAuthError, OSError, *_MALFORMED) as error:
        raise InputError(_sentence()) from error


def _sentence() -> str:
    path = os.environ.get(KEY_VARIABLE)
    if path and not os.path.isfile(path):  # noqa: PTH113
        return f"{KEY_VARIABLE} names {path}, and there is no such file"
    if path:
        return (
            f"{KEY_VARIABLE} names {path}, and that is no usable credentials file of Google; "
            "make a new key, or unset the variable"
        )
    return (
        "there are no credentials for Google Cloud Datastore; set "
        f"{KEY_VARIABLE} to a key file, run 'gcloud auth application-default login', or set "
        "DATASTORE_EMULATOR_HOST to use a local server"
    )
