"""Steps that stand in files of their own."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchyard.case.including import MAX_INCLUDES, MAX_NESTED
from benchyard.case.loading import Loaded, load, load_all, raise_problems
from benchyard.case.templates import MAX_STEPS
from benchyard.cli import call
from benchyard.core.errors import CaseError
from tests.benchyard.case.toys import REGISTRY
from tests.conftest import process

PLAY: dict[str, Any] = {"resource": "Toy", "command": "play"}


def named(identifier: str, **keys: Any) -> dict[str, Any]:
    return {"@id": identifier, **PLAY, **keys}


def write(file: Path, value: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(value if isinstance(value, str) else json.dumps(value))
    return file


def included(*names: object) -> list[Any]:
    return [{"include": name} for name in names]


def made(root: Path, steps: list[Any], **keys: Any) -> Loaded:
    """Load ``<root>/group/case``."""
    document = {"name": "toys", "steps": steps, **keys}
    return load(write(root / "group" / "case" / "metadata.json", document), REGISTRY)


def told(loaded: Loaded) -> list[tuple[str, str, str]]:
    """Return file, path and message of each problem."""
    root = loaded.file.parents[1]
    return [(os.path.relpath(p.file, root), p.path, p.message) for p in loaded.problems]


# -- what is included


def test_included_steps_stand_where_they_are_included(tmp_path: Path) -> None:
    """An object with steps will do, and so will another case; paths go from the file itself."""
    write(tmp_path / "group/shared/two.json", [named("b"), *included("deeper/c.json")])
    write(tmp_path / "group/shared/deeper/c.json", [named("c")])
    write(tmp_path / "group/other/metadata.json", {"name": "other", "steps": [named("x")]})
    others = included("../shared/two.json", "../other/metadata.json")
    loaded = made(tmp_path, [named("a"), *others, named("d")])
    assert loaded.problems == ()
    found = [(step.id, *step.needs) for step in loaded.cases[0].steps]
    assert found == [("a",), ("b", "a"), ("c", "b"), ("x", "c"), ("d", "x")]


def test_included_steps_use_the_matrix_and_the_inputs_of_the_case(tmp_path: Path) -> None:
    step = named("a", parameters={"reads": "in.txt", "text": "${matrix.word}"})
    write(tmp_path / "group/shared/a.json", [step])
    write(tmp_path / "group/case/data/shared/in.txt", "x")
    loaded = made(tmp_path, included("../shared/a.json"), matrix={"word": ["p", "q"]})
    assert loaded.problems == ()
    assert [case.steps[0].parameters["text"] for case in loaded.cases] == ["p", "q"]


# -- what it belongs to


def test_a_change_of_it_begins_a_new_campaign(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = tmp_path / "case"
    write(case / "metadata.json", {"name": "echoes", "steps": included("../shared/a.json")})
    for word, campaign in (("one", False), ("one", False), ("two", True)):
        write(tmp_path / "shared/a.json", [process("say", f"echo {word}")])
        assert call(["run", str(case), "--direct", "--runs", "1", "--cooldown", "0"]) == 0
        assert ("files of the case" in capsys.readouterr().err) is campaign
    [said] = case.glob("results/run_1/process/*.txt")
    assert said.read_text() == "two\n"


# -- what is wrong


def test_problems_name_the_included_file_and_the_place_in_it(tmp_path: Path) -> None:
    wrong = [PLAY, {**PLAY, "parameters": {"cuont": 1}}]
    write(tmp_path / "group/shared/list.json", wrong)
    write(tmp_path / "group/shared/object.json", {"steps": [{"command": "play"}]})
    steps = [*included("../shared/list.json", "../shared/object.json"), {"resource": "Toy"}]
    unknown = "is unknown here; did you mean 'count'?"
    assert sorted(told(made(tmp_path, steps))) == [
        ("case/metadata.json", "$.steps[2]", "lacks 'command'"),
        ("shared/list.json", "$[1].parameters.cuont", unknown),
        ("shared/object.json", "$.steps[0]", "lacks 'resource'"),
    ]


def test_what_is_wrong_in_a_shared_file_is_told_once_for_all_cases(tmp_path: Path) -> None:
    write(tmp_path / "shared/a.json", [{**PLAY, "needs": ["zzz"]}])
    steps = included("../shared/a.json")
    files = [
        write(tmp_path / name / "metadata.json", {"name": name, "steps": steps})
        for name in ("one", "two")
    ]
    with pytest.raises(CaseError) as caught:
        raise_problems(load_all(files, REGISTRY))
    assert str(caught.value).count("zzz") == 1


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["../../outside.json", "link.json", "folder/outside.json"], "leads out of"),
        (["../../../../../../etc/passwd", "/etc/passwd"], "leads out of"),
        (["~/x.json", "gone.json"], "cannot be read: No such file or directory"),
        (["."], "cannot be read: Is a directory"),
        (["pipe"], "is a named pipe, not a file"),
        (["self"], "cannot be read: Too many levels of symbolic links"),
        (["a" * 300], "cannot be read: File name too long"),
        (["a\0b"], "cannot be a file name"),
        (["${matrix.file}", "${env:FILE}"], "must stand there as it is"),
        (["", 5, ["a.json"], None], "must be the path of a file, a string, not "),
        (["empty.json"], "has no step"),
        (["text.json", "nothing.json"], "must be a list of steps, or an object with such a list"),
        (["broken.json"], "not JSON"),
    ],
)
def test_hostile_includes_are_refused_in_one_sentence(
    tmp_path: Path, names: list[object], message: str
) -> None:
    folder = tmp_path / "group" / "case"
    folder.mkdir(parents=True)
    links = {"link.json": tmp_path / "outside.json", "folder": tmp_path, "self": "self"}
    for name, target in links.items():
        (folder / name).symlink_to(target)
    os.mkfifo(folder / "pipe")
    texts = {"empty": "[]", "text": '"x"', "nothing": '{"step": []}', "broken": "["}
    for name, text in texts.items():
        write(folder / f"{name}.json", text)
    write(tmp_path / "outside.json", [PLAY])
    for one in names:
        [problem] = made(tmp_path, [named("a"), *included(one)]).problems
        assert message in problem.message


def test_files_that_include_each_other_are_refused(tmp_path: Path) -> None:
    for name, other in (("a", "b"), ("b", "a"), ("me", "me")):
        write(tmp_path / f"group/case/{name}.json", included(f"{other}.json"))
    loaded = made(tmp_path, included("a.json", "me.json", "metadata.json"))
    circles = [message.partition(": ")[2] for _, _, message in told(loaded)]
    wanted = ["a.json → b.json → a.json", "me.json → me.json", "metadata.json → metadata.json"]
    assert circles == wanted


def test_an_entry_that_includes_says_nothing_else(tmp_path: Path) -> None:
    write(tmp_path / "group/case/a.json", [PLAY])
    [(_, path, message)] = told(made(tmp_path, [{"include": "a.json", "needs": [], **PLAY}]))
    assert path == "$.steps[0].include"
    assert message.startswith("stands beside 'command', 'needs', 'resource'")


def test_a_flood_of_includes_ends(tmp_path: Path) -> None:
    """Each file includes the next one a hundred times: 100^16 steps."""
    for level in range(MAX_NESTED):
        write(tmp_path / f"group/case/{level}.json", included(*[f"{level + 1}.json"] * 100))
    write(tmp_path / f"group/case/{MAX_NESTED}.json", [PLAY])
    messages = {said for _, _, said in told(made(tmp_path, included("0.json")))}
    assert any("deep" in said or f"{MAX_INCLUDES:,}" in said for said in messages)
    assert len(messages) < 5


def test_too_many_steps_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "group/case/many.json", [PLAY] * 2_000)
    [(file, path, message)] = told(made(tmp_path, included(*["many.json"] * 11)))
    assert (file, path) == ("case/metadata.json", "$.steps")
    assert message == f"are more than {MAX_STEPS:,} with those of the included files"


_ENTRY = st.fixed_dictionaries(
    {"include": st.one_of(st.text(max_size=8), st.sampled_from(["a.json", "b.json", "../x"]))}
)
_ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5), _ENTRY),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
_STEPS = st.lists(st.one_of(_ENTRY, st.just(PLAY)), max_size=4)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_whatever_the_files_hold_it_is_cases_or_problems(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    root = tmp_path_factory.mktemp("any")
    for name in ("a.json", "b.json"):
        write(root / "group/case" / name, json.dumps(data.draw(st.one_of(_STEPS, _ANYTHING))))
    loaded = made(root, [*included("a.json"), dict(PLAY)])
    assert bool(loaded.cases) != bool(loaded.problems)
    assert all(isinstance(str(problem), str) for problem in loaded.problems)
