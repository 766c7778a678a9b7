"""RMLMapper: how it is called."""

from typing import Any

import pytest

from benchyard.core.errors import CommandFailedError
from benchyard.core.redaction import Redaction

HALF = ["-Xmx8000000000", "-Xms8000000000"]
CALL = ["java", *HALF, "-jar", "/rmlmapper/rmlmapper.jar"]


def test_a_mapping_of_files(engine: Any, calls: Any) -> None:
    calls.makes = {"/data/shared/out.nt": "<s> <p> <o> .\n"}
    result = engine("RMLMapper").execute_mapping("mapping.ttl", "out.nt", "ntriples")
    files = ["-m", "/data/shared/mapping.ttl", "-s", "ntriples", "-o", "/data/shared/out.nt", "-d"]
    assert calls.command == (*CALL, *files)
    assert calls.specs[0].image == "kgconstruct/rmlmapper:v6.0.0"
    assert calls.specs[0].entrypoint is None
    assert calls.specs[0].aliases == ("RMLMapper",)
    assert calls.environment == {}
    assert result.output.read_text() == "<s> <p> <o> .\n"
    assert result.values["run_s"] == 0.5


def test_only_the_shared_folder_and_the_inputs_are_seen(engine: Any, calls: Any) -> None:
    calls.makes = {"/data/shared/out.nt": ""}
    resource = engine("RMLMapper")
    resource.execute_mapping("mapping.ttl", "out.nt", "ntriples")
    seen = {(mount.source, mount.target, mount.read_only) for mount in calls.specs[0].mounts}
    workspace = resource.workspace
    assert seen == {
        (workspace.shared, "/data/shared", False),
        (workspace.inputs, str(workspace.inputs), True),
    }


@pytest.mark.parametrize(
    ("kind", "url"),
    [
        ("PostgreSQL", "jdbc:postgresql://PostgreSQL:5432/db"),
        (
            "MySQL",
            "jdbc:mysql://PostgreSQL:5432/db?allowPublicKeyRetrieval=true&useSSL=false",
        ),
    ],
)
def test_defect_40_a_database_is_named_without_a_shell(
    engine: Any, calls: Any, database: dict[str, Any], kind: str, url: str
) -> None:
    calls.makes = {"/data/shared/out.nq": ""}
    parameters = database | {"rdb_type": kind}
    engine("RMLMapper").execute_mapping("mapping.ttl", "out.nq", "nquads", **parameters)
    after = calls.command[calls.command.index("-d") + 1 :]
    assert after == ("-u", "root", "-p", database["rdb_password"], "-dsn", url)


def test_a_secret_password_is_in_no_argument(
    engine: Any, calls: Any, database: dict[str, Any]
) -> None:
    calls.makes = {"/data/shared/out.nq": ""}
    known, secret = Redaction(), {"rdb_password": "pa$$\\w%rd:'#=!"}
    known.add(secret["rdb_password"])
    engine("RMLMapper").execute_mapping("mapping.ttl", "out.nq", "nquads", **(database | secret))
    after = calls.command[calls.command.index("-d") + 1 : -1]
    assert after == ("-u", "root", "-c", "/rmlmapper.properties", "-dsn")
    (mount,) = (one for one in calls.specs[0].mounts if one.target == "/rmlmapper.properties")
    assert mount.read_only
    assert mount.source.stat().st_mode & 0o777 == 0o600
    assert mount.source.read_text() == "r2rml-password=pa$$\\\\w%rd:'#=!\n"


def test_one_with_a_space_its_configuration_cannot_hold(
    engine: Any, calls: Any, database: dict[str, Any]
) -> None:
    calls.makes = {"/data/shared/out.nq": ""}
    known = Redaction()
    known.add(database["rdb_password"])
    engine("RMLMapper").execute_mapping("mapping.ttl", "out.nq", "nquads", **database)
    assert database["rdb_password"] in calls.command


def test_execute_passes_arguments_on(engine: Any, calls: Any) -> None:
    engine("RMLMapper").execute(["-v", "a b; $(id)"])
    assert calls.command == (*CALL, "-v", "a b; $(id)")


def test_an_earlier_output_is_not_taken_for_a_new_one(engine: Any, calls: Any) -> None:
    resource = engine("RMLMapper")
    calls.makes = {"/data/shared/out.nt": "old"}
    resource.execute_mapping("mapping.ttl", "out.nt", "ntriples")
    calls.makes = {}
    with pytest.raises(CommandFailedError, match="did not write"):
        resource.execute_mapping("mapping.ttl", "out.nt", "ntriples")


def test_a_database_in_part_is_an_error_without_the_password(
    engine: Any, calls: Any, database: dict[str, Any]
) -> None:
    del database["rdb_port"], database["rdb_name"]
    with pytest.raises(CommandFailedError, match="rdb_port, rdb_name missing") as failed:
        engine("RMLMapper").execute_mapping("mapping.ttl", "out.nt", "ntriples", **database)
    assert database["rdb_password"] not in str(failed.value)
    assert calls.specs == []


def test_an_output_never_overwrites_an_input(engine: Any, calls: Any) -> None:
    with pytest.raises(CommandFailedError, match="would overwrite an input"):
        engine("RMLMapper").execute_mapping("mapping.ttl", "data.csv", "ntriples")
    assert calls.specs == []
