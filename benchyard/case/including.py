"""Steps that stand in a file of their own, for several cases.

``{"include": "../shared/steps.json"}`` stands for them among the steps of a case. They take its
place before anything else is looked at. An included file is a list of steps, or an object with such
a list under ``steps``; it may include others.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from benchyard.case.problems import MOST_PROBLEMS, Finding, JsonPath, Problem, json_path
from benchyard.case.reading import kind_of, read_json
from benchyard.case.templates import MAX_STEPS
from benchyard.core.model import Json, JsonObject
from benchyard.core.wording import quote

INCLUDE = "include"
#: Includes of one case, and files that include one another; more are mistakes.
MAX_INCLUDES, MAX_NESTED = 1_000, 16


@dataclass(frozen=True, slots=True)
class StepPlace:
    """Where a step stands: a file, and the path in it."""

    file: Path
    path: JsonPath


@dataclass(frozen=True, slots=True)
class Included:
    """A case with the steps that it includes.

    Args:
        document: With all steps in their places.
        places: Where each step stands; empty where nothing is included.
        files: The included files, in the order of first mention.
        problems: What could not be included.
    """

    document: JsonObject
    places: Sequence[StepPlace] = ()
    files: tuple[Path, ...] = ()
    problems: tuple[Problem, ...] = ()

    def problem(self, file: Path, finding: Finding) -> Problem:
        """Tell of a finding where it stands in the files.

        Args:
            file: The case's own.
            finding: Its path is that in the document with all steps.
        """
        path, message = finding
        if self.places and path[:1] == ("steps",) and len(path) > 1:
            place = self.places[cast("int", path[1])]
            return Problem(place.file, json_path((*place.path, *path[2:])), message)
        return Problem(file, json_path(path), message)


def with_included(file: Path, document: JsonObject) -> Included:
    """Put the steps of other files in the places of what includes them.

    Args:
        file: The case's metadata.json.
        document: What it holds.
    """
    steps = document.get("steps")
    if not isinstance(steps, list) or not any(map(_includes, steps)):
        return Included(document)
    reading = _Reading(file.parent.parent)
    found = [*reading.steps(file, steps, ("steps",), (file,))]
    if len(found) > MAX_STEPS:
        message = f"are more than {MAX_STEPS:,} with those of the included files"
        reading.problems[Problem(file, "$.steps", message)] = None
    problems = tuple(reading.problems)
    whole: JsonObject = {**document, "steps": [step for step, _ in found]}
    return Included(whole, [place for _, place in found], tuple(reading.files), problems)


def _includes(step: Json) -> bool:
    return isinstance(step, dict) and INCLUDE in step


@dataclass(slots=True)
class _Reading:
    """Reads the included files of one case, each once.

    Args:
        bound: The folder that the case lies in; no file outside of it is read.
    """

    bound: Path
    files: dict[Path, "Json | Problem"] = field(default_factory=dict[Path, "Json | Problem"])
    problems: dict[Problem, None] = field(default_factory=dict[Problem, None])
    _count: int = 0
    _number: int = 0

    def steps(
        self, file: Path, steps: list[Json], base: JsonPath, chain: tuple[Path, ...]
    ) -> Iterator[tuple[Json, StepPlace]]:
        """Yield the steps of one list, included ones among them, and where each stands.

        Args:
            base: Path of the list in the file.
            chain: The files from the case's own on, each included by the one before.
        """
        for position, step in enumerate(steps):
            if self._count > MAX_INCLUDES or len(self.problems) >= MOST_PROBLEMS:
                return
            place = StepPlace(file, (*base, position))
            if _includes(step):
                yield from self._included(place, cast("JsonObject", step), chain)
            elif self._number <= MAX_STEPS:
                self._number += 1
                yield step, place

    def _included(
        self, place: StepPlace, entry: JsonObject, chain: tuple[Path, ...]
    ) -> Iterator[tuple[Json, StepPlace]]:
        where = json_path((*place.path, INCLUDE))
        try:
            target = _target(place.file, entry, self.bound)
            self._count += 1
            _refuse_many(target, chain, self._count)
            base, steps = _list_in(target, self._read(target))
        except _Unusable as error:
            problem = error.problem or Problem(place.file, where, str(error))
            self.problems[problem] = None
            return
        yield from self.steps(target, steps, base, (*chain, target))

    def _read(self, file: Path) -> Json:
        if file not in self.files:
            self.files[file] = read_json(file)
        value = self.files[file]
        if isinstance(value, Problem):
            raise _Unusable(value.message, value)
        return value


class _Unusable(Exception):  # noqa: N818 - a finding, not a defect
    """What cannot be included, and why; the problem is that of the included file, if it has one."""

    def __init__(self, message: str, problem: Problem | None = None) -> None:
        super().__init__(message)
        self.problem = problem


def _target(file: Path, entry: JsonObject, bound: Path) -> Path:
    """Return the file that is meant; every folder and link on the way stays within the bound."""
    name = entry[INCLUDE]
    others = "', '".join(quote(key) for key in sorted(entry.keys() - {INCLUDE}))
    if others:
        raise _Unusable(f"stands beside '{others}'; an included file has its entry to itself")
    if not isinstance(name, str) or not name:
        kind = "an empty one" if name == "" else kind_of(name)
        raise _Unusable(f"must be the path of a file, a string, not {kind}")
    if "${" in name:
        raise _Unusable("must stand there as it is: files are included before the matrix is read")
    target = Path(os.path.normpath(file.parent / name))
    try:
        real, limit = os.path.realpath(target), os.path.realpath(bound)
    except ValueError as error:
        raise _Unusable(f"'{quote(name)}' cannot be a file name: {error}") from error
    if name.startswith("/") or not Path(real).is_relative_to(limit):
        raise _Unusable(f"'{quote(name)}' leads out of {limit}, the folder that the case lies in")
    return target


def _list_in(file: Path, value: Json) -> tuple[JsonPath, list[Json]]:
    """Return where in a file its list of steps stands, and the list."""
    base: JsonPath = ()
    if isinstance(value, dict):
        base, value = ("steps",), value.get("steps")
    if not isinstance(value, list):
        message = "must be a list of steps, or an object with such a list under 'steps'"
        raise _Unusable(message, Problem(file, "$", message))
    if not value:
        raise _Unusable("has no step", Problem(file, json_path(base), "has no step"))
    return base, value


def _refuse_many(target: Path, chain: tuple[Path, ...], count: int) -> None:
    if target in chain:
        circle = (*chain[chain.index(target) :], target)
        names = " → ".join(quote(file.name) for file in circle)
        raise _Unusable(f"the files include each other: {names}")
    if len(chain) > MAX_NESTED:
        raise _Unusable(f"files include one another more than {MAX_NESTED} deep")
    if count > MAX_INCLUDES:
        raise _Unusable(f"is one of more than {MAX_INCLUDES:,} includes of this case")
