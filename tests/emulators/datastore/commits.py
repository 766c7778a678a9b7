"""Commits: mutations turned into changes, all of them or none."""

import re
from dataclasses import dataclass, field

import grpc

from tests.emulators.datastore import keys, limits
from tests.emulators.datastore.keys import Partition
from tests.emulators.datastore.messages import (
    CommitRequest,
    CommitResponse,
    Entity,
    Message,
    MutationResult,
    at,
    micros_of,
)
from tests.emulators.datastore.refusals import RefusedError, invalid
from tests.emulators.datastore.store import Change, Store

_SAME_ENTITY = (
    "A non-transactional commit may not contain multiple mutations affecting the same entity."
)
_FAIL = (
    CommitRequest.DESCRIPTOR.fields_by_name["mutations"]
    .message_type.enum_types_by_name["ConflictResolutionStrategy"]
    .values_by_name["FAIL"]
    .number
)
#: A timestamp with nanoseconds: field 10 of a Value, its length, field 1, its seconds, field 2.
_NANOS = re.compile(rb"\x52[\x04-\x16]\x08.{1,10}?\x10", re.DOTALL)


@dataclass(slots=True)
class Planned:
    """A commit that has been checked, and of which nothing has been done yet.

    Args:
        changes: What is to be done, in the order of the request.
        results: What is answered to each mutation; its version is still missing. None for one
            that has nothing else.
    """

    changes: list[Change] = field(default_factory=list[Change])
    results: list[Message | None] = field(default_factory=list["Message | None"])

    def answered(self, version: int) -> bytes:
        """Return the answer of the commit, which was done as this version.

        Messages that stand one after the other are one message, so results are made once.
        """
        ended = CommitResponse(commit_time=at(version))
        plain = _written(MutationResult(), ended)
        results = (plain if each is None else _written(each, ended) for each in self.results)
        return b"".join(results) + ended.SerializeToString()


def _written(result: Message, ended: Message) -> bytes:
    """Return the answer that has one result, dated unless it is in conflict."""
    if not result.version:
        result.version = micros_of(ended.commit_time)
        result.update_time.CopyFrom(ended.commit_time)
        result.create_time.CopyFrom(ended.commit_time)
    return CommitResponse(mutation_results=[result]).SerializeToString()


class Planner:
    """Checks one commit against the store.

    Args:
        request: The commit; what is left open in its keys is written into them.
    """

    def __init__(self, request: Message, store: Store) -> None:
        self._request = request
        self._where = (request.project_id, request.database_id)
        self._in_transaction = bool(request.transaction)
        self._store = store
        self._plan = Planned()
        self._results = self._plan.results
        self._seen: dict[bytes, bool] = {}
        self._shelves: dict[tuple[str, str], tuple[Partition, str]] = {}

    def planned(self) -> Planned:
        """Say what the commit will do.

        Raises:
            RefusedError: If one of its mutations cannot be done.
        """
        for mutation in self._request.mutations:
            set_fields = [field.name for field, _ in mutation.ListFields()]
            if set_fields == ["upsert"]:
                self._plan_write(mutation.upsert)
            else:
                self._plan_rare(mutation)
        return self._plan

    def _plan_rare(self, mutation: Message) -> None:
        operation = mutation.WhichOneof("operation")
        if operation is None:
            invalid("Mutation is missing operation.")
        if mutation.property_transforms:
            raise RefusedError(grpc.StatusCode.UNIMPLEMENTED, "This server transforms nothing.")
        if operation == "delete":
            self._plan_delete(mutation)
        else:
            self._plan_write(getattr(mutation, operation), mutation, operation)

    def _plan_delete(self, mutation: Message) -> None:
        key = mutation.delete
        keys.complete(key, *self._where)
        keys.check(key)
        identity = key.SerializeToString()
        self._see(identity, exists=False)
        if not self._in_conflict(mutation, identity):
            self._results.append(None)
            self._plan.changes.append(Change(identity, self._shelf(key), None))

    def _plan_write(
        self, entity: Message, rare: Message | None = None, operation: str = "upsert"
    ) -> None:
        """Plan to write an entity.

        Args:
            rare: The mutation, if more is set in it than the entity to upsert.
        """
        key = entity.key
        keys.complete(key, *self._where)
        result = None
        if keys.check(key, incomplete=operation != "update"):
            key.path[-1].id = self._store.new_id()
            result = MutationResult(key=key)
        identity = key.SerializeToString()
        if operation != "upsert":
            self._require(operation, key, identity)
        self._see(identity, exists=True)
        if rare and self._in_conflict(rare, identity):
            return
        self._results.append(result)
        if rare and rare.HasField("property_mask"):
            row = self._store.rows.get(identity)
            entity = _masked(entity, row.entity() if row else None, rare.property_mask.paths)
        self._plan.changes.append(Change(identity, self._shelf(key), _raw(entity)))

    def _shelf(self, key: Message) -> tuple[Partition, str]:
        short = (key.partition_id.namespace_id, key.path[-1].kind)
        shelf = self._shelves.get(short)
        if shelf is None:
            shelf = self._shelves[short] = (Partition(*self._where, short[0]), short[1])
        return shelf

    def _see(self, identity: bytes, *, exists: bool) -> None:
        if identity in self._seen and not self._in_transaction:
            invalid(_SAME_ENTITY)
        self._seen[identity] = exists

    def _require(self, operation: str, key: Message, identity: bytes) -> None:
        row = self._store.rows.get(identity)
        exists = self._seen.get(identity, row is not None)
        if operation == "insert" and exists:
            text = f"entity already exists: {keys.described(key)}"
            raise RefusedError(grpc.StatusCode.ALREADY_EXISTS, text)
        if operation == "update" and not exists:
            text = f"no entity to update: {keys.described(key)}"
            raise RefusedError(grpc.StatusCode.NOT_FOUND, text)

    def _in_conflict(self, mutation: Message, identity: bytes) -> bool:
        """Tell whether a mutation is left out because its entity was changed since."""
        strategy = mutation.WhichOneof("conflict_detection_strategy")
        if strategy is None:
            return False
        row = self._store.rows.get(identity)
        current = row.version if row else 0
        if strategy == "base_version":
            seen = mutation.base_version
        else:
            seen = micros_of(mutation.update_time)
        if seen == current:
            return False
        if mutation.conflict_resolution_strategy == _FAIL:
            raise RefusedError(grpc.StatusCode.ABORTED, "The entity was changed since it was read.")
        self._results.append(MutationResult(conflict_detected=True, version=current))
        return True


def _raw(entity: Message) -> bytes:
    """Return an entity's bytes after a look at it."""
    raw = entity.SerializeToString()
    if _NANOS.search(raw) and _is_rounded(entity):
        raw = entity.SerializeToString()
    limits.check_entity(entity, raw)
    return raw


def _is_rounded(entity: Message) -> bool:
    """Round timestamps down to the microseconds that are stored; tell whether that was needed."""
    rounded = False
    for value in entity.properties.values():
        rest = value.timestamp_value.nanos % 1000 if value.HasField("timestamp_value") else 0
        if rest:
            value.timestamp_value.nanos -= rest
            rounded = True
    return rounded


def _masked(given: Message, stored: Message | None, names: list[str]) -> Message:
    """Return what is stored, with these properties as they are given, gone if they are not."""
    made = stored or Entity(key=given.key)
    for name in names:
        if name in given.properties:
            made.properties[name].CopyFrom(given.properties[name])
        elif name in made.properties:
            del made.properties[name]
    return made
