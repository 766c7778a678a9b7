"""The calls that change something: commits, transactions, ids."""

import threading
from dataclasses import dataclass, field

from tests.emulators.datastore import keys, limits
from tests.emulators.datastore import messages as m
from tests.emulators.datastore.commits import Planned, Planner
from tests.emulators.datastore.faults import Fault, suffer
from tests.emulators.datastore.journal import Journal
from tests.emulators.datastore.messages import Message
from tests.emulators.datastore.refusals import invalid
from tests.emulators.datastore.store import Store
from tests.emulators.datastore.transactions import Transactions


@dataclass(slots=True)
class Writer:
    """What writes to a store.

    Args:
        lock: Held by whoever reads or writes the store.
        legacy: Whether the limits of a legacy Cloud Datastore hold too.
    """

    store: Store
    transactions: Transactions
    journal: Journal | None
    legacy: bool
    lock: threading.Lock = field(default_factory=threading.Lock)

    def commit(self, request: Message, fault: Fault | None) -> bytes:
        """Do all of a commit or nothing.

        Args:
            fault: What happens in the middle of it, if that is its time. A failure leaves the
                first half done, as one of a commit outside of a transaction may (CommitRequest's
                mode NON_TRANSACTIONAL: "the mutations may not apply as all or none").
        """
        if self.legacy:
            limits.check_legacy(len(request.mutations))
        _check_mode(request)
        with self.lock:
            if request.transaction:
                writes = bool(request.mutations)
                self.transactions.commit(request.transaction, self.store, writes=writes)
            plan = Planner(request, self.store).planned()
            return plan.answered(self._done(plan, fault))

    def _done(self, plan: Planned, fault: Fault | None) -> int:
        version = self.store.new_version()
        halfway = fault.act if fault and fault.when == "half" else None
        if halfway == "fail":
            del plan.changes[len(plan.changes) // 2 :]
        if self.journal and plan.changes:
            self.journal.add(plan.changes, version, half=halfway == "die")
        if halfway != "die":
            self.store.apply(plan.changes, version)
        suffer(fault, "half", "")
        return version

    def begin(self, request: Message) -> Message:
        """Open a transaction."""
        with self.lock:
            name = self.transactions.begin(request.transaction_options, self.store)
        return m.BeginTransactionResponse(transaction=name)

    def roll_back(self, request: Message) -> Message:
        """Close a transaction."""
        with self.lock:
            self.transactions.end(request.transaction)
        return m.RollbackResponse()

    def allocate(self, request: Message) -> Message:
        """Give ids to keys."""
        response = m.AllocateIdsResponse()
        for key in request.keys:
            keys.complete(key, request.project_id, request.database_id)
            if not keys.check(key, incomplete=True):
                invalid(f"Key path element must not be complete: [{keys.described(key)}]")
            with self.lock:
                key.path[-1].id = self.store.new_id()
            response.keys.add().CopyFrom(key)
        return response

    def reserve(self, request: Message) -> Message:
        """Note that ids are taken; no id is given twice here, whoever uses it."""
        for key in request.keys:
            keys.complete(key, request.project_id, request.database_id)
            keys.check(key)
        return m.ReserveIdsResponse()


def _check_mode(request: Message) -> None:
    selected = bool(request.WhichOneof("transaction_selector"))
    if request.mode == m.CommitRequest.NON_TRANSACTIONAL:
        if selected:
            invalid("non-transactional commit must not have a transaction")
    elif not selected:
        invalid("transactional commit requires a transaction")
