"""RMLMapper as a program of this host, with a program in the place of Java."""

import json
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchyard.core.errors import ResourceError
from benchyard.core.redaction import Redaction
from resources import argument_engines
from tests.resources.containers import refusal

JAVA = f"""\
#!{sys.executable} -IS
import json, os, sys
given = sys.argv[1:]
print(json.dumps({{"arguments": given, "folder": os.getcwd()}}))
if "-o" in given:
    with open(given[given.index("-o") + 1], "w") as file:
        file.write("<s> <p> <o> .\\n")
sys.exit(3 if "fail" in given else 0)
"""


@pytest.fixture
def jar(tmp_path: Path) -> Path:
    path = tmp_path / "rmlmapper 6.jar"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nImplementation-Version: 6.2.1\n"
        )
    return path


@pytest.fixture
def mapper(jar: Path, tmp_path: Path, started: Callable[..., Any]) -> Any:
    java = tmp_path / "java"
    java.write_text(JAVA)
    java.chmod(0o755)

    return started("RMLMapperJar", jar=str(jar), java=str(java))


def said(mapper: Any) -> Any:
    return json.loads((mapper.workspace.kept / "01-map.stdout.txt").read_text())


def test_a_mapping_of_files(mapper: Any, jar: Path) -> None:
    result = mapper.execute_mapping("mapping.ttl", "out.nt", "ntriples")
    shared = mapper.workspace.shared
    assert said(mapper) == {
        "arguments": [
            *("-Xmx8000000000", "-Xms8000000000", "-jar", str(jar)),
            *("-m", str(shared / "mapping.ttl"), "-s", "ntriples"),
            *("-o", str(shared / "out.nt"), "-d"),
        ],
        "folder": str(shared.resolve()),
    }
    assert result.output.read_text() == "<s> <p> <o> .\n"
    assert result.values["exit_code"] == 0


def test_a_secret_password_is_in_no_argument(mapper: Any, database: dict[str, Any]) -> None:
    known = Redaction()
    known.add("s3same")
    mapper.execute_mapping(
        "mapping.ttl", "out.nt", "ntriples", **{**database, "rdb_password": "s3same"}
    )
    arguments = said(mapper)["arguments"]
    assert "s3same" not in arguments
    file = Path(arguments[arguments.index("-c") + 1])
    assert file.read_text() == "r2rml-password=s3same\n"
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_database_of_the_case_is_named_by_its_address(
    mapper: Any, database: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def addresses(labels: Any) -> dict[str, str]:
        assert labels == mapper.workspace.labels
        return {"postgresql": "172.18.0.2"}

    monkeypatch.setattr(argument_engines, "addresses", addresses)
    mapper.begin("01-map")
    mapper.execute_mapping("mapping.ttl", "out.nt", "ntriples", **database)
    assert said(mapper)["arguments"][-1] == "jdbc:postgresql://172.18.0.2:5432/db"


def test_sources_are_found_where_they_lie_on_this_host(mapper: Any) -> None:
    mapping = mapper.workspace.shared / "files.ttl"
    mapping.write_text(
        '<#m> <http://semweb.mmlab.be/ns/rml#source> "/data/shared/data.csv", "/else/b.csv", <#d> .'
    )
    mapper.execute_mapping("files.ttl", "out.nt", "ntriples")
    arguments = said(mapper)["arguments"]
    copy = Path(arguments[arguments.index("-m") + 1])
    assert f'"{mapper.workspace.shared}/data.csv"' in copy.read_text()
    assert '"/else/b.csv"' in copy.read_text()
    assert copy.parent == mapper.workspace.own


def test_an_error_names_no_password_and_a_missing_output_is_one(
    mapper: Any, database: dict[str, Any]
) -> None:
    said = refusal(lambda: mapper.execute(["fail", "-p", database["rdb_password"]]))
    assert "exit code 3" in said
    assert database["rdb_password"] not in said
    (mapper.workspace.shared / "out.nt").write_text("an earlier repetition's")
    said = refusal(lambda: mapper.execute(["--help"], "out.nt"))
    assert "did not write its output_file 'out.nt'" in said


def test_the_version_is_the_jars_own(engine: Any, jar: Path, tmp_path: Path) -> None:
    assert engine("RMLMapperJar", jar=str(jar)).version().startswith("6.2.1 (sha256:")
    bare = tmp_path / "bare.jar"
    bare.write_bytes(b"no archive")
    assert engine("RMLMapperJar", jar=str(bare)).version().startswith("bare.jar (sha256:")


def test_a_missing_jar_is_told_before_anything_is_measured(engine: Any) -> None:
    with pytest.raises(ResourceError, match="name RMLMapper's jar under 'jar'"):
        engine("RMLMapperJar", jar="/no/such.jar").initialize()
