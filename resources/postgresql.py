"""PostgreSQL in a container."""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import ClassVar, Literal

from benchyard.case.resource import CommandResult, InputFile, OutputFile, command
from benchyard.core.errors import CommandFailedError
from resources._containers.settings import ContainerSettings
from resources._databases import psql
from resources._databases.dialog import Dialog, DialogClient, DialogEndedError
from resources._databases.files import Source, strip_last_bars
from resources._databases.psql import Complaint, Statement, statements
from resources._databases.server import OWN, DatabaseServer
from resources._embedded.embedded_file import quoted
from resources._files import named_or_kept, put, read_text

#: User, password and name of the database, as KROWN's cases have them.
USER, PASSWORD, DATABASE = "root", "root", "db"


def _is_dotted_name(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))


@dataclass(frozen=True, slots=True)
class PostgreSQLSettings(ContainerSettings):
    """What a case may set.

    Args:
        parameters: The server's own settings by name, such as ``{"work_mem": "64MB"}``.
    """

    _named = ("parameters", "parameter", _is_dotted_name)

    parameters: dict[str, str | int | float | bool] = field(
        default_factory=dict[str, str | int | float | bool]
    )


class PostgreSQL(DatabaseServer[PostgreSQLSettings]):
    """PostgreSQL: host name ``PostgreSQL``, port 5432, user and password root, database db."""

    Settings: ClassVar[type[PostgreSQLSettings]] = PostgreSQLSettings
    _image: ClassVar[str] = "kgconstruct/postgresql:v14.5"
    _serves: ClassVar[Sequence[int]] = (5432,)
    # Not where images have theirs: some refuse a volume there.
    _data: ClassVar[str] = "/var/lib/benchyard"

    def _environment(self) -> dict[str, str]:
        given = self.settings.environment
        known = {
            "POSTGRES_USER": USER,
            "POSTGRES_PASSWORD": PASSWORD,
            "POSTGRES_DB": DATABASE,
            "PGDATA": self._data,
        }
        if given.get("POSTGRES_PASSWORD", PASSWORD) == PASSWORD:
            # A password that everybody knows protects nothing, and old clients know no SCRAM.
            known["POSTGRES_HOST_AUTH_METHOD"] = "trust"
        return known

    def _server_arguments(self) -> list[str]:
        pairs = [f"{name}={_written(value)}" for name, value in self.settings.parameters.items()]
        return ["postgres", *(word for pair in pairs for word in ("-c", pair))] if pairs else []

    def _client(self) -> DialogClient:
        given = {**self._environment(), **self.settings.environment}
        user = given["POSTGRES_USER"]
        return psql.client(user, given["POSTGRES_PASSWORD"], given.get("POSTGRES_DB") or user)

    def _greet(self, dialog: Dialog) -> str:
        return dialog.ask("SHOW server_version;\n").decode().split("\n")[1]

    # -- commands

    @command
    def vacuum(
        self, tables: list[str] | None = None, *, full: bool = False, analyze: bool = False
    ) -> CommandResult:
        """Give back the space of dead rows.

        Args:
            tables: Their names; all tables if left out.
            full: Whether the tables are written anew.
            analyze: Whether the statistics are taken too.
        """
        options = [word for word, is_set in (("FULL", full), ("ANALYZE", analyze)) if is_set]
        words = f" ({', '.join(options)})" if options else ""
        return self._maintain(f"VACUUM{words}", tables)

    @command
    def explain_query_file(
        self,
        query_file: InputFile,
        plan_file: OutputFile | None = None,
        *,
        analyze: bool = False,
        form: Literal["text", "json", "xml", "yaml"] = "text",
    ) -> CommandResult:
        """Save the plan of a query.

        Args:
            query_file: SQL, one statement.
            plan_file: The plan; by default a file among the run's results.
            analyze: Whether the query is executed, so that the plan has times and buffers.
            form: Of the plan.
        """
        found = statements(read_text(self.workspace, query_file))
        if len(found) != 1:
            raise CommandFailedError(
                f"{query_file}: it has {len(found)} statements; a plan is made of one"
            )
        options = f"ANALYZE {analyze}, BUFFERS {analyze}, FORMAT {form}"
        explained = Statement(f"EXPLAIN ({options}) {found[0].text}", found[0].line)
        target = named_or_kept(
            self.workspace, plan_file, f"plan.{'txt' if form == 'text' else form}"
        )
        # The rows of a plan are its lines, and no CSV.
        around = ("\\pset format unaligned\n\\t on\n", "\\t off\n\\pset format csv\n")
        self._pieces(query_file, [explained], around)
        put(self._answer(0), target)
        return CommandResult({}, target)

    def _maintain(self, what: str, tables: list[str] | None) -> CommandResult:
        chosen = ", ".join(map(quoted, self._real_names(tables))) if tables else ""
        self._tell(f"{what} {chosen};\n")
        return CommandResult({})

    # -- loading

    def _fill(self, sources: Sequence[Source], schema_file: str | None) -> int:
        self._tell("BEGIN;\n")
        if schema_file is not None:
            inside = self._source(schema_file, "").inside
            script = f"\\o /dev/null\n\\i {psql.argument(inside)}\n"
            self._tell(script, partial(_placed, schema_file, ()))
        rows = sum(self._load_one(s, *self._place(s, schema_file)) for s in sources)
        self._tell("COMMIT;\n")
        return rows

    def _asked(self, query: str) -> list[list[str]]:
        return list(csv.reader(io.StringIO(self._tell(query).decode(), newline="")))[1:]

    def _catalogue_query(self, tables: Sequence[str]) -> str:
        return psql.ask_catalogue(tables)

    def _place(self, source: Source, schema_file: str | None) -> tuple[str, list[str]]:
        """Return the table and the columns that a file goes to; make them if there is no schema."""
        if schema_file is not None:
            return source.columns_of(self._catalogue([source.table]))
        columns = source.new_columns("key")
        self._tell(psql.make_table(source.table, columns))
        return source.table, columns

    def _load_one(self, source: Source, table: str, columns: Sequence[str]) -> int:
        stripped = self.workspace.own / "stripped.tbl"
        inside = source.inside

        def words(complaint: Complaint) -> str:
            return str(source.refused(len(columns), complaint.said, complaint.copy_line))

        try:
            if source.is_tbl:
                strip_last_bars(source, stripped, len(columns))
                inside = f"{OWN}/{stripped.name}"
            return int(self._tell(psql.copy(source, inside, table, columns), words))
        finally:
            stripped.unlink(missing_ok=True)

    # -- queries

    def _query(self, name: str, sql: str, answer: Path | None) -> int | None:
        found = statements(sql)
        counts = self._pieces(name, found, keep=answer is not None)
        if answer is None:
            return counts[-1] if counts else None
        files = [self._answer(number) for number in range(len(found))]
        filled = [number for number, file in enumerate(files) if file.stat().st_size]
        if filled:
            files[filled[-1]].replace(answer)
        for file in files:
            file.unlink(missing_ok=True)
        return counts[filled[-1]] if filled else None

    def _answer(self, number: int) -> Path:
        return self.workspace.own / f"answer.{number}"

    def _pieces(
        self,
        name: str,
        found: Sequence[Statement],
        around: tuple[str, str] = ("", ""),
        *,
        keep: bool = True,
    ) -> list[int]:
        """Execute statements, each with a file for its rows; return how many it has or changed.

        Each is a file for the client: one that is not whole cannot swallow what follows it.
        """
        own = self.workspace.own
        files = [own / f"statement.{number}" for number in range(len(found))]
        script = around[0]
        for number, (file, statement) in enumerate(zip(files, found, strict=True)):
            file.write_text(statement.text, encoding="utf-8")
            target = f"{OWN}/{self._answer(number).name}" if keep else "/dev/null"
            script += f"\\o {target}\n\\i {OWN}/{file.name}\n\\echo :ROW_COUNT\n"
        try:
            told = self._tell(script + around[1], partial(_placed, name, found))
        except CommandFailedError:
            for number in range(len(found)):
                self._answer(number).unlink(missing_ok=True)
            raise
        finally:
            for file in files:
                file.unlink(missing_ok=True)
        return [int(count) for count in told.split()]

    def _tell(self, script: str, words: Callable[[Complaint], str] | None = None) -> bytes:
        """Let the client execute a script.

        Args:
            script: For the client.
            words: Says what is wrong, and where; the server's own words if left out.

        Raises:
            CommandFailedError: If it fails; a new session has begun then.
        """
        dialog = self._talk()
        try:
            return dialog.ask(script)
        except DialogEndedError as ended:
            complaint = Complaint(ended.complaints)
            if not complaint.said or self._has_died(refused=complaint.is_refusal):
                error = self._refused(ended)
            else:
                said = words(complaint) if words else complaint.said
                error = complaint.error(f"PostgreSQL: {said}")
            self._resume()
            raise error from ended


def _placed(name: str, found: Sequence[Statement], complaint: Complaint) -> str:
    """Return the server's complaint about a script, with the file and line it is about.

    Args:
        name: What the case calls it.
        found: The statements that it consists of, if each is a script of its own.
    """
    number = complaint.script.removeprefix("statement.")
    is_known = number.isdigit() and int(number) < len(found)
    line = found[int(number)].line if is_known else complaint.line
    return f"{name}{f':{line}' if line else ''}: {complaint.said}"


def _written(value: str | float) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
