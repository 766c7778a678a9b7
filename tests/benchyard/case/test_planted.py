"""Of cases with several planted mistakes, all mistakes are told at once."""

import copy
import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from benchyard.case.loading import load
from tests.benchyard.case.toys import REGISTRY

#: Steps of the case that mistakes are planted in.
STEPS = 8
#: Share of the cases of which every mistake must be told.
WANTED = 0.99


@dataclass
class Planting:
    """A case under planting.

    Args:
        taken: Places that a mistake has: a second one there would mend or hide the first.
        expected: Path and a part of the message of each mistake.
    """

    draw: random.Random
    document: dict[str, Any]
    taken: set[str] = field(default_factory=set[str])
    expected: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def claim(self, *places: str) -> bool:
        """Take places, unless one of them is taken."""
        if self.taken & {place.removeprefix("~") for place in places}:
            return False
        self.taken |= {place for place in places if not place.startswith("~")}
        return True

    def step(self, *parts: str, first: int = 0) -> tuple[int, dict[str, Any]] | None:
        """Choose a step of which these parts are free."""
        position = self.draw.randrange(first, STEPS)
        whole = f"{position}.whole" in self.taken
        if whole or not self.claim(*(f"{position}.{part}" for part in parts)):
            return None
        return position, self.document["steps"][position]

    def expect(self, path: str, message: str) -> None:
        self.expected.append((path, message))


Plant = Callable[[Planting], None]


def base(shared: Path, draw: random.Random) -> dict[str, Any]:
    steps: list[dict[str, Any]] = []
    for n in range(STEPS):
        (shared / f"in{n}.csv").write_text("a\n")
        made: dict[str, Any] = {"@id": f"urn:step:{n}", "name": f"Step {n}", "timeout": 5}
        made |= {"resource": "Toy", "command": "load", "check": {"rows": 1, "pattern": "a"}}
        made["parameters"] = {"csv_file": f"in{n}.csv", "table": "t", "output_file": f"out{n}.csv"}
        made["parameters"] |= {"count": 1, "words": ["a"]}
        steps.append({**made, "needs": [f"urn:step:{n - 1}"] if n else []})
    case: dict[str, Any] = {"name": "planted", "tags": ["a"], "steps": steps}
    case["resources"] = {"Toy": {"threads": 1}}
    if draw.random() < 0.5:
        case["matrix"] = {"n": [1, 2]}
        steps[0]["parameters"]["count"] = "${matrix.n}"
    return case


#: What is taken away.
GONE = object()
Change = dict[str, Any] | Callable[[dict[str, Any]], object]
#: What a mistake takes of the case or step (with ``~``: must be free and stays so), the path behind
#: that of the case or step (``{place}``: the end of its needs), a part of the message, and what
#: is changed; of a tuple one is drawn.
Mistake = tuple[str, str, str, Change]


def change_into(document: dict[str, Any], change: dict[str, Any], draw: random.Random) -> None:
    for key, value in change.items():
        if value is GONE:
            del document[key]
        elif isinstance(value, tuple):
            document[key] = draw.choice(cast("tuple[Any, ...]", value))
        elif isinstance(value, dict) and key in document:
            change_into(document[key], cast("dict[str, Any]", value), draw)
        else:
            document[key] = copy.deepcopy(cast("Any", value))


def renamed(old: str, new: str) -> Change:
    return lambda document: document.update({new: document.pop(old)})


def with_need(need: object) -> Change:
    return lambda step: step["needs"].append(need)


def parameter(**changes: Any) -> Change:
    return {"parameters": changes}


def setting(**changes: Any) -> Change:
    return {"resources": {"Toy": changes}}


CASE_MISTAKES: list[Mistake] = [
    ("name", "", "lacks 'name'", {"name": GONE}),
    ("name", ".name", "must be a string", {"name": 5}),
    ("tags", ".tags", "must be an array", {"tags": "a"}),
    ("description", ".descripton", "did you mean 'description'?", {"descripton": "x"}),
    (
        *("resources level threads Toi", ".resource", "did you mean 'resources'?"),
        renamed("resources", "resource"),
    ),
    ("requires", ".requires.memory", "is no size", {"requires": {"memory": "16 pounds"}}),
    ("requires", ".requires.core", "did you mean 'cores'?", {"requires": {"core": 2}}),
    ("description", ".description", "is not defined", {"description": "${matrix.absent}"}),
    ("matrix", ".matrix.more", "needs at least 1 element", {"matrix": {"more": []}}),
    ("matrix", ".matrix", "points named", {"matrix": {"more": [1, "1"]}}),
    ("Toi", ".resources.Toi", "unknown resource 'Toi'", {"resources": {"Toi": {}}}),
    ("resources level", ".resources.Toy.levle", "did you mean 'level'?", setting(levle=1)),
    ("~resources level", ".resources.Toy.level", "must be an integer", setting(level="high")),
    ("~resources threads", ".resources.Toy", "it must be 1 or more", setting(threads=0)),
]
#: Of a class that is like none, or of no command, nobody can know what it takes.
ALL = "class command output input table count words parameters file whole"
STEP_MISTAKES: list[Mistake] = [
    ("needs waited", ".needs[{place}]", "there is no step with the id", with_need("urn:absent")),
    ("needs waited", ".needs[{place}]", "must be a string", with_need(7)),
    ("class", ".resource", "unknown resource", {"resource": ("Toi", "toy", "Toys")}),
    (ALL, ".resource", "'Oracle'", {"resource": "Oracle"}),
    (ALL, ".resource", "'Gone' is unavailable", {"resource": "Gone"}),
    ("command", ".command", "has no command", {"command": ("laod", "Load", "loads")}),
    (ALL.removeprefix("class "), "", "lacks 'command'", {"command": GONE}),
    ("retries", ".retreis", "did you mean 'retries'?", {"retreis": 2}),
    (
        *("parameters output input table count words file", ".paramters"),
        *("did you mean 'parameters'?", renamed("parameters", "paramters")),
    ),
    ("table", ".parameters.tabel", "did you mean 'table'?", parameter(tabel="t", table=GONE)),
    ("table", ".parameters", "lacks 'table'", parameter(table=GONE)),
    ("count", ".parameters.count", "must be an integer", parameter(count="many")),
    ("words", ".parameters.words[1]", "must be a string", parameter(words=["a", 5])),
    ("input", ".parameters.csv_file", "there is no file", parameter(csv_file="absent.csv")),
    ("input", ".parameters.csv_file", "leads out of", parameter(csv_file="../../metadata.json")),
    ("output file", ".parameters.output_file", "would overwr", parameter(output_file="in0.csv")),
    ("timeout", ".timeout", "must be", {"timeout": (0, "soon")}),
    (
        *("check pattern", ".check", "says nothing to check"),
        {"check": {"rows": GONE, "pattern": GONE, "any_order": True}},
    ),
    ("pattern", ".check.pattern", "is not a regular expression", {"check": {"pattern": "("}}),
    ("check file", ".check.file", "makes no output 'absent'", {"check": {"file": "absent"}}),
    ("check", ".check.equal", "there is no file 'absent.csv'", {"check": {"equal": "absent.csv"}}),
    ("expect_failure check", ".check", "cannot go with expect_failure", {"expect_failure": True}),
]


def of_one(mistake: Mistake, case: Planting, *, in_step: bool) -> None:
    parts, path, message, change = mistake
    where, document = "$", case.document
    if in_step:
        if not (found := case.step(*parts.split())):
            return
        where, document = f"$.steps[{found[0]}]", found[1]
        path = path.format(place=len(document["needs"]))
    elif not case.claim(*parts.split()):
        return
    if callable(change):
        change(document)
    else:
        change_into(document, change, case.draw)
    case.expect(f"{where}{path}", message)


# -- what concerns two steps


def duplicate_id(case: Planting) -> None:
    if found := case.step("id", first=1):
        position, step = found
        if case.claim(f"{position - 1}.id"):
            step["@id"] = f"urn:step:{position - 1}"
            case.expect(f"$.steps[{position}]['@id']", "is the id of an earlier step too")


def cycle(case: Planting) -> None:
    if case.claim("cycle") and (found := case.step("needs")):
        found[1]["needs"] = [*found[1]["needs"], case.document["steps"][found[0]]["@id"]]
        case.expect("$.steps", "wait for each other")


def unwaited_input(case: Planting) -> None:
    """It reads what the last step makes."""
    if case.taken & {f"{STEPS - 1}.{part}" for part in ("output", "whole", "needs")}:
        return
    if (found := case.step("input", "waited")) and found[0] < STEPS - 1:
        case.taken |= {f"{STEPS - 1}.{part}" for part in ("output", "needs", "waited", "class")}
        case.taken.add(f"{STEPS - 1}.command")
        found[1]["parameters"]["csv_file"] = f"out{STEPS - 1}.csv"
        where = f"$.steps[{found[0]}].parameters.csv_file"
        case.expect(where, f"step {STEPS} makes 'out{STEPS - 1}.csv'")


PLANTS: list[Plant] = [
    *(partial(of_one, mistake, in_step=False) for mistake in CASE_MISTAKES),
    *(partial(of_one, mistake, in_step=True) for mistake in STEP_MISTAKES),
    *(duplicate_id, cycle, unwaited_input),
]


def planted(folder: Path, seed: int, mistakes: int | None = None) -> Planting:
    """Make a case with so many mistakes, by itself two to five."""
    draw = random.Random(seed)  # noqa: S311 - each case can be made again
    shared = folder / "data" / "shared"
    shared.mkdir(parents=True, exist_ok=True)
    case = Planting(draw, base(shared, draw))
    wanted = draw.randint(2, 5) if mistakes is None else mistakes
    while len(case.expected) < wanted:
        draw.choice(PLANTS)(case)
    return case


def untold(folder: Path, case: Planting) -> list[tuple[str, str]]:
    """Return the mistakes of a case that are not told."""
    file = folder / "metadata.json"
    file.write_text(json.dumps(case.document))
    told = [(problem.path, problem.message) for problem in load(file, REGISTRY).problems]
    return [
        (path, part)
        for path, part in case.expected
        if not any(path == where and part in message for where, message in told)
    ]


def test_what_mistakes_are_planted_in_is_valid(tmp_path: Path) -> None:
    for seed in range(10):
        (tmp_path / "metadata.json").write_text(json.dumps(planted(tmp_path, seed, 0).document))
        assert load(tmp_path / "metadata.json", REGISTRY).problems == ()


@pytest.mark.parametrize("plant", PLANTS)
def test_each_mistake_alone_is_told(tmp_path: Path, plant: Plant) -> None:
    case = planted(tmp_path, 1, 0)
    while not case.expected:
        plant(case)
    assert untold(tmp_path, case) == []


@pytest.mark.parametrize("number", [300, pytest.param(2_000, marks=pytest.mark.long)])
def test_all_mistakes_of_a_case_are_told_at_once(tmp_path: Path, number: int) -> None:
    looked = {seed: untold(tmp_path, planted(tmp_path, seed)) for seed in range(number)}
    hidden = {seed: missing for seed, missing in looked.items() if missing}
    assert 1 - len(hidden) / number >= WANTED, hidden
