"""How each engine is called, and what it is given."""

from configparser import ConfigParser, ExtendedInterpolation
from typing import Any

import pytest
from pyoxigraph import RdfFormat, parse

from benchyard.case.parameters import signature_of
from benchyard.core.errors import CommandFailedError
from benchyard.core.redaction import Redaction
from resources._containers import engine_config
from tests.resources.containers import refusal

JAVA = ("java", "-Xmx8000000000", "-Xms8000000000")
MORPH_KGC, SDM = "/data/config_morphkgc.ini", "/data/config_sdmrdfizer.ini"
STREAMER, RDFIZER = "/rmlstreamer/rmlstreamer.jar", "sdm-rdfizer/rdfizer/run_rdfizer.py"
MORPH_PATH = ".:morph-rdb-dist-3.12.6.jar:dependency/*"
MAIN = "es.upm.fi.dia.oeg.morph.r2rml.rdb.engine.MorphRDBRunner"


ENGINES = {
    "RMLMapper": ("kgconstruct/rmlmapper:v6.0.0", (*JAVA, "-jar", "/rmlmapper/rmlmapper.jar")),
    "RMLStreamer": ("kgconstruct/rmlstreamer:v2.5.0", (*JAVA, "-jar", STREAMER)),
    "MorphKGC": ("kgconstruct/morph-kgc:v2.2.0", ("python3", "-m", "morph_kgc")),
    "MorphRDB": ("kgconstruct/morph-rdb:v3.12.5", (*JAVA, "-cp", MORPH_PATH, MAIN)),
    "SDMRDFizer": ("kgconstruct/sdm-rdfizer:v4.6.6.5", ("python3", RDFIZER)),
    "Souffle": ("alloka/souffle:v1.0.0", ("./bin/souffle", "-c", "-j", "12")),
    "OntopMaterialize": ("kgconstruct/ontop:v5.0.0", ("/ontop/ontop", "materialize", "-f")),
    "YARRRML": ("kgconstruct/yarrrml:v1.3.6", ()),
}

SHARED_MAPPING = "/data/shared/mapping.ttl"
CONVERTED = "/data/mapping_converted.rml.ttl"
FILES = ("mapping.ttl", "out.nt", "ntriples")
POSTGRESQL = "jdbc:postgresql://PostgreSQL:5432/db"
MYSQL = "jdbc:mysql://PostgreSQL:5432/db?allowPublicKeyRetrieval=true&useSSL=false"
BOTH = pytest.mark.parametrize("kind", ["PostgreSQL", "MySQL"])


def check_call(calls: Any, name: str, *after: str) -> None:
    image, begin = ENGINES[name]
    assert calls.command == (*begin, *after)
    assert (calls.specs[0].image, calls.specs[0].entrypoint) == (image, None)
    assert calls.specs[0].aliases == (name,)


def read(text: str) -> dict[str, dict[str, str]]:
    """Read a configuration as Morph-KGC and SDM-RDFizer do."""
    parser = ConfigParser(interpolation=ExtendedInterpolation())
    parser.read_string(text)
    return {name: dict(parser[name]) for name in parser.sections()}


# -- all of them


@pytest.mark.parametrize(
    ("name", "arguments", "after"),
    [
        ("RMLMapper", ["-v", "a b; $(id)"], None),
        ("RMLStreamer", ["toTCPSocket", "-s", "localhost:5005"], None),
        ("MorphKGC", [], [MORPH_KGC]),
        ("MorphKGC", ["/data/shared/own.ini"], None),
        ("MorphRDB", [], ["/data", "config.properties"]),
        ("MorphRDB", ["/data/shared", "own"], None),
        ("SDMRDFizer", [], [SDM]),
        ("SDMRDFizer", ["own.ini"], None),
        ("Souffle", ["/data/shared/own.dl", "-D", "/data/shared"], None),
    ],
)
def test_execute(
    engine: Any, calls: Any, name: str, arguments: list[str], after: list[str] | None
) -> None:
    engine(name).execute(arguments)
    check_call(calls, name, *(arguments if after is None else after))


@pytest.mark.parametrize(
    ("name", "written", "after"),
    [
        (
            "RMLMapper",
            "/data/shared/out.nt",
            ["-m", SHARED_MAPPING, "-s", "ntriples", "-o", "/data/shared/out.nt", "-d"],
        ),
        ("RMLStreamer", "/data/output/1", ["toFile", "-o", "/data/output", "-m", SHARED_MAPPING]),
        ("MorphKGC", "/data/output/out.nt", [MORPH_KGC]),
        ("SDMRDFizer", "/data/output/out.nt", [SDM]),
    ],
)
def test_a_mapping_of_files(
    engine: Any, calls: Any, name: str, written: str, after: list[str]
) -> None:
    calls.makes = {written: "<s> <p> <o> .\n"}
    resource = engine(name)
    result = resource.execute_mapping(*FILES)
    check_call(calls, name, *after)
    assert calls.environment == {}
    assert result.output == resource.workspace.shared / "out.nt"
    assert result.output.read_text() == "<s> <p> <o> .\n"
    assert result.values["run_s"] == 0.5


def test_what_is_seen_of_this_host(engine: Any, calls: Any) -> None:
    calls.makes = {"/data/shared/out.nt": ""}
    workspace = engine("RMLMapper").workspace
    engine("RMLMapper").execute_mapping(*FILES)
    calls.makes = {"/data/output/out.nt": ""}
    engine("MorphKGC").execute_mapping(*FILES)
    bare, more = (
        {mount.target: (mount.source, mount.read_only) for mount in spec.mounts}
        for spec in calls.specs
    )
    assert bare == {
        "/data/shared": (workspace.shared, False),
        str(workspace.inputs): (workspace.inputs, True),
    }
    # Its configuration lies outside of the results, and is its owner's.
    assert more["/data"] == (workspace.own, True)
    assert not more["/data/output"][1]
    assert calls.modes == {"config_morphkgc.ini": 0o600}


@pytest.mark.parametrize("name", ["RMLStreamer", "MorphKGC"])
def test_files_are_joined_in_order_and_lines_stay_whole(engine: Any, calls: Any, name: str) -> None:
    calls.makes = {
        "/data/output/0": "",
        "/data/output/2": "<d> .\n",
        "/data/output/.1.inprogress": "<a> .\n<b> .",
        "/data/output/1": "<c> .\n",
    }
    resource = engine(name)
    result = resource.execute_mapping("mapping.ttl", "sub/out.nt", "ntriples")
    assert result.output.read_text() == "<a> .\n<b> .\n<c> .\n<d> .\n"
    assert result.values["files"] == 4
    left = {path.name for path in resource.workspace.shared.iterdir()}
    assert left == {"mapping.ttl", "data.csv", "sub"}


def test_no_file_is_an_error_but_where_no_triples_make_none(engine: Any, calls: Any) -> None:
    said = refusal(lambda: engine("MorphKGC").execute_mapping(*FILES))
    assert "wrote no file for its output 'out.nt'" in said
    result = engine("RMLStreamer").execute_mapping(*FILES)
    assert result.output.read_bytes() == b""
    assert result.values["files"] == 0
    assert calls.specs


def test_a_step_that_is_wrong_runs_nothing_and_an_earlier_output_is_no_new_one(
    engine: Any, calls: Any, database: dict[str, Any]
) -> None:
    mapper = engine("RMLMapper")
    said = refusal(lambda: mapper.execute_mapping("mapping.ttl", "data.csv", "ntriples"))
    assert "would overwrite an input" in said
    parts = {name: database[name] for name in ("rdb_username", "rdb_password")}
    said = refusal(lambda: mapper.execute_mapping(*FILES, **parts))
    assert "named in part: rdb_host, rdb_port, rdb_name, rdb_type missing" in said
    assert database["rdb_password"] not in said
    assert calls.specs == []
    (mapper.workspace.shared / "out.nt").write_text("old")
    assert "did not write" in refusal(lambda: mapper.execute_mapping(*FILES))


# -- databases


@BOTH
def test_defect_40_rmlmapper_is_told_a_database_without_a_shell(
    engine: Any, calls: Any, database: dict[str, Any], kind: str
) -> None:
    calls.makes = {"/data/shared/out.nt": ""}
    # Secret or not: a password with a space its configuration cannot hold.
    known = Redaction()
    known.add(database["rdb_password"])
    engine("RMLMapper").execute_mapping(*FILES, **database | {"rdb_type": kind})
    after = calls.command[calls.command.index("-d") + 1 :]
    url = POSTGRESQL if kind == "PostgreSQL" else MYSQL
    assert after == ("-u", "root", "-p", database["rdb_password"], "-dsn", url)


def test_a_secret_password_is_in_no_argument(
    engine: Any, calls: Any, database: dict[str, Any]
) -> None:
    calls.makes = {"/data/shared/out.nt": ""}
    known, secret = Redaction(), {"rdb_password": "pa$$\\w%rd:'#=!"}
    known.add(secret["rdb_password"])
    engine("RMLMapper").execute_mapping(*FILES, **(database | secret))
    after = calls.command[calls.command.index("-d") + 1 : -1]
    assert after == ("-u", "root", "-c", "/rmlmapper.properties", "-dsn")
    (mount,) = (one for one in calls.specs[0].mounts if one.target == "/rmlmapper.properties")
    assert mount.read_only
    assert mount.source.stat().st_mode & 0o777 == 0o600
    assert mount.source.read_text() == "r2rml-password=pa$$\\u005cw%rd:'#=!\n"


def test_rmlstreamer_gets_a_copy_of_the_mapping_that_names_the_database(
    engine: Any, calls: Any, database: dict[str, Any]
) -> None:
    calls.makes = {"/data/output/1": "<a> .\n"}
    resource = engine("RMLStreamer")
    resource.execute_mapping(*FILES, **database)
    assert calls.command[-2:] == ("-m", CONVERTED)
    triples = parse(calls.seen[0][CONVERTED], format=RdfFormat.TURTLE)
    objects = {getattr(quad.object, "value", "") for quad in triples}
    assert objects >= {POSTGRESQL, "jdbc:postgresql", "root", database["rdb_password"]}
    assert calls.modes == {"mapping_converted.rml.ttl": 0o600}
    assert database["rdb_password"] not in str(calls.specs[0])
    kept = [path for path in resource.workspace.shared.rglob("*") if path.is_file()]
    assert not any(database["rdb_password"] in path.read_text() for path in kept)


@BOTH
def test_morph_rdb_gets_properties(
    engine: Any, calls: Any, database: dict[str, Any], kind: str
) -> None:
    calls.makes = {"/data/shared/sub/out.nq": ""}
    parameters = database | {"rdb_type": kind, "rdb_password": "root"}
    engine("MorphRDB").execute_mapping("mapping.ttl", "sub/out.nq", "nquads", **parameters)
    check_call(calls, "MorphRDB", "/data", "config.properties")
    drivers = {"PostgreSQL": "org.postgresql.Driver", "MySQL": "com.mysql.jdbc.Driver"}
    assert calls.seen[0]["/data/config.properties"].splitlines() == [
        "mappingdocument.file.path=shared/mapping.ttl",
        "output.file.path=shared/sub/out.nq",
        "output.rdflanguage=N-QUADS",
        "database.name[0]=db",
        f"database.driver[0]={drivers[kind]}",
        f"database.type[0]={kind.lower()}",
        f"database.url[0]={POSTGRESQL if kind == 'PostgreSQL' else MYSQL}",
        "database.user[0]=root",
        "database.pwd[0]=root",
        "no_of_database=1",
    ]
    assert calls.modes == {"config.properties": 0o600}


@pytest.mark.parametrize(
    ("serialization", "theirs", "kind", "dbtype"),
    [
        ("ntriples", "n-triples", None, {}),
        ("nquads", "n-triples", "PostgreSQL", {"dbtype": "postgres"}),
        ("turtle", "turtle", "MySQL", {"dbtype": "mysql"}),
    ],
)
def test_sdm_rdfizer_gets_a_configuration(
    engine: Any,
    calls: Any,
    database: dict[str, Any],
    serialization: str,
    theirs: str,
    kind: str | None,
    dbtype: dict[str, str],
) -> None:
    calls.makes = {"/data/output/out.nt": ""}
    more = database | {"rdb_type": kind} if kind else {}
    engine("SDMRDFizer").execute_mapping("mapping.ttl", "out.nt", serialization, **more)
    password, settings = database["rdb_password"], read(calls.seen[0][SDM])
    access = {"user": "root", "password": password, "host": "PostgreSQL", "port": "5432"}
    where = {"mapping": CONVERTED, "db": "db", **access} if kind else {"mapping": SHARED_MAPPING}
    assert settings["default"] == {"main_directory": "/data/shared"}
    assert settings["dataset1"] == {"name": "out", **where}
    written = {"output_folder": "/data/output", "name": "out", "output_format": theirs}
    written |= {"number_of_datasets": "1", "all_in_one_file": "yes", "remove_duplicate": "yes"}
    written |= {"enrichment": "yes", "ordered": "no", "large_file": "false"}
    assert settings["datasets"] == written | dbtype
    assert set(calls.modes.values()) == {0o600}
    assert password not in str(calls.specs[0])


# -- Soufflé, with two containers


RULES = "/data/shared/Datalog_rules.rs"
TRIPLES = '<http://a>\t<http://p>\t"x y"\n'
QUADS = "<http://b>\t<http://p>\t_:n\t<http://g>\n"


@pytest.fixture
def souffle(engine: Any, calls: Any) -> Any:
    calls.makes = {
        RULES: ".decl triple",
        "/data/shared/triple.csv": TRIPLES,
        "/data/shared/quadruple.csv": QUADS,
    }
    return engine("Souffle")


def test_souffle_translates_and_evaluates(
    souffle: Any, calls: Any, database: dict[str, Any]
) -> None:
    result = souffle.execute_mapping(*FILES, **database)
    made, evaluated = calls.specs
    assert made.image == evaluated.image == ENGINES["Souffle"][0]
    access = ("-u", "root", "-p", database["rdb_password"], "-dsn", POSTGRESQL)
    assert made.command == (*JAVA, "-jar", "rulegen.jar", "-m", SHARED_MAPPING, *access)
    folders = ("-F", "/data/shared", "-D", "/data/shared/")
    assert evaluated.command == (*ENGINES["Souffle"][1], RULES, *folders)
    triple, node = '<http://a> <http://p> "x y" .\n', "<http://b> <http://p> _:n"
    assert result.output.read_text() == f"{triple}{node} .\n"
    quads = souffle.execute_mapping("mapping.ttl", "out.nq", "nquads").output
    assert quads.read_text() == f"{triple}{node} <http://g> .\n"


def test_rules_of_a_mapping_in_a_folder_lie_beside_it(souffle: Any, calls: Any) -> None:
    folder = souffle.workspace.shared / "sub"
    folder.mkdir()
    (folder / "mapping.ttl").write_text("")
    rules = "/data/shared/sub/Datalog_rules.rs"
    calls.makes[rules] = ""
    souffle.execute_mapping("sub/mapping.ttl", "out.nt", "ntriples")
    assert calls.specs[0].command[-2:] == ("-m", "/data/shared/sub/mapping.ttl")
    assert calls.specs[1].command[4:7] == (rules, "-F", "/data/shared/sub")


def test_neither_rules_nor_relations_are_an_error(souffle: Any, calls: Any) -> None:
    calls.makes = {}
    with pytest.raises(CommandFailedError, match=r"made no rules of 'mapping\.ttl'"):
        souffle.execute_mapping(*FILES)
    calls.makes = {RULES: ""}
    with pytest.raises(CommandFailedError, match=r"wrote neither triple\.csv nor quadruple\.csv"):
        souffle.execute_mapping(*FILES)


# -- Ontop and YARRRML


@BOTH
def test_ontop_materializes(engine: Any, calls: Any, database: dict[str, Any], kind: str) -> None:
    calls.makes = {"/data/shared/out.nt": "<a> <b> <c> .\n"}
    parameters = database | {"rdb_type": kind, "rdb_password": "root"}
    resource = engine("OntopMaterialize", environment={"ONTOP_LOG_LEVEL": "debug"}, memory="1GB")
    result = resource.execute_mapping(*FILES, **parameters)
    mapping = ("-m", "/data/mapping_converted.r2rml.ttl", "-o", "/data/shared/out.nt")
    check_call(calls, "OntopMaterialize", "ntriples", *mapping, "-p", "/data/config.properties")
    heap = "-Xmx536870912 -Xms536870912"
    assert calls.environment == {"ONTOP_JAVA_ARGS": heap, "ONTOP_LOG_LEVEL": "debug"}
    drivers = {"PostgreSQL": "org.postgresql.Driver", "MySQL": "com.mysql.cj.jdbc.Driver"}
    assert calls.seen[0]["/data/config.properties"].splitlines() == [
        f"jdbc.url=jdbc:{kind.lower()}://PostgreSQL:5432/db",
        f"jdbc.driver={drivers[kind]}",
        "jdbc.user=root",
        "jdbc.password=root",
    ]
    assert set(calls.modes.values()) == {0o600}
    assert result.output.read_text() == "<a> <b> <c> .\n"


def test_ontops_endpoint(engine: Any) -> None:
    endpoint = engine("OntopVirtualize")
    config: Any = engine_config(endpoint._specification())
    bound = config["HostConfig"]["PortBindings"]
    assert bound == {"8888/tcp": [{"HostIp": "127.0.0.1", "HostPort": ""}]}
    assert "ONTOP_LOG_LEVEL=info" in config["Env"]
    signature = signature_of(endpoint.execute_mapping)
    assert "output_file" not in signature.annotations
    properties: Any = signature.schema()["properties"]
    formats = "ntriples nquads turtle rdfjson rdfxml jsonld csv"
    assert properties["serialization"]["enum"] == formats.split()


@pytest.mark.parametrize("pretty", [True, False])
@pytest.mark.parametrize("r2rml", [True, False])
def test_yarrrml(engine: Any, calls: Any, pretty: bool, r2rml: bool) -> None:
    calls.makes = {"/data/shared/out.ttl": "<a> <b> <c> .\n"}
    result = engine("YARRRML").transform_mapping("data.csv", "out.ttl", r2rml=r2rml, pretty=pretty)
    files = ("-i", "/data/shared/data.csv", "-o", "/data/shared/out.ttl")
    more = (*(("-c", "-f", "R2RML") if r2rml else ()), *(("-p",) if pretty else ()))
    check_call(calls, "YARRRML", *files, *more)
    assert result.output.read_text() == "<a> <b> <c> .\n"
