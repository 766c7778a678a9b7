"""Whom the server lets in: which projects and databases there are, and who may use them.

Statuses and sentences are those of the real service as far as its pages and its users' threads
quote them; none was seen by us. Source: https://cloud.google.com/datastore/docs/concepts/errors
"""

import re
from dataclasses import dataclass
from typing import Any

import grpc

from tests.emulators.datastore.refusals import RefusedError, invalid

#: Source: reference of Google's Resource Manager, projects.create, "projectId".
_PROJECT = re.compile(r"([a-z][a-z0-9.-]*:)?[a-z][a-z0-9-]{1,61}[a-z0-9]")


@dataclass(frozen=True, slots=True)
class Admission:
    """What is there, and who may use it.

    Args:
        project: The only one; None if every one is there.
        database: Its only one beside the default one; None if every one is there.
        refused: Status of every call, as if its credentials were bad; None if they are good.
    """

    project: str | None = None
    database: str | None = None
    refused: str | None = None

    def check(self, request: Any) -> None:
        """Refuse a request whose project, database or credentials are not let in.

        Raises:
            RefusedError: If it is refused.
        """
        if self == Admission():
            return
        if self.refused == "UNAUTHENTICATED":
            text = "Request had invalid authentication credentials."
            raise RefusedError(grpc.StatusCode.UNAUTHENTICATED, text)
        if not _PROJECT.fullmatch(request.project_id):
            invalid(f'Invalid project id "{request.project_id}".')
        if self.refused or self.project not in (None, request.project_id):
            text = "Missing or insufficient permissions."
            raise RefusedError(grpc.StatusCode.PERMISSION_DENIED, text)
        if request.database_id and self.database not in (None, request.database_id):
            name, project = request.database_id, request.project_id
            text = f"The database {name} does not exist for project {project}"
            raise RefusedError(grpc.StatusCode.NOT_FOUND, text)
