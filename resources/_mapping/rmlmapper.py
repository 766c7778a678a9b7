"""How RMLMapper is called, in a container or on this host."""

from benchyard.core.redaction import known_forms
from resources._mapping.commands import Database
from resources._mapping.configuration import properties

#: Name of the file that a secret password is handed over in.
CONFIGURATION = "rmlmapper.properties"


def configuration(database: Database | None) -> str | None:
    """Return a configuration file with the password, where that is a secret; else None.

    A password that stands in the case is an argument, as in KROWN. So is one with a space, which
    RMLMapper's configuration cannot hold. Source: getOptionValues in rmlmapper-java's Main.java.
    """
    if database is None or " " in database.password or database.password not in known_forms():
        return None
    return properties({"r2rml-password": database.password})


def mapping_arguments(
    mapping: str, output: str, serialization: str, database: Database | None, configured: str = ""
) -> list[str]:
    """Return RMLMapper's arguments for a mapping, as KROWN gives them: duplicates are removed.

    Args:
        mapping: Path of the mapping file.
        output: Path of the file to write.
        configured: Path of the configuration with the password; else that is an argument, which
            who may list this host's processes can read meanwhile.
    """
    arguments = ["-m", mapping, "-s", serialization, "-o", output, "-d"]
    if database is not None:
        arguments += ["-u", database.username]
        arguments += ["-c", configured] if configured else ["-p", database.password]
        arguments += ["-dsn", database.jdbc_url(options=True)]
    return arguments
