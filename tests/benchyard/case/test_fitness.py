"""Whether steps fit the resource classes and the files that are there."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from benchyard.case.fitness import Fitness
from benchyard.case.inputs import Inputs
from benchyard.case.needs import StepNeeds
from benchyard.case.resource import commands_of
from benchyard.core.model import Json, JsonObject
from tests.benchyard.case.toys import REGISTRY, Toy


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    folder = tmp_path / "data" / "shared"
    (folder / "sub").mkdir(parents=True)
    for name in ("words.csv", "sub/inner.csv", "../secret"):
        (folder / name).write_text("a\n")
    links = {"linked.csv": "../secret", "linked_folder": "/etc", "sub/link": "../.."}
    links |= {"dangling": "nowhere", "self": "self", "below": "sub/nowhere"}
    for name, target in {**links, "alias.csv": "words.csv", "alias": "sub"}.items():
        (folder / name).symlink_to(target)
    return folder


def step(name: str = "play", /, needs: Any = None, **parameters: Any) -> JsonObject:
    made: JsonObject = {"resource": "Toy", "command": name, "parameters": parameters}
    return made if needs is None else {**made, "needs": needs}


def found(shared: Path, *steps: JsonObject, **keys: Json) -> list[tuple[str, str]]:
    """Return place and message of what is wrong, the place in short."""
    document: JsonObject = {"name": "n", "steps": [*steps], **keys}
    findings = Fitness(Inputs(shared), REGISTRY).findings(document, StepNeeds(steps))
    return [(".".join(map(str, path)), message) for path, message in findings]


# -- resources, commands, parameters


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("plai", "; did you mean 'play'?"),
        ("loadparts", "; did you mean 'load_parts'?"),
        ("x", "; known: anything, generate, load, load_parts, play"),
        *((name, "") for name in ("helper", "_private", "stop", "start", "__init__", "version")),
        *((name, "") for name in ("settings", "Settings")),
    ],
)
def test_defect_46_only_commands_can_be_called(shared: Path, name: str, hint: str) -> None:
    (place, message), *more = found(shared, step(name, parts=5))
    assert place == "steps.0.command"
    assert f"Toy has no command '{name}'{hint}" in message
    # Parameters of a misspelt command are checked as it was meant.
    assert [message[:16] for _, message in more] == ["must be an array"] * ("mean" in hint)
    assert list(commands_of(Toy)) == ["anything", "generate", "load", "load_parts", "play"]


def test_parameters_inside_of_parameters_are_checked(shared: Path) -> None:
    parts: list[Json] = [{"file": "words.csv"}, {"file": "words.csv", "table": "t", "tble": 1}, 7]
    assert found(shared, step("load_parts", parts=parts)) == [
        ("steps.0.parameters.parts.0", "lacks 'table'"),
        ("steps.0.parameters.parts.1.tble", "is unknown here; did you mean 'table'?"),
        ("steps.0.parameters.parts.2", "must be an object, not a number"),
    ]


# -- files


@pytest.mark.parametrize(
    "steps",
    [
        *([step(reads=name)] for name in ("words.csv", "./words.csv", "sub/inner.csv", "sub")),
        *([step(reads=name)] for name in ("sub//inner.csv", "alias.csv", "alias/inner.csv")),
        [step(makes="out.nt"), step(), step(reads="out.nt")],
        [step(makes="./o/out.nt"), step(reads="o//out.nt")],
        [step(fills="folder"), step(reads="folder/deep/part.nt")],
        [step(scratch="folder"), step(reads="folder")],
        [step("generate"), step(reads="made/a.tbl")],
        [step(makes="out.nt"), step(needs=["step1"], reads="out.nt")],
        # Two steps make it: it may be read after either.
        [step(makes="o"), step(reads="o"), step(makes="o"), step(reads="o")],
    ],
)
def test_inputs_are_there_or_made_by_earlier_steps(shared: Path, steps: list[JsonObject]) -> None:
    assert found(shared, *steps) == []


def test_an_input_deep_inside_the_parameters(shared: Path) -> None:
    parts: list[Json] = [{"file": n, "table": "t"} for n in ("words.csv", "../x", "absent")]
    places = [place for place, _ in found(shared, step("load_parts", parts=parts))]
    assert places == ["steps.0.parameters.parts.1.file", "steps.0.parameters.parts.2.file"]


ESCAPES = [
    *("/etc/passwd", "//etc/passwd", "..", "../metadata.json", "sub/../../x", "sub/.."),
    *("linked.csv", "linked_folder/passwd", "linked_folder", "linked_folder/new"),
    *("sub/link", "sub/link/deeper"),
]


ROLES = ("reads", "makes", "fills", "scratch")


@pytest.mark.parametrize(
    ("names", "roles", "message"),
    [
        (ESCAPES, ROLES, "leads out of data/shared; use a path inside it"),
        ([".", "./", "././."], ["makes"], "names data/shared itself; name a file in it"),
        (["words.csv", "sub", "sub/inner.csv", "./words.csv"], ROLES[1:], "would overwrite an in"),
        (["dangling", "self", "below"], ["reads"], "there is no file"),
        (["dangling", "self", "below"], ["makes"], "would overwrite an input"),
        (["a\x00b", "x" * 300, "words.csv/below", "x/" * 3000], ROLES[:2], "cannot be a file name"),
    ],
)
def test_names_of_files_that_cannot_be(
    shared: Path, names: Sequence[str], roles: Sequence[str], message: str
) -> None:
    for name, role in product(names, roles):
        [(place, said)] = found(shared, step(**{role: name}))
        assert place == f"steps.0.parameters.{role}"
        assert message in said
        assert len(said) < 400


def test_shared_itself_may_be_a_link(tmp_path: Path, shared: Path) -> None:
    (tmp_path / "elsewhere").symlink_to(shared)
    assert found(tmp_path / "elsewhere", step(reads="sub/inner.csv", makes="sub/new")) == []


def test_an_input_made_by_a_step_that_is_not_waited_for(shared: Path) -> None:
    message = "step {} makes 'out.nt', but this step does not wait for it (needs)"
    place = "steps.1.parameters.reads"
    apart = (step(makes="out.nt"), step(needs=[], reads="out.nt"))
    assert found(shared, *apart) == [(place, message.format(1))]
    later = (step(), step(reads="out.nt"), step(makes="out.nt"))
    assert found(shared, *later) == [(place, message.format(3))]
    assert found(shared, step("generate", folder="other"), step(reads="made/a.tbl")) != []


# -- checks


def check(shared: Path, declared: JsonObject, **parameters: Json) -> list[tuple[str, str]]:
    return found(shared, {**step(**parameters), "check": declared})


def test_the_expected_file_of_a_check_must_be_there(shared: Path) -> None:
    assert check(shared, {"equal": "words.csv"}, makes="out") == []
    wrong = {"absent.csv": "benchyard run --accept writes it", "dangling": "there is no file"}
    for name, sentence in {**wrong, "../x": "leads out of data/shared"}.items():
        [(place, message)] = check(shared, {"equal": name}, makes="out")
        assert place == "steps.0.check.equal"
        assert sentence in message


def test_a_check_of_several_outputs_says_which(shared: Path) -> None:
    assert check(shared, {"rows": 1}, makes="a", also_makes="b") == [
        ("steps.0.check.file", "is needed here: the step makes a and b")
    ]
    assert check(shared, {"rows": 1, "file": "b"}, makes="a", also_makes="b") == []
