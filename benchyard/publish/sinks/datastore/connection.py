"""Calls to one Datastore, through the client library's own channel and credentials."""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, cast

import grpc
from google.api_core.exceptions import BadRequest, Cancelled, GoogleAPICallError
from google.cloud.datastore_v1 import DatastoreClient
from google.cloud.datastore_v1.services.datastore.transports import DatastoreGrpcTransport
from grpc import StatusCode

from benchyard.core.errors import (
    BenchyardError,
    DocumentRejectedError,
    InputError,
    SinkUnavailableError,
    UnreachableError,
)
from benchyard.core.quantity import shorten
from benchyard.publish.sinks.datastore.settings import (
    TYPES,
    Credentials,
    Message,
    Settings,
    find_credentials,
)
from benchyard.publish.sinks.sending import READING, retried

#: gRPC would wait up to two minutes before it looks again whether a server is back, and 20 s for a
#: connection (``min_reconnect_backoff_ms``); it would try again by itself, and takes answers of at
#: most 4 MiB; an entity may have 1 MiB, and a page of them more than that.
#: Source: https://grpc.github.io/grpc/core/group__grpc__arg__keys.html
_CHANNEL = (
    ("grpc.enable_retries", 0),
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.min_reconnect_backoff_ms", 4_000),
    ("grpc.max_reconnect_backoff_ms", 2_000),
    ("grpc.max_receive_message_length", -1),
)
#: Seconds that a call may take: a commit of 4 MiB needs that long at 2.2 Mbit/s.
ATTEMPT_S = 15.0
#: The indexes that our queries need.
INDEX_FILE = Path(__file__).with_name("index.yaml")
T = TypeVar("T")
#: Source: https://cloud.google.com/datastore/docs/concepts/errors; UNKNOWN and CANCELLED are what
#: gRPC makes of a connection that broke on the way.
_LATER = {
    StatusCode.UNAVAILABLE,
    StatusCode.ABORTED,
    StatusCode.DEADLINE_EXCEEDED,
    StatusCode.RESOURCE_EXHAUSTED,
    StatusCode.INTERNAL,
    StatusCode.UNKNOWN,
    StatusCode.CANCELLED,
}
_ACCESS = {StatusCode.PERMISSION_DENIED, StatusCode.UNAUTHENTICATED}
#: Perhaps the document's fault; as often the project's id, or the database's.
REFUSED = {StatusCode.INVALID_ARGUMENT, StatusCode.OUT_OF_RANGE}
#: What gRPC itself says where no connection came about; no server says so.
_NOBODY = ("failed to connect to all addresses", "DNS resolution failed", "errors resolving ")
#: The same where Google's credentials could not be turned into a token.
_NO_TOKEN = "metadata from plugin failed"  # noqa: S105 - a text of an error


class Connection:
    """One Datastore; opened when it is first needed, usable by several threads at once.

    Args:
        wanted: Where; its project may still be None. By default what the environment says.
        attempt_s: Seconds that a call may take.
    """

    def __init__(self, wanted: Settings | None = None, attempt_s: float = ATTEMPT_S) -> None:
        self._wanted = wanted or Settings.from_environment()
        self._settings: Settings | None = None
        self._credentials: Credentials = None
        self._client: Any = None
        self._attempt_s = attempt_s
        self._opening = threading.RLock()
        self._closed = False

    @property
    def settings(self) -> Settings:
        """Where it is, with its project. Looks for credentials the first time.

        Raises:
            InputError: If credentials or the project are missing, or a setting is wrong.
        """
        with self._opening:
            if self._settings is None:
                self._settings = self._checked()
            return self._settings

    def commit(self, mutations: Sequence[Message]) -> None:
        """Store mutations; after an error some of them may be stored.

        If a request is refused, the settings are wrong if an empty one is refused as well. Else it
        is halved until one mutation alone is refused, twice: then the document is wrong.

        Raises:
            SinkUnavailableError: If it may succeed later.
            DocumentRejectedError: If it never will.
            InputError: As ``settings``, and if the other side takes nothing with these.
        """
        if self._refusal(mutations) is None:
            return
        self._check_settings(mutations[0])
        if len(mutations) > 1:
            middle = len(mutations) // 2
            self.commit(mutations[:middle])
            self.commit(mutations[middle:])
            return
        refusal = self._refusal(mutations)
        if refusal is not None:
            raise DocumentRejectedError(f"{self._wanted.place} refuses it: {refusal}")

    def _check_settings(self, like: Message) -> None:
        """Raise InputError unless a commit that changes nothing is accepted.

        Args:
            like: A mutation; an entity of its partition that never existed is deleted.
        """
        probe = TYPES.Mutation.pb()()
        probe.delete.partition_id.CopyFrom(like.upsert.key.partition_id)
        probe.delete.path.add(kind="BenchyardProbe", name="probe")
        refusal = self._refusal([probe])
        if refusal is not None:
            raise InputError(
                f"{self._wanted.place} refuses whatever it is sent: {refusal}; look at project, "
                "database and namespace"
            )

    def _refusal(self, mutations: Sequence[Message]) -> str | None:
        """Commit; return the error's text if the request itself was refused."""
        request = self._filled(TYPES.CommitRequest.pb()())
        request.mode = TYPES.CommitRequest.Mode.NON_TRANSACTIONAL
        request.mutations.extend(mutations)
        wrapped = TYPES.CommitRequest.wrap(request)
        try:
            self._call(lambda api, seconds: api.commit(wrapped, retry=None, timeout=seconds))
        except GoogleAPICallError as error:
            return shown(error)
        return None

    def query(self, query: Message) -> Iterator[Message]:
        """Yield the entities that a query finds, page by page.

        Raises:
            SinkUnavailableError: If it may succeed later.
            InputError: As ``settings``, and if there is no index for the query.
        """
        request = self._filled(TYPES.RunQueryRequest.pb()())
        request.partition_id.project_id = self.settings.project
        request.partition_id.database_id = self.settings.database
        request.partition_id.namespace_id = self.settings.namespace
        request.query.CopyFrom(query)
        while True:
            batch = self._page(request)
            for found in batch.entity_results:
                yield found.entity
            if batch.more_results != TYPES.QueryResultBatch.MoreResultsType.NOT_FINISHED:
                return
            request.query.start_cursor = batch.end_cursor
            if request.query.HasField("limit"):
                request.query.limit.value -= len(batch.entity_results)

    def close(self) -> None:
        """Close the channel; calls under way fail."""
        self._closed = True
        with self._opening:
            if self._client is not None:
                self._client.transport.close()

    def _page(self, request: Message) -> Message:
        wrapped = TYPES.RunQueryRequest.wrap(request)

        def ask(client: Any, seconds: float) -> Any:
            try:
                return client.run_query(wrapped, retry=None, timeout=seconds)
            except BadRequest as error:
                raise self._unanswerable(error) from error

        answer = retried(lambda: self._call(ask), READING)
        return TYPES.RunQueryResponse.pb(answer).batch

    def _unanswerable(self, error: GoogleAPICallError) -> InputError:
        if "index" not in shown(error):
            return InputError(f"{self._wanted.place} cannot answer: {shown(error)}")
        project = self.settings.project
        return InputError(
            f"{self._wanted.place} lacks an index for this question, or still builds it; deploy "
            f"what Benchyard needs with 'gcloud datastore indexes create {INDEX_FILE} "
            f"--project {project}' and wait until it is ready"
        )

    def _call(self, one: Callable[[Any, float], Any]) -> Any:
        client = self._opened()

        def attempt() -> Any:
            try:
                return one(client, self._attempt_s)
            except ValueError as error:
                if not self._closed:
                    raise
                raise Cancelled("the connection was closed here") from error

        return asked(self._wanted.place, attempt)

    def _filled(self, request: Message) -> Message:
        request.project_id = self.settings.project
        request.database_id = self.settings.database
        return request

    def _checked(self) -> Settings:
        self._wanted.check()
        project = self._wanted.project
        if not self._wanted.emulator:
            self._credentials, found = find_credentials()
            project = project or found
        if not project:
            raise InputError(
                "it is not said which Google Cloud project's Datastore is meant; set "
                "GOOGLE_CLOUD_PROJECT"
            )
        return replace(self._wanted, project=project)

    def _opened(self) -> Any:
        with self._opening:
            if self._client is None:
                self._client = DatastoreClient(transport=self._transport())
            return self._client

    def _transport(self) -> DatastoreGrpcTransport:
        emulator = self.settings.emulator
        if emulator:
            return DatastoreGrpcTransport(channel=grpc.insecure_channel(emulator, _CHANNEL))
        return DatastoreGrpcTransport(credentials=self._credentials, channel=_secure_channel)


def _secure_channel(host: str, *, options: Sequence[tuple[str, int]], **others: Any) -> Any:
    transport = cast("Any", DatastoreGrpcTransport)
    return transport.create_channel(host, options=[*options, *_CHANNEL], **others)


def asked(place: str, attempt: Callable[[], T]) -> T:
    """Make a call once, and explain its errors.

    Args:
        place: What the other side is called in a sentence.
        attempt: The call.

    Raises:
        UnreachableError: If nobody answers at the address.
        SinkUnavailableError: If it may succeed later.
        InputError: If settings, credentials or the database are wrong.
        GoogleAPICallError: If the request itself was refused: see ``REFUSED``.
    """
    try:
        return attempt()
    except GoogleAPICallError as error:
        if status(error) in REFUSED:
            raise
        raise _meaning(place, error) from error


def _meaning(place: str, error: GoogleAPICallError) -> BenchyardError:
    code, told = status(error), shown(error)
    if code in _ACCESS or _NO_TOKEN in told:
        return InputError(
            f"{place} does not let these credentials in: {told}; give their account the role "
            "Cloud Datastore User (roles/datastore.user) in that project, or use others"
        )
    if any(text in told for text in _NOBODY):
        return UnreachableError(f"nobody answers at {place}: {told}")
    if code in _LATER:
        return SinkUnavailableError(
            f"{place} does not answer as it should: {told}; it may answer later"
        )
    return InputError(f"{place} cannot be used: {told}; look at project and database")


def status(error: GoogleAPICallError) -> StatusCode:
    """Return the status code of an error, UNKNOWN without one."""
    code = cast("object", error.grpc_status_code)  # pyright: ignore[reportUnknownMemberType] # not typed
    return code if isinstance(code, StatusCode) else StatusCode.UNKNOWN


def shown(error: GoogleAPICallError) -> str:
    """Return code and text of an error in one line that is not too long."""
    text = " ".join(str(cast("object", error.message)).split())
    return f"{status(error).name}: {shorten(text, 300)}"
