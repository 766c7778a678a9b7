"""The calls of google.datastore.v1 that Benchyard and its tests make: Commit, Lookup, RunQuery."""

import hashlib
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import grpc

from tests.emulators.datastore import limits
from tests.emulators.datastore import protocol as p
from tests.emulators.datastore.faults import Fault, Faults, suffer
from tests.emulators.datastore.protocol import Message, RefusedError, invalid, only
from tests.emulators.datastore.queries import Index, Plan, check_index
from tests.emulators.datastore.store import Place, Row, Store

#: An answer is cut before it is larger: clients accept 4 MiB, and the last result may have one.
BATCH_BYTES = 2 * 1024 * 1024
#: A query's answer has no more results. Source: Google's emulator of 2025-06.
BATCH_RESULTS = 300
#: Source: reference of Google's Resource Manager, projects.create, "projectId".
_PROJECT = re.compile(r"([a-z][a-z0-9.-]*:)?[a-z][a-z0-9-]{1,61}[a-z0-9]")
#: Bytes of a cursor that tell of which query it is.
_DIGEST = 8

Call = Callable[[bytes, str], bytes]
_Done = Callable[[Any, Fault | None], Message]


@dataclass(frozen=True, slots=True)
class Admission:
    """Which projects and databases there are, and who may use them.

    Statuses and sentences are those of the real service as far as its pages and its users' threads
    quote them; none was seen by us. Source: https://cloud.google.com/datastore/docs/concepts/errors

    Args:
        project: The only one; None if every one is there.
        database: Its only one beside the default one; None if every one is there.
        refused: Status of every call, as if its credentials were bad; None if they are good.
    """

    project: str | None = None
    database: str | None = None
    refused: str | None = None

    def check(self, request: Message) -> None:
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


class Service:
    """A server's calls.

    Args:
        indexes: Which composite indexes there are; None if every query finds the one it needs.
        legacy: Whether the limits of a legacy Cloud Datastore hold too.
        batch_bytes: After how many bytes an answer is cut.
    """

    def __init__(
        self,
        indexes: Sequence[Index] | None,
        store: Store,
        *,
        legacy: bool = False,
        batch_bytes: int = BATCH_BYTES,
    ) -> None:
        self.faults = Faults()
        self.admission = Admission()
        self._indexes = indexes
        self._store = store
        self._legacy = legacy
        self._batch_bytes = batch_bytes
        self._lock = threading.Lock()
        #: The newest answer, which a client asks for in pages.
        self._found: tuple[int, bytes, list[Row]] = (-1, b"", [])

    def calls(self) -> dict[str, Call]:
        """Return all calls by name; each gets its request and the name of the client."""
        done: dict[str, tuple[Message, _Done]] = {
            "Commit": (p.CommitRequest, self._commit),
            "Lookup": (p.LookupRequest, self._look_up),
            "RunQuery": (p.RunQueryRequest, self._run_query),
        }
        return {name: self._called(name, kind, call) for name, (kind, call) in done.items()}

    def clear(self) -> None:
        """Forget entities, faults, counts, and whom to let in."""
        self.faults.clear()
        self.admission = Admission()
        with self._lock:
            self._store.clear()

    def _called(self, name: str, kind: Message, call: _Done) -> Call:
        def answered(raw: bytes, peer: str) -> bytes:
            self.faults.count(name)
            limits.check_request(raw)
            fault = self.faults.of_call(name, raw)
            suffer(fault, "before", peer)
            request = kind.FromString(raw)
            self.admission.check(request)
            with self._lock:
                answer = call(request, fault).SerializeToString()
            suffer(fault, "after", peer)
            return answer

        return answered

    def _commit(self, request: Message, fault: Fault | None) -> Message:
        """Do all of a commit or nothing.

        Args:
            fault: What happens in the middle of it. A failure leaves the first half done, as the
                real service may outside of a transaction (CommitRequest's mode NON_TRANSACTIONAL:
                "the mutations may not apply as all or none").
        """
        only(request, "project_id", "database_id", "mode", "mutations")
        if request.mode != p.CommitRequest.NON_TRANSACTIONAL:
            invalid("transactional commit requires a transaction")
        if self._legacy and len(request.mutations) > limits.MAX_LEGACY_MUTATIONS:
            invalid("cannot write more than 500 entities in a single call")
        response = p.CommitResponse()
        seen = {self._checked(mutation, request, response) for mutation in request.mutations}
        if len(seen) < len(request.mutations):
            invalid(
                "A non-transactional commit may not contain multiple mutations affecting the "
                "same entity."
            )
        halfway = fault.act if fault and fault.when == "half" else None
        if halfway == "fail":
            del request.mutations[len(request.mutations) // 2 :]
        self._store.commit(request, dies=halfway == "die")
        suffer(fault, "half", "")
        for result in response.mutation_results:
            result.version = self._store.version
        return response

    def _checked(self, mutation: Message, request: Message, response: Message) -> bytes:
        """Check a mutation, complete its key, and return the key's bytes."""
        only(mutation, "insert", "upsert", "delete")
        operation = mutation.WhichOneof("operation")
        if operation is None:
            invalid("Mutation is missing operation.")
        if operation == "insert":
            mutation.upsert.CopyFrom(p.Entity.FromString(mutation.insert.SerializeToString()))
        key = mutation.delete if operation == "delete" else mutation.upsert.key
        result = response.mutation_results.add()
        if limits.complete(key, request):
            if operation == "delete":
                invalid("Key path element must not be incomplete.")
            key.path[-1].id = self._store.new_id()
            result.key.CopyFrom(key)
        elif operation == "insert" and self._store.found(key):
            raise RefusedError(grpc.StatusCode.ALREADY_EXISTS, "entity already exists")
        if operation != "delete":
            limits.check_entity(mutation.upsert)
        return key.SerializeToString()

    def _look_up(self, request: Message, _: Fault | None) -> Message:
        only(request, "project_id", "database_id", "keys", "read_options")
        if len(request.keys) > limits.MAX_LOOKUP:
            invalid(f"cannot get more than {limits.MAX_LOOKUP} keys in a single call")
        response = p.LookupResponse()
        for key in request.keys:
            if limits.complete(key, request):
                invalid("Key path element must not be incomplete.")
            row = self._store.found(key)
            if response.ByteSize() > self._batch_bytes:
                response.deferred.add().CopyFrom(key)
            elif row is None:
                response.missing.add().entity.key.CopyFrom(key)
            else:
                response.found.add(entity=row.entity, version=row.version)
        return response

    def _run_query(self, request: Message, _: Fault | None) -> Message:
        only(request, "project_id", "database_id", "partition_id", "query", "read_options")
        query = request.query
        plan = Plan.of(query)
        if self._indexes is not None:
            check_index(plan, self._indexes)
        digest, rows = self._results(request, plan)
        response = p.RunQueryResponse()
        batch = response.batch
        types = p.EntityResult
        batch.entity_result_type = types.PROJECTION if plan.projection else types.FULL
        batch.end_cursor = query.start_cursor or digest
        limit = query.limit.value if query.HasField("limit") else None
        size = 0
        for row in rows[self._start(query.start_cursor, digest, rows) :]:
            full = len(batch.entity_results) >= BATCH_RESULTS or size >= self._batch_bytes
            if full or len(batch.entity_results) == limit:
                more = p.QueryResultBatch
                ended = len(batch.entity_results) == limit
                batch.more_results = more.MORE_RESULTS_AFTER_LIMIT if ended else more.NOT_FINISHED
                return response
            result = batch.entity_results.add()
            plan.write(result, row)
            size += result.ByteSize()
            batch.end_cursor = digest + row.entity.key.SerializeToString()
        batch.more_results = p.QueryResultBatch.NO_MORE_RESULTS
        return response

    def _results(self, request: Message, plan: Plan) -> tuple[bytes, list[Row]]:
        """Return all that a query finds, and what tells its cursors from those of others."""
        where = request.partition_id
        place = Place(
            where.project_id or request.project_id,
            where.database_id or request.database_id,
            where.namespace_id,
            plan.kind,
        )
        asked = hashlib.sha256(repr((place, plan)).encode()).digest()[:_DIGEST]
        if self._found[:2] != (self._store.version, asked):
            rows = plan.results(list(self._store.kind(place).values()))
            self._found = (self._store.version, asked, rows)
        return asked, self._found[2]

    def _start(self, cursor: bytes, digest: bytes, rows: list[Row]) -> int:
        if cursor and cursor[:_DIGEST] != digest:
            invalid("cursor does not match query")
        keys = (row.entity.key.SerializeToString() for row in rows)
        found = (number for number, key in enumerate(keys, 1) if key == cursor[_DIGEST:])
        return next(found, len(rows)) if cursor[_DIGEST:] else 0
