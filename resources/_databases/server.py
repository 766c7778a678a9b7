"""The base of databases that serve from a container."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from benchyard.case.resource import CommandResult, command
from benchyard.core.errors import CommandFailedError, NotReadyError, ResourceError
from resources._containers import Mount, Specification
from resources._containers.base import ContainerSettingsT, ServerContainer
from resources._containers.engine import EngineError
from resources._databases import SqlDatabase
from resources._databases.dialog import NOT_EXECUTABLE, Dialog, DialogClient, DialogEndedError
from resources._databases.files import Catalogue, Source, catalogue_of
from resources._embedded.embedded_file import Failure, quote_empty_lines
from resources._files import put, read_text
from resources._readiness import Readiness, asking, tcp_port

#: Where the container sees this resource's scratch folder.
OWN = "/benchyard"
#: Seconds that the engine may need to notice that a container ended.
_A_MOMENT = 1.0


class DatabaseServer(SqlDatabase[ContainerSettingsT], ServerContainer[ContainerSettingsT], ABC):
    """A database in a container, and a client in the same one that stays open.

    A command lasts as long as the work itself does, since nothing has to start or connect for it.
    A command that fails ends the session; the next one begins in a new one.
    """

    _dialog: Dialog | None = None
    #: Why the server did not answer the client.
    _reason: str = ""

    # -- life

    def _mounts(self) -> list[Mount]:
        return [*super()._mounts(), Mount(self.workspace.own, OWN)]

    def _specification(self) -> Specification:
        spec = super()._specification()
        arguments = tuple(self._server_arguments())
        return replace(
            spec,
            environment={**self._environment(), **spec.environment},
            command=arguments or spec.command,
        )

    @abstractmethod
    def _environment(self) -> dict[str, str]:
        """Return the variables by which the image sets itself up."""

    @abstractmethod
    def _server_arguments(self) -> Sequence[str]:
        """Return what the image hands to the server; none leaves it to the image."""

    @abstractmethod
    def _client(self) -> DialogClient:
        """Return how the client is executed."""

    @abstractmethod
    def _greet(self, dialog: Dialog) -> str:
        """Ask the server for its version, by its client."""

    def _readiness(self) -> list[Readiness]:
        # An image's first server, which only fills the database, does not listen there.
        return [tcp_port(self._serves[0]), asking("it answers a query", self._answers)]

    def _answers(self, _: object) -> bool:
        """Open the client, and ask for the version."""
        try:
            self._connect()
        except (DialogEndedError, EngineError) as error:
            if isinstance(error, DialogEndedError) and error.exit_code in NOT_EXECUTABLE:
                what = f"its client cannot be executed in the image: {error}"
                raise NotReadyError(what) from error
            self._reason = f"; {error}"
            return False
        return True

    def wait_until_ready(self) -> None:
        """Wait until it answers a query.

        Raises:
            NotReadyError: If it does not; with what its client said last.
        """
        self._reason = ""
        try:
            super().wait_until_ready()
        except NotReadyError as error:
            raise NotReadyError(f"{error}{self._reason}") from error

    def start(self) -> None:
        """Make the scratch folder, and start the container."""
        self.workspace.own.mkdir(parents=True, exist_ok=True)
        super().start()

    def stop(self) -> None:
        """Let the client go, then stop the container."""
        self._hang_up()
        super().stop()

    def version(self) -> str:
        """Ask the server."""
        return self._greet(self._talk())

    # -- the client

    def _connect(self) -> None:
        self._hang_up()
        dialog = Dialog(self._up(), self._client())
        self._dialog = dialog
        self._greet(dialog)

    def _hang_up(self) -> None:
        dialog, self._dialog = self._dialog, None
        if dialog is not None:
            dialog.close()

    def _talk(self) -> Dialog:
        """Return the open client; after a failed command a new one."""
        if self._dialog is None or not self._dialog.open:
            server = self._up()
            if not server.running:
                raise CommandFailedError(str(server.died("a command was to begin")))
            try:
                self._connect()
            except DialogEndedError as error:
                raise self._refused(error) from error
        if self._dialog is None:
            raise ResourceError(f"{type(self).__name__} was stopped")
        return self._dialog

    def _refused(self, ended: DialogEndedError) -> CommandFailedError:
        """Return the error for a server that went away or does not talk to us."""
        if self._has_died(refused=False):
            return CommandFailedError(str(self._up().died("it executed a command")))
        return CommandFailedError(f"{type(self).__name__}: {ended}")

    def _has_died(self, *, refused: bool) -> bool:
        """Tell whether the server's container ended.

        Args:
            refused: Whether the server refused a statement. A client that ended otherwise may
                have ended with its server, and the engine tells of the client first.
        """
        server = self._up()
        if not refused:
            server.wait(_A_MOMENT)
        return not server.running

    def _resume(self) -> None:
        """Open a new session at once: the time is that of the command which failed."""
        if self._up().running:
            with suppress(ResourceError):
                self._connect()

    # -- commands

    @command
    def analyze(self, tables: list[str] | None = None) -> CommandResult:
        """Take the statistics that queries are planned with.

        Args:
            tables: Their names; all tables if left out.
        """
        return self._maintain("ANALYZE", tables)

    @abstractmethod
    def _maintain(self, what: str, tables: list[str] | None) -> CommandResult:
        """Let the server work on tables, all of them if none are named."""

    def _load(self, files: list[tuple[str, str]], schema_file: str | None) -> CommandResult:
        sources = [self._source(file, table) for file, table in files]
        tables = [source.table for source in sources]
        doubled = [table for table in tables if tables.count(table) > 1]
        if doubled and schema_file is None:
            raise CommandFailedError(
                f"two files are loaded into the table '{doubled[0]}', which each makes anew; "
                "make the table with a schema_file"
            )
        dialog = self._talk()
        try:
            rows = self._fill(sources, schema_file)
        except (CommandFailedError, Failure) as error:
            if dialog.open:  # its session is still in the transaction
                self._tell("ROLLBACK;\n")
            if isinstance(error, Failure):
                raise CommandFailedError(str(error)) from error
            raise
        return CommandResult({"rows": rows, "files": len(sources)})

    def _execute_sql(self, sql: str) -> int | None:
        return self._query("sql", sql, None)

    def _save_answer(self, query_file: str, target: Path) -> int | None:
        answer = self.workspace.own / "answer.csv"
        try:
            rows = self._query(query_file, read_text(self.workspace, query_file), answer)
            if rows is not None:
                quote_empty_lines(str(answer))
                put(answer, target)
        finally:
            answer.unlink(missing_ok=True)
        return rows

    @abstractmethod
    def _tell(self, script: str) -> object:
        """Let the client execute a script of our own."""

    @abstractmethod
    def _fill(self, sources: Sequence[Source], schema_file: str | None) -> int:
        """Load the files in a transaction; return how many rows they have."""

    @abstractmethod
    def _asked(self, query: str) -> list[list[str]]:
        """Return the rows of a query of our own, without the header."""

    @abstractmethod
    def _catalogue_query(self, tables: Sequence[str]) -> str:
        """Return the query for the columns of tables, named in lower case."""

    def _catalogue(self, tables: Sequence[str]) -> Catalogue:
        """Return the server's description of its tables."""
        wanted = [name.lower() for name in tables]
        return catalogue_of(self._asked(self._catalogue_query(wanted)))

    def _real_names(self, tables: Sequence[str]) -> list[str]:
        """Return the names of tables as the server has them.

        Raises:
            CommandFailedError: If one is not there.
        """
        known = self._catalogue(tables)
        for name in tables:
            if name.lower() not in known:
                raise CommandFailedError(f"{type(self).__name__}: there is no table '{name}'")
        return [table for table, _ in known.values()]

    @abstractmethod
    def _query(self, name: str, sql: str, answer: Path | None) -> int | None:
        """Execute statements.

        Args:
            name: What an error calls the text.
            sql: The statements.
            answer: File, in our scratch folder, that the rows of the last query go to.

        Returns:
            How many rows the last query had; None without a query.
        """

    def _source(self, name: str, table: str) -> Source:
        if "\n" in name or "\r" in name:
            raise CommandFailedError(f"the name of the file '{name}' has a line break; rename it")
        return Source(str(self.workspace.file(name)), name, table.lower())
