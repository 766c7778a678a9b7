"""The relational database that a mapping reads: as steps name it, and as programs want it named."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias
from urllib.parse import quote

from benchyard.core.errors import CommandFailedError

#: What KROWN's cases write as ``rdb_type``.
DatabaseType: TypeAlias = Literal["MySQL", "PostgreSQL"]

_JDBC = {"MySQL": "jdbc:mysql", "PostgreSQL": "jdbc:postgresql"}
_SQLALCHEMY = {"MySQL": "mysql+pymysql", "PostgreSQL": "postgresql+psycopg2"}
#: MySQL's driver refuses its own default way to authenticate without them. Source: KROWN.
_MYSQL_OPTIONS = "?allowPublicKeyRetrieval=true&useSSL=false"


@dataclass(frozen=True, slots=True)
class Database:
    """A relational database.

    Args:
        host: Host name; the class name of a resource of the same case, or any other.
        name: Of the database on its server.
    """

    username: str
    password: str = field(repr=False)
    host: str
    port: int
    name: str
    kind: DatabaseType

    @property
    def driver(self) -> str:
        """The begin of its JDBC URL, such as ``jdbc:mysql``."""
        return _JDBC[self.kind]

    def jdbc_url(self, *, options: bool = False) -> str:
        """Return how a Java program finds it.

        Args:
            options: Whether what MySQL's driver needs beside the address stands in it.
        """
        more = _MYSQL_OPTIONS if options and self.kind == "MySQL" else ""
        return f"{self.driver}://{self.host}:{self.port}/{self.name}{more}"

    def sqlalchemy_url(self) -> str:
        """Return how a Python program finds it, user and password included."""
        who = f"{quote(self.username, safe='')}:{quote(self.password, safe='')}"
        return f"{_SQLALCHEMY[self.kind]}://{who}@{self.host}:{self.port}/{self.name}"


def database_of(
    username: str | None,
    password: str | None,
    host: str | None,
    port: int | None,
    name: str | None,
    kind: DatabaseType | None,
) -> Database | None:
    """Return the database that a step names, or None if it names none.

    Raises:
        CommandFailedError: If it names one in part.
    """
    given = {
        "rdb_username": username,
        "rdb_password": password,
        "rdb_host": host,
        "rdb_port": port,
        "rdb_name": name,
        "rdb_type": kind,
    }
    missing = [parameter for parameter, value in given.items() if value is None]
    if len(missing) == len(given):
        return None
    if username is None or password is None or host is None:
        raise _in_part(missing)
    if port is None or name is None or kind is None:
        raise _in_part(missing)
    return Database(username, password, host, port, name, kind)


def _in_part(missing: list[str]) -> CommandFailedError:
    return CommandFailedError(
        f"the database is named in part: {', '.join(missing)} missing; give all six 'rdb_' "
        "parameters, or none for a mapping of files"
    )
