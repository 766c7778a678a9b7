"""What a command takes, read from its annotations."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired, Optional, Required, TypedDict

import pytest

from benchyard.case.parameters import schema_of, signature_of, type_name
from benchyard.case.resource import InputFile, OutputFile, OutputFolder, ScratchFolder
from benchyard.case.shape import Checker
from benchyard.core.model import Json, JsonObject

STRING: JsonObject = {"type": "string"}
INTEGER: JsonObject = {"type": "integer"}
TWO: JsonObject = {"minItems": 2, "maxItems": 2}


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
        *,
        by_name: Mapping[str, InputFile] | None = None,
        pair: tuple[InputFile, str] | None = None,
        row: tuple[InputFile, ...] = (),
        strict: Strict | None = None,
        either: InputFile | list[InputFile] | None = None,
        deep: Mapping[str, list[Part]] | None = None,
    ) -> None:
        """Take everything.

        More text.
        """

    def open(self, first: str, /, *, second: int = 0, **rest: object) -> None:
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
    (str, STRING),
    (int, INTEGER),
    (float, {"type": "number"}),
    (bool, {"type": "boolean"}),
    (type(None), {"type": "null"}),
    (InputFile, STRING),
    (Annotated[int, "unit"], INTEGER),
    (Literal["a", 1], {"enum": ["a", 1]}),
    (str | None, {"anyOf": [STRING, {"type": "null"}]}),
    (Optional[int], {"anyOf": [INTEGER, {"type": "null"}]}),  # noqa: UP045
    (list[str], {"type": "array", "items": STRING}),
    (Sequence[int], {"type": "array", "items": INTEGER}),
    (dict[str, int], {"type": "object", "additionalProperties": INTEGER}),
    (Mapping[str, str], {"type": "object", "additionalProperties": STRING}),
    (tuple[str, int], {"type": "array", "prefixItems": [STRING, INTEGER], **TWO}),
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


def test_types_have_names_for_people() -> None:
    names: list[tuple[Any, str]] = [
        (InputFile, "input file"),
        (Optional[OutputFolder], "output folder or null"),  # noqa: UP045
        (Sequence[InputFile], "list of input file"),
        (tuple[int, ...], "list of integer"),
        (tuple[str, float], "[string, number]"),
        (NotRequired[bool], "boolean"),
        (Any, "anything"),
    ]
    assert [(annotation, type_name(annotation)) for annotation, _ in names] == names


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


def test_a_command_without_annotations_takes_anything() -> None:
    made: dict[str, Any] = {}
    exec("def bare(self, anything, *more): pass", made)  # noqa: S102 - no checker wants to see it
    signature = signature_of(made["bare"])
    assert signature.schema()["properties"] == {"anything": {}}
    assert list(signature.files({"anything": "../x"})) == []
    assert signature.summary == ""


# -- files


def files(**parameters: Json) -> list[tuple[str, str, tuple[str | int, ...]]]:
    found = signature_of(Commands.all_kinds).files(parameters)
    return [(f.role.name, f.name, f.path) for f in found]


IN = "INPUT"


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("one", "a", [(IN, "a", ())]),
        ("many", ["b", "c"], [(IN, "b", (0,)), (IN, "c", (1,))]),
        ("parts", [{"file": "d", "table": "t"}], [(IN, "d", (0, "file"))]),
        ("output", "f", [("OUTPUT", "f", ())]),
        ("folder", "g", [("OUTPUT_FOLDER", "g", ())]),
        ("scratch", "h", [("SCRATCH_FOLDER", "h", ())]),
        ("table", "no file", []),
        ("by_name", {"x": "i"}, [(IN, "i", ("x",))]),
        ("pair", ["j", "no file"], [(IN, "j", (0,))]),
        ("row", ["k", "l"], [(IN, "k", (0,)), (IN, "l", (1,))]),
        ("strict", {"table": "t", "file": "m"}, [(IN, "m", ("file",))]),
        ("either", "a", [(IN, "a", ())]),
        ("either", ["n"], [(IN, "n", (0,))]),
        ("deep", {"k": [{"file": "o", "table": "t"}]}, [(IN, "o", ("k", 0, "file"))]),
    ],
)
def test_files_of_every_role_are_found_where_they_stand(
    name: str, value: Json, found: list[tuple[str, str, tuple[str | int, ...]]]
) -> None:
    wanted = [(role, file, (name, *path)) for role, file, path in found]
    assert files(**{"folder": None, name: value}) == wanted
    # The folder stands in a default.
    assert name == "folder" or ("OUTPUT_FOLDER", "out", ("folder",)) in files(**{name: value})


@pytest.mark.parametrize("value", [None, 5, True, 1.5, [], {}, [None], {"file": 5}, [[["x"]]]])
def test_values_of_a_wrong_type_name_no_files(value: Json) -> None:
    names = ["one", "many", "parts", "output", "scratch", "pair", "row", "strict", "deep"]
    assert files(**dict.fromkeys(names, value), folder=None) == []
