"""Of cases with several planted mistakes, all mistakes are told at once."""

import json
import os
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest

from benchyard.case.loading import load
from benchyard.case.registry import Registry
from benchyard.case.resource import InputFile, OutputFile, Resource, command
from benchyard.core.errors import InputError

#: Steps of the case that mistakes are planted in.
STEPS = 8
#: Share of the cases of which every mistake must be told.
WANTED = 0.99


@dataclass(frozen=True)
class ShelfSettings:
    threads: int = 1
    level: int = 0
    words: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.threads < 1:
            raise InputError(f"threads is {self.threads}; it must be 1 or more")


class Shelf(Resource[ShelfSettings]):
    """A toy."""

    Settings: ClassVar[type[Any]] = ShelfSettings

    def version(self) -> str:
        return "1"

    @command
    def load(
        self,
        csv_file: InputFile,
        table: str,
        output_file: OutputFile | None = None,
        mode: Literal["csv", "tbl"] = "csv",
        count: int = 0,
        words: list[str] | None = None,
    ) -> None:
        """Load."""

    @command
    def unload(self, count: int = 0) -> None:
        """Unload."""


REGISTRY = Registry({"Shelf": Shelf}, {}, {"Gone": "gone.py: ImportError: no such thing"})


@dataclass
class Planting:
    """A case under planting.

    Args:
        taken: Places that a mistake has: a second one there would mend or hide the first.
        expected: Path and a part of the message of each mistake.
    """

    draw: random.Random
    document: dict[str, Any]
    shared: Path
    taken: set[str] = field(default_factory=set[str])
    expected: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def claim(self, *places: str) -> bool:
        """Take places, unless one of them is taken."""
        if self.taken & set(places):
            return False
        self.taken |= set(places)
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
        parameters = {"csv_file": f"in{n}.csv", "table": "t", "output_file": f"out{n}.csv"}
        steps.append(
            {
                "@id": f"urn:step:{n}",
                "name": f"Step {n}",
                "resource": "Shelf",
                "command": "load",
                "parameters": {**parameters, "count": 1, "words": ["a"]},
                "needs": [f"urn:step:{n - 1}"] if n else [],
                "timeout": 5,
                "check": {"rows": 1, "pattern": "a"},
            }
        )
    made: dict[str, Any] = {"name": "planted", "tags": ["a"], "steps": steps}
    made["resources"] = {"Shelf": {"threads": 1}}
    if draw.random() < 0.5:
        made["matrix"] = {"n": [1, 2]}
        steps[0]["parameters"]["count"] = "${matrix.n}"
    return made


# -- of the whole case


def no_name(case: Planting) -> None:
    if case.claim("name"):
        del case.document["name"]
        case.expect("$", "lacks 'name'")


def bad_name(case: Planting) -> None:
    if case.claim("name"):
        case.document["name"] = 5
        case.expect("$.name", "must be a string")


def bad_tags(case: Planting) -> None:
    if case.claim("tags"):
        case.document["tags"] = "a"
        case.expect("$.tags", "must be an array")


def misspelt_key(case: Planting) -> None:
    if case.claim("description"):
        case.document["descripton"] = "x"
        case.expect("$.descripton", "did you mean 'description'?")


def misspelt_resources(case: Planting) -> None:
    if case.claim("resources", "level", "threads", "settings of Shelv"):
        case.document["resource"] = case.document.pop("resources")
        case.expect("$.resource", "did you mean 'resources'?")


def bad_memory(case: Planting) -> None:
    if case.claim("requires"):
        case.document["requires"] = {"memory": "16 pounds"}
        case.expect("$.requires.memory", "is no size")


def unknown_requirement(case: Planting) -> None:
    if case.claim("requires"):
        case.document["requires"] = {"core": 2}
        case.expect("$.requires.core", "did you mean 'cores'?")


def undefined_matrix(case: Planting) -> None:
    if case.claim("description"):
        case.document["description"] = "${matrix.absent}"
        case.expect("$.description", "'${matrix.absent}' is not defined")


def empty_matrix_list(case: Planting) -> None:
    if case.claim("matrix"):
        case.document["matrix"] = {**case.document.get("matrix", {}), "more": []}
        case.expect("$.matrix.more", "needs at least 1 element")


def twin_points(case: Planting) -> None:
    if case.claim("matrix"):
        case.document["matrix"] = {**case.document.get("matrix", {}), "more": [1, "1"]}
        case.expect("$.matrix", "points named")


def unknown_settings(case: Planting) -> None:
    if case.claim("settings of Shelv"):
        case.document.setdefault("resources", {})["Shelv"] = {}
        case.expect("$.resources.Shelv", "unknown resource 'Shelv'")


def misspelt_setting(case: Planting) -> None:
    if case.claim("resources", "level"):
        case.document["resources"]["Shelf"]["levle"] = 1
        case.expect("$.resources.Shelf.levle", "did you mean 'level'?")


def bad_setting(case: Planting) -> None:
    if "resources" not in case.taken and case.claim("level"):
        case.document["resources"]["Shelf"]["level"] = "high"
        case.expect("$.resources.Shelf.level", "must be an integer")


def refused_setting(case: Planting) -> None:
    if "resources" not in case.taken and case.claim("threads"):
        case.document["resources"]["Shelf"]["threads"] = 0
        case.expect("$.resources.Shelf", "it must be 1 or more")


# -- of one step


def duplicate_id(case: Planting) -> None:
    if found := case.step("id", first=1):
        position, step = found
        if case.claim(f"{position - 1}.id"):
            step["@id"] = f"urn:step:{position - 1}"
            case.expect(f"$.steps[{position}]['@id']", "is the id of an earlier step too")


def unknown_need(case: Planting) -> None:
    if found := case.step("needs", "waited"):
        found[1]["needs"] = [*found[1]["needs"], "urn:absent"]
        place = len(found[1]["needs"]) - 1
        case.expect(f"$.steps[{found[0]}].needs[{place}]", "there is no step with the id")


def cycle(case: Planting) -> None:
    if case.claim("cycle") and (found := case.step("needs")):
        found[1]["needs"] = [*found[1]["needs"], case.document["steps"][found[0]]["@id"]]
        case.expect("$.steps", "wait for each other")


def bad_need(case: Planting) -> None:
    if found := case.step("needs", "waited"):
        found[1]["needs"] = [*found[1]["needs"], 7]
        place = len(found[1]["needs"]) - 1
        case.expect(f"$.steps[{found[0]}].needs[{place}]", "must be a string")


def unknown_class(case: Planting) -> None:
    if found := case.step("class"):
        found[1]["resource"] = case.draw.choice(["Shelv", "shelf", "Shelf1"])
        case.expect(f"$.steps[{found[0]}].resource", "unknown resource")


def foreign_class(case: Planting) -> None:
    """Nobody can know what a class takes that is like none."""
    parts = ("class", "command", "output", "input", "table", "count", "words", "parameters", "file")
    if found := case.step(*parts, "whole"):
        found[1]["resource"] = case.draw.choice(["Oracle", "Gone"])
        case.expect(f"$.steps[{found[0]}].resource", found[1]["resource"])


def unknown_command(case: Planting) -> None:
    if found := case.step("command"):
        found[1]["command"] = case.draw.choice(["laod", "Load", "loads"])
        case.expect(f"$.steps[{found[0]}].command", "has no command")


def no_command(case: Planting) -> None:
    parts = ("command", "output", "input", "table", "count", "words", "parameters", "file")
    if found := case.step(*parts, "whole"):
        del found[1]["command"]
        case.expect(f"$.steps[{found[0]}]", "lacks 'command'")


def misspelt_step_key(case: Planting) -> None:
    if found := case.step("retries"):
        found[1]["retreis"] = 2
        case.expect(f"$.steps[{found[0]}].retreis", "did you mean 'retries'?")


def misspelt_parameters(case: Planting) -> None:
    parts = ("output", "input", "table", "count", "words", "file")
    if found := case.step("parameters", *parts):
        found[1]["paramters"] = found[1].pop("parameters")
        case.expect(f"$.steps[{found[0]}].paramters", "did you mean 'parameters'?")


def misspelt_parameter(case: Planting) -> None:
    if found := case.step("table"):
        parameters = found[1]["parameters"]
        parameters["tabel"] = parameters.pop("table")
        case.expect(f"$.steps[{found[0]}].parameters.tabel", "did you mean 'table'?")


def missing_parameter(case: Planting) -> None:
    if found := case.step("table"):
        del found[1]["parameters"]["table"]
        case.expect(f"$.steps[{found[0]}].parameters", "lacks 'table'")


def bad_parameter(case: Planting) -> None:
    if found := case.step("count"):
        found[1]["parameters"]["count"] = "many"
        case.expect(f"$.steps[{found[0]}].parameters.count", "must be an integer")


def bad_item(case: Planting) -> None:
    if found := case.step("words"):
        found[1]["parameters"]["words"] = ["a", 5]
        case.expect(f"$.steps[{found[0]}].parameters.words[1]", "must be a string")


def missing_input(case: Planting) -> None:
    if found := case.step("input"):
        found[1]["parameters"]["csv_file"] = "absent.csv"
        case.expect(f"$.steps[{found[0]}].parameters.csv_file", "there is no file 'absent.csv'")


def escape(case: Planting) -> None:
    if found := case.step("input"):
        found[1]["parameters"]["csv_file"] = "../../metadata.json"
        case.expect(f"$.steps[{found[0]}].parameters.csv_file", "leads out of data/shared")


def overwritten_input(case: Planting) -> None:
    if found := case.step("output", "file"):
        found[1]["parameters"]["output_file"] = "in0.csv"
        case.expect(f"$.steps[{found[0]}].parameters.output_file", "would overwrite an input")


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


def bad_timeout(case: Planting) -> None:
    if found := case.step("timeout"):
        found[1]["timeout"] = case.draw.choice([0, "soon"])
        case.expect(f"$.steps[{found[0]}].timeout", "must be")


def empty_check(case: Planting) -> None:
    if found := case.step("check", "pattern"):
        found[1]["check"] = {"any_order": True}
        case.expect(f"$.steps[{found[0]}].check", "says nothing to check")


def bad_pattern(case: Planting) -> None:
    if found := case.step("pattern"):
        found[1]["check"]["pattern"] = "("
        case.expect(f"$.steps[{found[0]}].check.pattern", "is not a regular expression")


def bad_check_file(case: Planting) -> None:
    if found := case.step("check", "file"):
        found[1]["check"]["file"] = "absent"
        case.expect(f"$.steps[{found[0]}].check.file", "the step makes no output 'absent'")


def missing_expectation(case: Planting) -> None:
    if found := case.step("check"):
        found[1]["check"]["equal"] = "absent.csv"
        case.expect(f"$.steps[{found[0]}].check.equal", "there is no file 'absent.csv'")


def check_of_a_failure(case: Planting) -> None:
    if found := case.step("expect_failure", "check"):
        found[1]["expect_failure"] = True
        case.expect(f"$.steps[{found[0]}].check", "cannot go with expect_failure")


PLANTS: list[Plant] = [
    *(no_name, bad_name, bad_tags, misspelt_key, misspelt_resources, bad_memory),
    *(unknown_requirement, undefined_matrix, empty_matrix_list, twin_points, unknown_settings),
    *(misspelt_setting, bad_setting, refused_setting, duplicate_id, unknown_need, cycle, bad_need),
    *(unknown_class, foreign_class, unknown_command, no_command, misspelt_step_key),
    *(misspelt_parameters, misspelt_parameter, missing_parameter, bad_parameter, bad_item),
    *(missing_input, escape, overwritten_input, unwaited_input, bad_timeout, empty_check),
    *(bad_pattern, bad_check_file, missing_expectation, check_of_a_failure),
]


def planted(folder: Path, seed: int, mistakes: int | None = None) -> Planting:
    """Make a case with so many mistakes, by itself two to five."""
    draw = random.Random(seed)  # noqa: S311 - each case can be made again
    shared = folder / "data" / "shared"
    shared.mkdir(parents=True, exist_ok=True)
    case = Planting(draw, base(shared, draw), shared)
    wanted = draw.randint(2, 5) if mistakes is None else mistakes
    while len(case.expected) < wanted:
        draw.choice(PLANTS)(case)
    return case


def untold(folder: Path, seed: int) -> tuple[int, list[tuple[str, str]]]:
    """Return how many mistakes a case has, and those that are not told."""
    case = planted(folder, seed)
    file = folder / "metadata.json"
    file.write_text(json.dumps(case.document))
    told = [(problem.path, problem.message) for problem in load(file, REGISTRY).problems]
    missing = [
        (path, part)
        for path, part in case.expected
        if not any(path == where and part in message for where, message in told)
    ]
    return len(case.expected), missing


def judge(folder: Path, seeds: range) -> None:
    looked = {seed: untold(folder, seed) for seed in seeds}
    hidden = {seed: missing for seed, (_, missing) in looked.items() if missing}
    mistakes = sum(number for number, _ in looked.values())
    whole = 1 - len(hidden) / len(seeds)
    gone = sum(map(len, hidden.values()))
    if os.environ.get("BENCHYARD_FIGURES"):
        print(f"{len(seeds)} cases: {whole:.1%} whole, {gone} of {mistakes} hidden")  # noqa: T201
    assert whole >= WANTED, f"{gone} of {mistakes} mistakes hidden, {hidden}"


def test_what_mistakes_are_planted_in_is_valid(tmp_path: Path) -> None:
    for seed in range(10):
        file = tmp_path / "metadata.json"
        file.write_text(json.dumps(planted(tmp_path, seed, 0).document))
        assert load(file, REGISTRY).problems == ()


@pytest.mark.parametrize("plant", PLANTS)
def test_each_mistake_alone_is_told(tmp_path: Path, plant: Plant) -> None:
    case = planted(tmp_path, 1, 0)
    while not case.expected:
        plant(case)
    (tmp_path / "metadata.json").write_text(json.dumps(case.document))
    told = [(p.path, p.message) for p in load(tmp_path / "metadata.json", REGISTRY).problems]
    [(path, part)] = case.expected
    assert [message for where, message in told if where == path and part in message], told


def test_all_mistakes_of_a_case_are_told_at_once(tmp_path: Path) -> None:
    judge(tmp_path, range(300))


@pytest.mark.long
def test_all_mistakes_of_two_thousand_cases_are_told_at_once(tmp_path: Path) -> None:
    judge(tmp_path, range(2_000))
