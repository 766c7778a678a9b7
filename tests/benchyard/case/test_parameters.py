"""What a command takes, read from its annotations."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired, Optional, Required, TypedDict, Unpack

import pytest

from benchyard.case.parameters import schema_of, signature_of, type_name
from benchyard.case.resource import InputFile, OutputFile, OutputFolder, ScratchFolder
from benchyard.case.shape import Checker
from benchyard.core.model import Json, JsonObject

STRING: JsonObject = {"type": "string"}
INTEGER: JsonObject = {"type": "integer"}


class Fields(TypedDict):
    must: str
    may: NotRequired[int]


class Part(TypedDict):
    file: InputFile
    table: str


class Loose(TypedDict, total=False):
    file: Required[InputFile]
    rows: int


class Strict(TypedDict):
    table: str
    file: NotRequired[InputFile]
    rows: NotRequired[int]


class Commands:
    def all_kinds(
        self,
        one: InputFile,
        many: Sequence[InputFile] = (),
        parts: list[Part] | None = None,
        output: OutputFile | None = None,
        folder: OutputFolder = "out",
        scratch: ScratchFolder | None = None,
        table: str = "t",
    ) -> None:
        """Take everything.

        More text.
        """

    def nested(
        self,
        by_name: Mapping[str, InputFile] | None = None,
        pair: tuple[InputFile, str] | None = None,
        row: tuple[InputFile, ...] = (),
        strict: Strict | None = None,
        either: InputFile | list[InputFile] | None = None,
        deep: Mapping[str, list[Part]] | None = None,
    ) -> None:
        pass

    def open(self, first: str, /, *, second: int = 0, **rest: object) -> None:
        pass

    def grouped(self, first: str, **more: Unpack[Fields]) -> None:
        pass


def members(*required: str, **properties: Json) -> JsonObject:
    """Return the schema of an object that has these members and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": [*required],
        "additionalProperties": False,
    }


SCHEMAS: list[tuple[Any, JsonObject]] = [
    (str, {"type": "string"}),
    (int, {"type": "integer"}),
    (float, {"type": "number"}),
    (bool, {"type": "boolean"}),
    (type(None), {"type": "null"}),
    (InputFile, {"type": "string"}),
    (Annotated[int, "unit"], {"type": "integer"}),
    (Literal["a", 1], {"enum": ["a", 1]}),
    (str | None, {"anyOf": [STRING, {"type": "null"}]}),
    (Optional[int], {"anyOf": [INTEGER, {"type": "null"}]}),  # noqa: UP045
    (list[str], {"type": "array", "items": STRING}),
    (Sequence[int], {"type": "array", "items": INTEGER}),
    (dict[str, int], {"type": "object", "additionalProperties": INTEGER}),
    (Mapping[str, str], {"type": "object", "additionalProperties": STRING}),
    (
        tuple[str, int],
        {"type": "array", "prefixItems": [STRING, INTEGER], "minItems": 2, "maxItems": 2},
    ),
    (tuple[int, ...], {"type": "array", "items": INTEGER}),
    (Any, {}),
    (object, {}),
    (Part, members("file", "table", file=STRING, table=STRING)),
    (Loose, members("file", file=STRING, rows=INTEGER)),
    (Strict, members("table", table=STRING, file=STRING, rows=INTEGER)),
]


@pytest.mark.parametrize(("annotation", "schema"), SCHEMAS)
def test_schema_of_an_annotation(annotation: Any, schema: JsonObject) -> None:
    assert schema_of(annotation) == schema


@pytest.mark.parametrize(
    ("annotation", "name"),
    [
        (InputFile, "input file"),
        (OutputFolder | None, "output folder or null"),
        (Sequence[InputFile], "list of input file"),
        (tuple[int, ...], "list of integer"),
        (tuple[str, float], "[string, number]"),
        (NotRequired[bool], "boolean"),
        (Any, "anything"),
    ],
)
def test_types_have_names_for_people(annotation: Any, name: str) -> None:
    assert type_name(annotation) == name


def test_a_signature_leaves_self_out() -> None:
    signature = signature_of(Commands.all_kinds)
    assert signature.required == ("one",)
    assert next(iter(signature.annotations)) == "one"
    assert signature.defaults["folder"] == "out"
    assert signature.summary == "Take everything."
    assert not signature.open


def test_a_command_may_take_further_parameters() -> None:
    signature = signature_of(Commands.open)
    assert signature.open
    assert signature.schema()["additionalProperties"] is True
    assert list(signature.annotations) == ["first", "second"]
    assert Checker(signature.schema()).findings({"first": "x", "zzz": [1]}) == []


def test_members_of_a_group_are_parameters() -> None:
    signature = signature_of(Commands.grouped)
    schema = members("first", "must", first=STRING, must=STRING, may=INTEGER)
    assert signature.schema() == schema
    assert signature.defaults == {"may": None}


def test_a_command_without_annotations_takes_anything() -> None:
    made: dict[str, Any] = {}
    exec("def bare(self, anything, *more): pass", made)  # noqa: S102 - no checker wants to see it
    bare = made["bare"]
    signature = signature_of(bare)
    assert list(signature.annotations) == ["anything"]
    assert signature.schema()["properties"] == {"anything": {}}
    assert list(signature.files({"anything": "../x"})) == []
    assert signature.summary == ""


# -- files


def files(method: Any, **parameters: Json) -> list[tuple[str, str, tuple[str | int, ...]]]:
    return [(f.role.name, f.name, f.path) for f in signature_of(method).files(parameters)]


def test_files_of_every_role_are_found_where_they_stand() -> None:
    assert files(
        Commands.all_kinds,
        one="a",
        many=["b", "c"],
        parts=[{"file": "d", "table": "t"}, {"file": "e", "table": "u"}],
        output="f",
        folder="g",
        scratch="h",
        table="no file",
    ) == [
        ("INPUT", "a", ("one",)),
        ("INPUT", "b", ("many", 0)),
        ("INPUT", "c", ("many", 1)),
        ("INPUT", "d", ("parts", 0, "file")),
        ("INPUT", "e", ("parts", 1, "file")),
        ("OUTPUT", "f", ("output",)),
        ("OUTPUT_FOLDER", "g", ("folder",)),
        ("SCRATCH_FOLDER", "h", ("scratch",)),
    ]


def test_files_that_stand_in_defaults_are_found() -> None:
    assert files(Commands.all_kinds, one="a") == [
        ("INPUT", "a", ("one",)),
        ("OUTPUT_FOLDER", "out", ("folder",)),
    ]


def test_files_inside_of_containers_are_found() -> None:
    assert files(
        Commands.nested,
        by_name={"x": "a", "y": "b"},
        pair=["c", "no file"],
        row=["d", "e", "f"],
        strict={"table": "t", "file": "g"},
        either=["h", "i"],
        deep={"k": [{"file": "j", "table": "t"}]},
    ) == [
        ("INPUT", "a", ("by_name", "x")),
        ("INPUT", "b", ("by_name", "y")),
        ("INPUT", "c", ("pair", 0)),
        ("INPUT", "d", ("row", 0)),
        ("INPUT", "e", ("row", 1)),
        ("INPUT", "f", ("row", 2)),
        ("INPUT", "g", ("strict", "file")),
        ("INPUT", "h", ("either", 0)),
        ("INPUT", "i", ("either", 1)),
        ("INPUT", "j", ("deep", "k", 0, "file")),
    ]
    assert files(Commands.nested, either="a") == [("INPUT", "a", ("either",))]


@pytest.mark.parametrize("value", [None, 5, True, 1.5, [], {}, [None], {"file": 5}, [[["x"]]]])
def test_values_of_a_wrong_type_name_no_files(value: Json) -> None:
    names = ["one", "many", "parts", "output", "scratch"]
    assert files(Commands.all_kinds, **dict.fromkeys(names, value), folder=None) == []
    names = ["pair", "row", "strict", "deep"]
    assert files(Commands.nested, **dict.fromkeys(names, value)) == []
