"""Databases of SQL; here the commands of all, embedded or served from a container."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TypedDict

from benchyard.case.resource import (
    CommandResult,
    InputFile,
    OutputFile,
    Resource,
    SettingsT,
    command,
)
from benchyard.core.errors import CommandFailedError
from resources._files import named_or_kept


class TableFile(TypedDict):
    """A file and the table that it is loaded into."""

    file: InputFile
    table: str


class SqlDatabase(Resource[SettingsT], ABC):
    """A database that loads files into tables and executes SQL.

    Files that end in ``.tbl`` have the form of TPC-H's dbgen: ``|`` after each value, no header.
    All others are CSV with a header. In both, ``NULL`` is the null.
    """

    @command
    def load(
        self, csv_file: InputFile, table: str, schema_file: InputFile | None = None
    ) -> CommandResult:
        """Load a file into a table, as one transaction.

        Args:
            csv_file: The file, in UTF-8.
            table: The table, written in lower case whatever stands here.
            schema_file: SQL that makes the table and is executed first. Without it the table is
                made anew from the header: names in lower case, all columns text; on a server, a
                key besides.
        """
        return self._load([(csv_file, table)], schema_file)

    @command
    def load_multiple(
        self, csv_files: list[TableFile], schema_file: InputFile | None = None
    ) -> CommandResult:
        """Load files into tables, all in one transaction.

        Args:
            csv_files: Each ``file`` with its ``table``.
            schema_file: As for ``load``, for all the tables.
        """
        return self._load([(pair["file"], pair["table"]) for pair in csv_files], schema_file)

    @command
    def load_sql_schema(
        self, schema_file: InputFile, csv_files: list[tuple[InputFile, str]]
    ) -> CommandResult:
        """Execute a schema, then load files into its tables.

        Args:
            schema_file: SQL that makes the tables.
            csv_files: Pairs of a file and a table; none if the schema has the data.
        """
        return self._load([(file, table) for file, table in csv_files], schema_file)

    @command
    def execute(self, sql: str) -> CommandResult:
        """Execute statements, each query to its last row, and keep no rows.

        Args:
            sql: One or more statements.
        """
        return CommandResult({"rows": self._execute_sql(sql)})

    @command
    def execute_query_file(
        self, query_file: InputFile, results_file: OutputFile | None = None
    ) -> CommandResult:
        """Execute the statements of a file and save the rows of its last query.

        Args:
            query_file: SQL.
            results_file: CSV with a header; by default a file among the run's results.
        """
        target = named_or_kept(self.workspace, results_file, "csv")
        rows = self._save_answer(query_file, target)
        if rows is None and results_file:
            raise CommandFailedError(
                f"{query_file} has no query, so there is nothing for '{results_file}'; "
                "leave results_file out"
            )
        return CommandResult({"rows": rows}, None if rows is None else target)

    @abstractmethod
    def _load(self, files: list[tuple[str, str]], schema_file: str | None) -> CommandResult:
        """Load all the files into their tables, or none."""

    @abstractmethod
    def _execute_sql(self, sql: str) -> int | None:
        """Return how many rows the last query had; None without a query."""

    @abstractmethod
    def _save_answer(self, query_file: str, target: Path) -> int | None:
        """Write the rows of a file's last query; return how many; None without a query."""
