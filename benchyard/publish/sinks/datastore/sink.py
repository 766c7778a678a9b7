"""Publishing to Google Cloud Datastore."""

from typing import Self

from benchyard.core.errors import DocumentRejectedError
from benchyard.publish.sinks.contract import DocumentKind, Spooled
from benchyard.publish.sinks.datastore.connection import Connection
from benchyard.publish.sinks.datastore.entities import Message, document_mutation, entry_mutations
from benchyard.publish.sinks.sending import batches
from benchyard.publish.testresults.document import parse

#: Mutations of a commit. Google no longer enforces it; older databases and servers do.
#: Source: https://cloud.google.com/datastore/docs/release-notes, 2023-03-29
MOST_MUTATIONS = 500
#: Bytes of a commit, of the 10 MiB that a request may have: a smaller one fits into the time of an
#: attempt on a slow line, and a larger one is not faster.
MOST_BYTES = 4 * 1024 * 1024
#: What a message takes around its own bytes in the list that it is in, at most.
_FRAME_BYTES = 8


class DatastoreSink:
    """Kinds ``Test`` and ``Entry`` in a Datastore, one copy of each however often published."""

    name = "datastore"
    kind = DocumentKind.RESULTS
    #: So many hide the way to Google and back; a local server is busy with two.
    parallel = 8

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @classmethod
    def from_environment(cls) -> Self:
        """Return the sink by the environment's settings; nothing is connected or checked."""
        return cls(Connection.from_environment())

    def check(self) -> None:
        """Check settings and credentials.

        Raises:
            InputError: If they are missing or wrong.
        """
        _ = self._connection.settings

    def store(self, spooled: Spooled) -> None:
        """Publish one document.

        The entity of the test goes last, in a commit of its own: where it is, all entries are.

        Raises:
            DocumentRejectedError: If it is no document, or Datastore refuses it.
            SinkUnavailableError: If it may succeed later.
        """
        if spooled.kind is not DocumentKind.RESULTS:
            raise DocumentRejectedError(f"{spooled.name} holds events; Datastore takes results")
        try:
            self._store(spooled)
        except RecursionError as error:
            raise DocumentRejectedError("it is nested too deeply") from error

    def close(self) -> None:
        """Close the connection; calls under way fail."""
        self._connection.close()

    def _store(self, spooled: Spooled) -> None:
        document = parse(spooled.content)
        settings = self._connection.settings
        entries = entry_mutations(settings, document, spooled.archived_as)
        for batch in batches(entries, _size, MOST_MUTATIONS, MOST_BYTES):
            self._connection.commit(batch)
        self._connection.commit([document_mutation(settings, document, spooled.archived_as)])


def _size(mutation: Message) -> int:
    return mutation.ByteSize() + _FRAME_BYTES
