"""Of cases with several planted mistakes, all mistakes are told at once."""

import json
import os
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
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


@dataclass(frozen=True)
class Mistake:
    """What is done to a case or to one of its steps, and what must be told of it.

    Args:
        parts: What of it the mistake takes; one with ``~`` must be free and stays so.
        path: Behind that of the case or step; ``{place}`` is the end of the step's needs.
    """

    parts: str
    path: str
    message: str
    change: Callable[[Any, random.Random], object]

    def __str__(self) -> str:
        return f"{self.path} {self.message}"


CASE_MISTAKES = [
    Mistake("name", "", "lacks 'name'", lambda c, _: c.pop("name")),
    Mistake("name", ".name", "must be a string", lambda c, _: c.update(name=5)),
    Mistake("tags", ".tags", "must be an array", lambda c, _: c.update(tags="a")),
    Mistake(
        *("description", ".descripton", "did you mean 'description'?"),
        lambda c, _: c.update(descripton="x"),
    ),
    Mistake(
        *("resources level threads Shelv", ".resource", "did you mean 'resources'?"),
        lambda c, _: c.update(resource=c.pop("resources")),
    ),
    Mistake(
        *("requires", ".requires.memory", "is no size"),
        lambda c, _: c.update(requires={"memory": "16 pounds"}),
    ),
    Mistake(
        *("requires", ".requires.core", "did you mean 'cores'?"),
        lambda c, _: c.update(requires={"core": 2}),
    ),
    Mistake(
        *("description", ".description", "'${matrix.absent}' is not defined"),
        lambda c, _: c.update(description="${matrix.absent}"),
    ),
    Mistake(
        *("matrix", ".matrix.more", "needs at least 1 element"),
        lambda c, _: c.update(matrix={**c.get("matrix", {}), "more": []}),
    ),
    Mistake(
        *("matrix", ".matrix", "points named"),
        lambda c, _: c.update(matrix={**c.get("matrix", {}), "more": [1, "1"]}),
    ),
    Mistake(
        *("Shelv", ".resources.Shelv", "unknown resource 'Shelv'"),
        lambda c, _: c.setdefault("resources", {}).update(Shelv={}),
    ),
    Mistake(
        *("resources level", ".resources.Shelf.levle", "did you mean 'level'?"),
        lambda c, _: c["resources"]["Shelf"].update(levle=1),
    ),
    Mistake(
        *("~resources level", ".resources.Shelf.level", "must be an integer"),
        lambda c, _: c["resources"]["Shelf"].update(level="high"),
    ),
    Mistake(
        *("~resources threads", ".resources.Shelf", "it must be 1 or more"),
        lambda c, _: c["resources"]["Shelf"].update(threads=0),
    ),
]
#: Of a class that is like none, or of no command, nobody can know what it takes.
ALL = "class command output input table count words parameters file whole"
STEP_MISTAKES = [
    Mistake(
        *("needs waited", ".needs[{place}]", "there is no step with the id"),
        lambda s, _: s["needs"].append("urn:absent"),
    ),
    Mistake(
        *("needs waited", ".needs[{place}]", "must be a string"), lambda s, _: s["needs"].append(7)
    ),
    Mistake(
        *("class", ".resource", "unknown resource"),
        lambda s, draw: s.update(resource=draw.choice(["Shelv", "shelf", "Shelf1"])),
    ),
    Mistake(ALL, ".resource", "'Oracle'", lambda s, _: s.update(resource="Oracle")),
    Mistake(ALL, ".resource", "'Gone' is unavailable", lambda s, _: s.update(resource="Gone")),
    Mistake(
        *("command", ".command", "has no command"),
        lambda s, draw: s.update(command=draw.choice(["laod", "Load", "loads"])),
    ),
    Mistake(ALL.removeprefix("class "), "", "lacks 'command'", lambda s, _: s.pop("command")),
    Mistake("retries", ".retreis", "did you mean 'retries'?", lambda s, _: s.update(retreis=2)),
    Mistake(
        *("parameters output input table count words file", ".paramters"),
        "did you mean 'parameters'?",
        lambda s, _: s.update(paramters=s.pop("parameters")),
    ),
    Mistake(
        *("table", ".parameters.tabel", "did you mean 'table'?"),
        lambda s, _: s["parameters"].update(tabel=s["parameters"].pop("table")),
    ),
    Mistake("table", ".parameters", "lacks 'table'", lambda s, _: s["parameters"].pop("table")),
    Mistake(
        *("count", ".parameters.count", "must be an integer"),
        lambda s, _: s["parameters"].update(count="many"),
    ),
    Mistake(
        *("words", ".parameters.words[1]", "must be a string"),
        lambda s, _: s["parameters"].update(words=["a", 5]),
    ),
    Mistake(
        *("input", ".parameters.csv_file", "there is no file 'absent.csv'"),
        lambda s, _: s["parameters"].update(csv_file="absent.csv"),
    ),
    Mistake(
        *("input", ".parameters.csv_file", "leads out of data/shared"),
        lambda s, _: s["parameters"].update(csv_file="../../metadata.json"),
    ),
    Mistake(
        *("output file", ".parameters.output_file", "would overwrite an input"),
        lambda s, _: s["parameters"].update(output_file="in0.csv"),
    ),
    Mistake(
        *("timeout", ".timeout", "must be"),
        lambda s, draw: s.update(timeout=draw.choice([0, "soon"])),
    ),
    Mistake(
        *("check pattern", ".check", "says nothing to check"),
        lambda s, _: s.update(check={"any_order": True}),
    ),
    Mistake(
        *("pattern", ".check.pattern", "is not a regular expression"),
        lambda s, _: s["check"].update(pattern="("),
    ),
    Mistake(
        *("check file", ".check.file", "the step makes no output 'absent'"),
        lambda s, _: s["check"].update(file="absent"),
    ),
    Mistake(
        *("check", ".check.equal", "there is no file 'absent.csv'"),
        lambda s, _: s["check"].update(equal="absent.csv"),
    ),
    Mistake(
        *("expect_failure check", ".check", "cannot go with expect_failure"),
        lambda s, _: s.update(expect_failure=True),
    ),
]


def of_case(mistake: Mistake, case: Planting) -> None:
    if case.claim(*mistake.parts.split()):
        mistake.change(case.document, case.draw)
        case.expect(f"${mistake.path}", mistake.message)


def of_step(mistake: Mistake, case: Planting) -> None:
    if found := case.step(*mistake.parts.split()):
        position, step = found
        place = len(step["needs"])
        mistake.change(step, case.draw)
        case.expect(f"$.steps[{position}]{mistake.path.format(place=place)}", mistake.message)


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
    *(partial(of_case, mistake) for mistake in CASE_MISTAKES),
    *(partial(of_step, mistake) for mistake in STEP_MISTAKES),
    *(duplicate_id, cycle, unwaited_input),
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
