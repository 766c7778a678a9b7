"""MySQL or MariaDB in a container."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import ClassVar, Literal, TextIO

from benchyard.case.resource import CommandResult, InputFile, OutputFile, command
from benchyard.core.errors import CommandFailedError, ProgramFailedError, retold
from resources._containers.engine import EngineError
from resources._containers.settings import ContainerSettings, is_dashed_name
from resources._databases import mysql_client
from resources._databases.dialog import NOT_EXECUTABLE, Dialog, DialogClient, DialogEndedError
from resources._databases.files import Source
from resources._databases.mysql_client import XmlAnswer
from resources._databases.server import OWN, DatabaseServer
from resources._files import named_or_kept, put, read_text

#: Password of root, and name of the database, as KROWN's cases have them.
PASSWORD, DATABASE = "root", "db"


@dataclass(frozen=True, slots=True)
class MySQLSettings(ContainerSettings):
    """What a case may set.

    Args:
        variables: The server's own settings by name, such as ``{"max_connections": 50}``.
    """

    _named = ("variables", "variable", is_dashed_name)

    variables: dict[str, str | int | float] = field(default_factory=dict[str, str | int | float])


class MySQL(DatabaseServer[MySQLSettings]):
    """MySQL: host name ``MySQL``, port 3306, user and password root, database db."""

    Settings: ClassVar[type[MySQLSettings]] = MySQLSettings
    _image: ClassVar[str] = "kgconstruct/mysql:v8.0"
    _serves: ClassVar[Sequence[int]] = (3306,)
    _data: ClassVar[str] = "/var/lib/mysql"

    _program: str = "mysql"

    def _environment(self) -> dict[str, str]:
        return {"MYSQL_ROOT_PASSWORD": PASSWORD, "MYSQL_DATABASE": DATABASE}

    def _server_arguments(self) -> list[str]:
        given = [f"--{name}={value}" for name, value in self.settings.variables.items()]
        return ["--secure-file-priv=", "--local-infile=1", *given]

    def _client(self) -> DialogClient:
        given = {**self._environment(), **self.settings.environment}
        password = given.get("MARIADB_ROOT_PASSWORD", given["MYSQL_ROOT_PASSWORD"])
        database = given.get("MARIADB_DATABASE", given["MYSQL_DATABASE"])
        return mysql_client.client(self._program, password, database)

    def _greet(self, dialog: Dialog) -> str:
        return _rows(dialog.ask("SELECT VERSION();\n"))[1][0]

    def _connect(self) -> None:
        try:
            super()._connect()
        except (DialogEndedError, EngineError) as error:
            if self._program == "mariadb" or not _is_missing(error):
                raise
            # MariaDB's newer images have the program under its own name alone.
            self._program = "mariadb"
            super()._connect()

    # -- commands

    @command
    def optimize(self, tables: list[str] | None = None) -> CommandResult:
        """Write tables anew, without the space of dead rows.

        Args:
            tables: Their names; all tables if left out.
        """
        return self._maintain("OPTIMIZE", tables)

    @command
    def explain_query_file(
        self,
        query_file: InputFile,
        plan_file: OutputFile | None = None,
        *,
        analyze: bool = False,
        form: Literal["table", "json"] = "table",
    ) -> CommandResult:
        """Save the plan of a query.

        Args:
            query_file: SQL, one statement.
            plan_file: The plan; by default a file among the run's results.
            analyze: Whether the query is executed, so that the plan has times.
            form: A CSV file, or the server's JSON.
        """
        bare = read_text(self.workspace, query_file).strip().rstrip(";")
        maria = "MariaDB" in self.version()
        what = ("ANALYZE" if maria else "EXPLAIN ANALYZE") if analyze else "EXPLAIN"
        words = f"{what} FORMAT=JSON" if form == "json" else what
        answer = self.workspace.own / "plan"
        target = named_or_kept(
            self.workspace, plan_file, f"plan.{'csv' if form == 'table' else form}"
        )
        try:
            self._query(query_file, f"{words} {bare};\n", answer)
            if form == "json":
                with answer.open(encoding="utf-8", newline="") as stream:
                    plan = list(csv.reader(stream))[1][0]
                answer.write_text(plan + "\n", encoding="utf-8")
            put(answer, target)
        finally:
            answer.unlink(missing_ok=True)
        return CommandResult({}, target)

    def _maintain(self, what: str, tables: list[str] | None) -> CommandResult:
        chosen = ", ".join(map(mysql_client.quoted, self._real_names(tables or ())))
        if chosen:
            for _, _, kind, said in self._asked(f"{what} TABLE {chosen};\n"):
                if kind.lower() == "error":
                    raise ProgramFailedError(f"MySQL: {said}")
        return CommandResult({})

    # -- loading

    def _fill(self, sources: Sequence[Source], schema_file: str | None) -> int:
        if schema_file is not None:
            inside = self._source(schema_file, "").inside
            self._tell(f"source {inside}\n", {inside: schema_file})
            known = self._catalogue([source.table for source in sources])
            places = [source.columns_of(known) for source in sources]
        else:
            places = [(source.table, source.new_columns("k")) for source in sources]
            # Making a table ends a transaction here.
            self._tell("".join(mysql_client.make_table(*place) for place in places))
        self._tell("START TRANSACTION;\n")
        rows = sum(self._load_one(s, *place) for s, place in zip(sources, places, strict=True))
        self._tell("COMMIT;\n")
        return rows

    def _load_one(self, source: Source, table: str, columns: Sequence[str]) -> int:
        if not source.is_tbl:
            source.refuse_open_quote(len(columns))
        try:
            self._tell(mysql_client.load_data(source, table, columns))
        except CommandFailedError as error:
            if not self._up().running:
                raise
            raise retold(error, str(source.refused(len(columns), str(error)))) from error
        [warning] = self._asked(mysql_client.FIRST_WARNING) or [[]]
        [[rows, warnings]] = self._asked(mysql_client.LOADED)
        if int(warnings):
            said = warning[2] if warning else f"{warnings} warnings"
            row = mysql_client.row_of(said)
            line = source.line_of_row(row) if row else None
            raise ProgramFailedError(f"MySQL: {source.refused(len(columns), said, line)}")
        return int(rows)

    def _catalogue_query(self, tables: Sequence[str]) -> str:
        return mysql_client.ask_catalogue(tables)

    # -- queries

    def _query(self, name: str, sql: str, answer: Path | None) -> int | None:
        script = self.workspace.own / "script.sql"
        script.write_text(sql, encoding="utf-8")
        inside = f"{OWN}/{script.name}"
        try:
            if answer is None:
                return self._tell(f"source {inside}\n", {inside: name}).rows
            with answer.open("w", encoding="utf-8", newline="") as stream:
                found = self._tell(f"source {inside}\n", {inside: name}, stream)
                if found.rows == 0:
                    found.name_columns(self._names(found.statement))
            return found.rows
        finally:
            script.unlink(missing_ok=True)

    def _names(self, query: str) -> list[str]:
        """Return the names of a query's columns; none where only its rows would tell them."""
        script = self.workspace.own / "names.sql"
        script.write_text(mysql_client.ask_names(query), encoding="utf-8")
        told = StringIO(newline="")
        answer = XmlAnswer(told)
        try:
            # From a file: what is wrong there does not end the session.
            self._talk().ask(f"source {OWN}/{script.name}\n", answer.take)
        finally:
            script.unlink(missing_ok=True)
        rows = _csv(told)
        return rows[0] if rows else []

    def _asked(self, query: str) -> list[list[str]]:
        told = StringIO(newline="")
        self._tell(query, stream=told)
        return _csv(told)[1:]

    def _tell(
        self, script: str, names: dict[str, str] | None = None, stream: TextIO | None = None
    ) -> XmlAnswer:
        """Let the client execute a script.

        Args:
            script: For the client.
            names: Path of a file in the container to what an error calls it.
            stream: Where the rows of the last query go.

        Raises:
            CommandFailedError: If it fails; a new session has begun then.
        """
        answer = XmlAnswer(stream)
        dialog = self._talk()
        try:
            dialog.ask(script, answer.take)
            if answer.errors:
                raise dialog.give_up(mysql_client.FAREWELL)
        except DialogEndedError as ended:
            said = mysql_client.explained(ended.complaints, names or {})
            refused = mysql_client.is_refusal(ended.complaints)
            if not said or self._has_died(refused=refused):
                raise self._refused(ended) from ended
            self._resume()
            kind = ProgramFailedError if refused else CommandFailedError
            raise kind(f"MySQL: {said}") from ended
        return answer


def _rows(answer: bytes) -> list[list[str]]:
    told = StringIO(newline="")
    XmlAnswer(told).take(answer)
    return _csv(told)


def _csv(told: StringIO) -> list[list[str]]:
    return list(csv.reader(StringIO(told.getvalue(), newline="")))


def _is_missing(error: Exception) -> bool:
    if isinstance(error, DialogEndedError):
        return error.exit_code in NOT_EXECUTABLE
    return "executable file not found" in str(error)
