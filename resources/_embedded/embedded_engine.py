"""What an embedded database can do, and loading, which all of them do alike."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TypeAlias

from embedded_file import DataFile, Failure, quoted

#: Name and SQL type of a column.
Column: TypeAlias = tuple[str, str]


class Engine(ABC):
    """One open database."""

    @abstractmethod
    def version(self) -> str:
        """Return the library's version."""

    @abstractmethod
    def execute(self, sql: str) -> None:
        """Execute one statement that gives no rows."""

    @abstractmethod
    def script(self, name: str, sql: str, results: str | None) -> int | None:
        """Execute statements, each query to its last row.

        Args:
            name: What an error calls the text.
            sql: The statements.
            results: File that the rows of the last query go to, as CSV with a header.

        Returns:
            How many rows the last query had; None without a query.
        """

    @abstractmethod
    def columns(self, table: str) -> list[Column]:
        """Return the columns in order; none if there is no such table."""

    @abstractmethod
    def fill(self, file: DataFile, columns: Sequence[Column]) -> int:
        """Append a file to its table, which has these columns; return how many rows it has."""

    @abstractmethod
    def roll_back(self) -> None:
        """Undo the open transaction, if there is one."""

    @abstractmethod
    def close(self) -> None:
        """Bring everything into the file and let it go."""

    def load(self, files: Sequence[DataFile], schema: tuple[str, str] | None) -> int:
        """Load all the files or none; return the number of rows.

        Args:
            files: What to load.
            schema: Name and text of the SQL that makes the tables; None makes them from the
                headers, all columns text.
        """
        self.execute("BEGIN TRANSACTION")
        if schema is not None:
            self.script(*schema, None)
        rows = 0
        for file in files:
            columns = self._make_table(file) if schema is None else self._choose(file)
            rows += self.fill(file, columns)
        self.execute("COMMIT")
        return rows

    def _make_table(self, file: DataFile) -> list[Column]:
        if file.is_tbl:
            raise Failure(f"{file.name}: a .tbl file names no columns; give a schema_file")
        columns = [(name, "VARCHAR") for name in file.header()]
        declared = ", ".join(f"{quoted(name)} {kind}" for name, kind in columns)
        self.execute(f"DROP TABLE IF EXISTS {quoted(file.table)}")
        self.execute(f"CREATE TABLE {quoted(file.table)} ({declared})")
        return columns

    def _choose(self, file: DataFile) -> list[Column]:
        known = {name.lower(): (name, kind) for name, kind in self.columns(file.table)}
        if not known:
            raise Failure(f"{file.name}: the schema_file makes no table '{file.table}'")
        names = list(known) if file.is_tbl else file.header()
        strange = [name for name in names if name not in known]
        if strange:
            raise Failure(f"{file.name}:1: the table '{file.table}' has no column '{strange[0]}'")
        return [known[name] for name in names]
