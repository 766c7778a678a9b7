"""Soufflé: two containers, and its relations as RDF."""

from typing import Any

import pytest

from benchyard.core.errors import CommandFailedError

RULES = "/data/shared/Datalog_rules.rs"
TRIPLES = '<http://a>\t<http://p>\t"x y"\n'
QUADS = "<http://b>\t<http://p>\t_:n\t<http://g>\n"
TRANSLATE = ("java", "-Xmx8000000000", "-Xms8000000000", "-jar", "rulegen.jar")


@pytest.fixture
def souffle(engine: Any, calls: Any) -> Any:
    calls.makes = {
        RULES: ".decl triple",
        "/data/shared/triple.csv": TRIPLES,
        "/data/shared/quadruple.csv": QUADS,
    }
    return engine("Souffle")


def test_a_mapping_of_files(souffle: Any, calls: Any) -> None:
    result = souffle.execute_mapping("mapping.ttl", "out.nt", "ntriples")
    made, evaluated = calls.specs
    assert made.image == evaluated.image == "alloka/souffle:v1.0.0"
    assert made.command == (*TRANSLATE, "-m", "/data/shared/mapping.ttl")
    assert evaluated.command == (
        *("./bin/souffle", "-c", "-j", "12", RULES),
        *("-F", "/data/shared", "-D", "/data/shared/"),
    )
    assert result.output.read_text() == (
        '<http://a> <http://p> "x y" .\n<http://b> <http://p> _:n .\n'
    )


def test_graphs_are_kept_in_quads(souffle: Any) -> None:
    result = souffle.execute_mapping("mapping.ttl", "out.nq", "nquads")
    assert result.output.read_text().splitlines()[1] == "<http://b> <http://p> _:n <http://g> ."


def test_a_database(souffle: Any, calls: Any, database: dict[str, Any]) -> None:
    souffle.execute_mapping("mapping.ttl", "out.nt", "ntriples", **database)
    url = "jdbc:postgresql://PostgreSQL:5432/db"
    after = ("-u", "root", "-p", database["rdb_password"], "-dsn", url)
    assert calls.specs[0].command[-6:] == after
    assert database["rdb_password"] not in str(calls.specs[1])


def test_rules_of_a_mapping_in_a_folder_lie_beside_it(souffle: Any, calls: Any) -> None:
    folder = souffle.workspace.shared / "sub"
    folder.mkdir()
    (folder / "mapping.ttl").write_text("")
    calls.makes["/data/shared/sub/Datalog_rules.rs"] = ""
    souffle.execute_mapping("sub/mapping.ttl", "out.nt", "ntriples")
    rules = "/data/shared/sub/Datalog_rules.rs"
    assert calls.specs[1].command[4:7] == (rules, "-F", "/data/shared/sub")


def test_no_rules_are_an_error(souffle: Any, calls: Any) -> None:
    calls.makes = {}
    with pytest.raises(CommandFailedError, match=r"made no rules of 'mapping\.ttl'"):
        souffle.execute_mapping("mapping.ttl", "out.nt", "ntriples")


def test_no_relations_are_an_error(souffle: Any, calls: Any) -> None:
    calls.makes = {RULES: ""}
    with pytest.raises(CommandFailedError, match=r"wrote neither triple\.csv nor quadruple\.csv"):
        souffle.execute_mapping("mapping.ttl", "out.nt", "ntriples")


def test_execute(souffle: Any, calls: Any) -> None:
    souffle.execute(["/data/shared/own.dl", "-D", "/data/shared"])
    before = ("./bin/souffle", "-c", "-j", "12")
    assert calls.command == (*before, "/data/shared/own.dl", "-D", "/data/shared")
