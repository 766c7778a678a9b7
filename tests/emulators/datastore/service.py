"""The calls of google.datastore.v1.Datastore, each from bytes to bytes."""

from collections.abc import Callable
from typing import Any

from tests.emulators.datastore import keys, limits
from tests.emulators.datastore import messages as m
from tests.emulators.datastore.admission import Admission
from tests.emulators.datastore.answering import Search
from tests.emulators.datastore.faults import Faults, suffer
from tests.emulators.datastore.gql import parsed
from tests.emulators.datastore.indexes import Indexes
from tests.emulators.datastore.journal import Journal
from tests.emulators.datastore.messages import Message
from tests.emulators.datastore.planning import planned
from tests.emulators.datastore.reading import Batch, add_row, aggregated, where
from tests.emulators.datastore.refusals import invalid
from tests.emulators.datastore.store import Store
from tests.emulators.datastore.transactions import Transaction, Transactions
from tests.emulators.datastore.writing import Writer

#: An answer is cut before it is larger: clients accept 4 MiB, and the last result may have one.
BATCH_BYTES = 2 * 1024 * 1024
#: A query's answer has no more results. Source: Google's emulator of 2025-06.
BATCH_RESULTS = 300

Call = Callable[[bytes, str], bytes]


class Service:
    """A server's calls.

    Args:
        indexes: Which composite indexes there are.
        journal: What keeps the commits, if something does.
        legacy: Whether the limits of a legacy Cloud Datastore hold too.
    """

    def __init__(
        self,
        indexes: Indexes,
        journal: Journal | None = None,
        *,
        legacy: bool = False,
        batch_bytes: int = BATCH_BYTES,
        batch_results: int = BATCH_RESULTS,
    ) -> None:
        self.faults = Faults()
        self.admission = Admission()
        self._indexes = indexes
        self._journal = journal
        self._batch = (batch_bytes, batch_results)
        self._store = Store()
        self._transactions = Transactions()
        self._writer = Writer(self._store, self._transactions, journal, legacy)
        self._lock = self._writer.lock
        if journal:
            journal.replay(self._store)

    def calls(self) -> dict[str, Call]:
        """Return all calls by name; each gets its request and the name of the client."""
        done: dict[str, tuple[Message, Callable[[Any], Message]]] = {
            "Lookup": (m.LookupRequest, self._look_up),
            "RunQuery": (m.RunQueryRequest, self._run_query),
            "RunAggregationQuery": (m.RunAggregationQueryRequest, self._run_aggregation),
            "BeginTransaction": (m.BeginTransactionRequest, self._writer.begin),
            "Rollback": (m.RollbackRequest, self._writer.roll_back),
            "AllocateIds": (m.AllocateIdsRequest, self._writer.allocate),
            "ReserveIds": (m.ReserveIdsRequest, self._writer.reserve),
        }
        calls = {name: self._called(name, kind, call) for name, (kind, call) in done.items()}
        return calls | {"Commit": self._commit}

    def clear(self) -> None:
        """Forget everything: entities, faults, counts."""
        self.faults.clear()
        self.admission = Admission()
        with self._lock:
            self._store.clear()
            if self._journal:
                self._journal.clear()

    def _called(self, name: str, kind: Message, call: Callable[[Any], Message]) -> Call:
        def answered(raw: bytes, peer: str) -> bytes:
            self.faults.count(name)
            limits.check_request(raw)
            fault = self.faults.of_call(name, raw)
            suffer(fault, "before", peer)
            request = kind.FromString(raw)
            self.admission.check(request)
            answer = call(request).SerializeToString()
            suffer(fault, "after", peer)
            return answer

        return answered

    def _commit(self, raw: bytes, peer: str) -> bytes:
        self.faults.count("Commit")
        limits.check_request(raw)
        fault = self.faults.of_call("Commit", raw)
        suffer(fault, "before", peer)
        request = m.CommitRequest.FromString(raw)
        self.admission.check(request)
        answer = self._writer.commit(request, fault)
        self.faults.count("mutations", len(request.mutations))
        suffer(fault, "after", peer)
        return answer

    # -- reading

    def _look_up(self, request: Message) -> Message:
        limits.check_lookup(len(request.keys))
        response = m.LookupResponse()
        room, _ = self._batch
        with self._lock:
            transaction = self._reading(request, response)
            m.set_micros(response.read_time, self._store.version)
            for key in request.keys:
                keys.complete(key, request.project_id, request.database_id)
                keys.check(key, reserved=True)
                if room < 0:
                    response.deferred.add().CopyFrom(key)
                else:
                    room -= self._found(key, response, transaction)
        return response

    def _found(self, key: Message, response: Message, transaction: Transaction | None) -> int:
        """Answer for one key and return the bytes of what was found."""
        identity = key.SerializeToString()
        row = self._store.rows.get(identity)
        if transaction:
            transaction.saw(identity, row)
        if row is None:
            missing = response.missing.add(version=max(1, self._store.version))
            missing.entity.key.CopyFrom(key)
            return 0
        add_row(response.found.add(), row)
        return len(row.raw)

    def _run_query(self, request: Message) -> Message:
        response = m.RunQueryResponse()
        if request.WhichOneof("query_type") == "gql_query":
            response.query.CopyFrom(parsed(request.gql_query))
            request.query.CopyFrom(response.query)
        with self._lock:
            transaction = self._reading(request, response)
            batch, search = self._search(request, request.query, transaction)
            response.batch.CopyFrom(batch.filled(search))
            m.set_micros(response.batch.read_time, self._store.version)
            response.batch.snapshot_version = self._store.version
            if transaction:
                transaction.saw_all(batch.rows)
        return response

    def _run_aggregation(self, request: Message) -> Message:
        response = m.RunAggregationQueryResponse()
        if request.WhichOneof("query_type") != "aggregation_query":
            invalid("an aggregation query is needed")
        asked = request.aggregation_query
        with self._lock:
            transaction = self._reading(request, response)
            _, search = self._search(request, asked.nested_query, transaction)
            made = aggregated(asked, search)
            m.set_micros(response.batch.read_time, self._store.version)
        response.batch.aggregation_results.add().CopyFrom(made)
        response.batch.more_results = m.QueryResultBatch.NO_MORE_RESULTS
        return response

    def _search(
        self, request: Message, query: Message, transaction: Transaction | None
    ) -> tuple[Batch, Search]:
        plan = planned(query, keys.partition_of(request))
        self._indexes.check(plan)
        shelf = where(plan, self._store)
        if transaction:
            transaction.queried.append(shelf)
        return Batch(query, plan, *self._batch), Search(plan, shelf)

    def _reading(self, request: Message, response: Message) -> Transaction | None:
        """Return the transaction that a read belongs to; a new one is named in the answer."""
        options = request.read_options
        match options.WhichOneof("consistency_type"):
            case "transaction":
                return self._transactions.get(options.transaction)
            case "new_transaction":
                name = self._transactions.begin(options.new_transaction, self._store)
                response.transaction = name
                return self._transactions.get(name)
            case _:
                return None
