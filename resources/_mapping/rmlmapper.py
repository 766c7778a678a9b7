"""How RMLMapper is called, in a container or on this host."""

from resources._mapping.databases import Database


def mapping_arguments(
    mapping: str, output: str, serialization: str, database: Database | None
) -> list[str]:
    """Return RMLMapper's arguments for a mapping, as KROWN gives them: duplicates are removed.

    The password stands among them: who may list this host's processes can read it meanwhile.

    Args:
        mapping: Path of the mapping file.
        output: Path of the file to write.
    """
    arguments = ["-m", mapping, "-s", serialization, "-o", output, "-d"]
    if database is not None:
        arguments += ["-u", database.username, "-p", database.password]
        arguments += ["-dsn", database.jdbc_url(options=True)]
    return arguments
