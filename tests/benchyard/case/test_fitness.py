"""Whether steps fit the resource classes and the files that are there."""

from pathlib import Path
from typing import Any

import pytest

from benchyard.case.fitness import Fitness
from benchyard.case.inputs import Inputs
from benchyard.case.needs import StepNeeds
from benchyard.case.resource import (
    commands_of,
)
from benchyard.core.model import Json, JsonObject
from tests.benchyard.case.toys import REGISTRY, Toy


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    folder = tmp_path / "data" / "shared"
    folder.mkdir(parents=True)
    (folder / "words.csv").write_text("a\n")
    (folder / "sub").mkdir()
    (folder / "sub" / "inner.csv").write_text("a\n")
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
    ],
)
def test_an_unknown_command_names_the_nearest(shared: Path, name: str, hint: str) -> None:
    [(place, message), *_] = found(shared, step(name))
    assert (place, message) == ("steps.0.command", f"Toy has no command '{name}'{hint}")


def test_parameters_of_a_misspelt_command_are_checked_as_it_was_meant(shared: Path) -> None:
    assert found(shared, step("loadparts", parts=5))[1] == (
        "steps.0.parameters.parts",
        "must be an array, not a number",
    )


@pytest.mark.parametrize(
    "name", ["helper", "_private", "stop", "start", "__init__", "version", "settings", "Settings"]
)
def test_defect_46_only_commands_can_be_called(shared: Path, name: str) -> None:
    [(place, message)] = found(shared, step(name))
    assert place == "steps.0.command"
    assert f"Toy has no command '{name}'" in message
    assert list(commands_of(Toy)) == ["anything", "generate", "load", "load_parts", "play"]


def test_parameters_inside_of_parameters_are_checked(shared: Path) -> None:
    parts: list[Json] = [{"file": "words.csv"}, {"file": "words.csv", "table": "t", "tble": 1}, 7]
    assert found(shared, step("load_parts", parts=parts)) == [
        ("steps.0.parameters.parts.0", "lacks 'table'"),
        ("steps.0.parameters.parts.1.tble", "is unknown here; did you mean 'table'?"),
        ("steps.0.parameters.parts.2", "must be an object, not a number"),
    ]


# -- files


def test_an_input_that_is_there(shared: Path) -> None:
    for name in ("words.csv", "./words.csv", "sub/inner.csv", "sub//inner.csv", "sub"):
        assert found(shared, step(reads=name)) == [], name


def test_an_input_deep_inside_the_parameters(shared: Path) -> None:
    parts: list[Json] = [{"file": n, "table": "t"} for n in ("words.csv", "../x", "absent")]
    places = [place for place, _ in found(shared, step("load_parts", parts=parts))]
    assert places == ["steps.0.parameters.parts.1.file", "steps.0.parameters.parts.2.file"]


ESCAPES = [
    "/etc/passwd",
    "//etc/passwd",
    "..",
    "../metadata.json",
    "sub/../../x",
    "sub/..",
    "linked.csv",
    "linked_folder/passwd",
    "linked_folder",
    "linked_folder/new",
    "sub/link",
    "sub/link/deeper",
]


@pytest.mark.parametrize("name", ESCAPES)
@pytest.mark.parametrize("role", ["reads", "makes", "fills", "scratch"])
def test_no_file_leads_out_of_shared(shared: Path, name: str, role: str) -> None:
    (shared.parent / "secret").write_text("s")
    (shared / "linked.csv").symlink_to(shared.parent / "secret")
    (shared / "linked_folder").symlink_to("/etc")
    (shared / "sub" / "link").symlink_to("../..")
    assert found(shared, step(**{role: name})) == [
        (f"steps.0.parameters.{role}", f"'{name}' leads out of data/shared; use a path inside it")
    ]


@pytest.mark.parametrize("name", [".", "./", "././."])
def test_shared_itself_is_no_file(shared: Path, name: str) -> None:
    [(_, message)] = found(shared, step(makes=name))
    assert message == f"'{name}' names data/shared itself; name a file in it"


def test_a_link_inside_of_shared_is_fine(shared: Path) -> None:
    (shared / "alias.csv").symlink_to("words.csv")
    (shared / "alias").symlink_to("sub")
    assert found(shared, step(reads="alias.csv"), step(reads="alias/inner.csv")) == []


def test_shared_itself_may_be_a_link(tmp_path: Path, shared: Path) -> None:
    (tmp_path / "elsewhere").symlink_to(shared)
    assert found(tmp_path / "elsewhere", step(reads="sub/inner.csv", makes="sub/new")) == []


@pytest.mark.parametrize("target", ["nowhere", "dangling", "sub/nowhere"])
def test_a_link_that_leads_nowhere_is_no_input(shared: Path, target: str) -> None:
    (shared / "dangling").symlink_to(target)
    [(_, message)] = found(shared, step(reads="dangling"))
    assert "there is no file 'dangling'" in message
    [(_, message)] = found(shared, step(makes="dangling"))
    assert "would overwrite an input" in message


@pytest.mark.parametrize("name", ["a\x00b", "x" * 300, "words.csv/below", "x/" * 3000])
def test_what_cannot_be_a_file_name(shared: Path, name: str) -> None:
    for role in ("reads", "makes"):
        [(place, message)] = found(shared, step(**{role: name}))
        assert place == f"steps.0.parameters.{role}"
        assert "cannot be a file name" in message
        assert len(message) < 400


@pytest.mark.parametrize("role", ["makes", "fills", "scratch"])
@pytest.mark.parametrize("name", ["words.csv", "sub", "sub/inner.csv", "./words.csv"])
def test_an_output_never_overwrites_an_input(shared: Path, role: str, name: str) -> None:
    assert found(shared, step(**{role: name})) == [
        (f"steps.0.parameters.{role}", f"'{name}' would overwrite an input of that name")
    ]


def test_an_input_that_an_earlier_step_makes(shared: Path) -> None:
    assert found(shared, step(makes="out.nt"), step(), step(reads="out.nt")) == []
    assert found(shared, step(makes="./o/out.nt"), step(reads="o//out.nt")) == []
    assert found(shared, step(fills="folder"), step(reads="folder/deep/part.nt")) == []
    assert found(shared, step(scratch="folder"), step(reads="folder")) == []


def test_an_input_in_the_default_folder_of_an_earlier_step(shared: Path) -> None:
    assert found(shared, step("generate"), step(reads="made/a.tbl")) == []
    assert found(shared, step("generate", folder="other"), step(reads="made/a.tbl")) != []


def test_an_input_made_by_a_step_that_is_not_waited_for(shared: Path) -> None:
    message = "step {} makes 'out.nt', but this step does not wait for it (needs)"
    place = "steps.1.parameters.reads"
    apart = (step(makes="out.nt"), step(needs=[], reads="out.nt"))
    assert found(shared, *apart) == [(place, message.format(1))]
    later = (step(), step(reads="out.nt"), step(makes="out.nt"))
    assert found(shared, *later) == [(place, message.format(3))]
    assert found(shared, step(makes="out.nt"), step(needs=["step1"], reads="out.nt")) == []


def test_a_file_that_two_steps_make_may_be_read_after_either(shared: Path) -> None:
    steps = (step(makes="out.nt"), step(reads="out.nt"), step(makes="out.nt"), step(reads="out.nt"))
    assert found(shared, *steps) == []


# -- checks


def check(shared: Path, declared: JsonObject, **parameters: Json) -> list[tuple[str, str]]:
    return found(shared, {**step(**parameters), "check": declared})


def test_the_expected_file_of_a_check_must_be_there(shared: Path) -> None:
    assert check(shared, {"equal": "words.csv"}, makes="out") == []
    [(place, message)] = check(shared, {"equal": "absent.csv"}, makes="out")
    assert place == "steps.0.check.equal"
    assert message == (
        f"there is no file 'absent.csv' in {shared}; benchyard run --accept writes it"
    )
    [(_, message)] = check(shared, {"equal": "../x"}, makes="out")
    assert "leads out of data/shared" in message
    (shared / "dangling").symlink_to("nowhere")
    [(_, message)] = check(shared, {"equal": "dangling"}, makes="out")
    assert "there is no file" in message


def test_a_check_of_several_outputs_says_which(shared: Path) -> None:
    assert check(shared, {"rows": 1}, makes="a", also_makes="b") == [
        ("steps.0.check.file", "is needed here: the step makes a and b")
    ]
    assert check(shared, {"rows": 1, "file": "b"}, makes="a", also_makes="b") == []


# -- everything
