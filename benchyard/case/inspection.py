"""The cases of one document, or all that is wrong with it at all points of its matrix.

Shape, matrix, graph, classes, parameters, files: each stage checks what passed the ones before it,
so that no mistake hides another one. Each problem is told once, with the points that have it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any, cast

from benchyard.case.fitness import CLASS, Fitness, without_class
from benchyard.case.inputs import Inputs
from benchyard.case.needs import StepNeeds, answer_wanted, step_id
from benchyard.case.problems import MOST_PROBLEMS, Finding, JsonPath
from benchyard.case.registry import Registry
from benchyard.case.shape import (
    as_meant,
    as_written,
    changed_findings,
    matrix_findings,
    near_misses,
    requires_findings,
    shape_findings,
    size_finding,
    value_at,
    without,
)
from benchyard.case.templates import MATRIX, Template, points
from benchyard.core.amounts import parse_memory
from benchyard.core.model import (
    Case,
    Check,
    Json,
    JsonObject,
    Requires,
    Step,
    literal,
    mapped,
    plain,
    point_suffix,
)
from benchyard.core.wording import Sentence, quote

#: How often ``may_fail`` alone tries again.
_RETRIES_OF_MAY_FAIL = 2
#: Keys of a step that are taken as they are.
_AS_WRITTEN = (
    *("resource", "command", "parameters", "timeout", "retry_delay"),
    *("may_fail", "expect_failure", "measure"),
)


def build_case(folder: Path, document: JsonObject, point: JsonObject) -> Case:
    """Make the case of one matrix point from a document that has been validated and filled."""
    given = cast("dict[str, JsonObject]", document.get("resources", {}))
    steps = cast("list[dict[str, Any]]", document["steps"])
    fields = _literal(document, "resources", "steps")
    name = fields["name"]
    subject: dict[str, Any] = fields.get("subject", {})
    pause: float | str | None = fields.get("cooldown")
    return Case(
        folder=folder,
        id=fields.get("@id", f"urn:benchyard:case:{name}"),
        name=name,
        description=fields.get("description", ""),
        steps=build_steps(steps),
        tags=tuple(fields.get("tags", ())),
        point=point,
        settings={own: without_class(one) for own, one in given.items()},
        classes={own: str(one[CLASS]) for own, one in given.items() if CLASS in one},
        requires=_requires(fields.get("requires", {})),
        repositories=_names(subject, "repository"),
        files=_names(subject, "files"),
        build=_names(subject, "build"),
        confirm=subject.get("confirm", {}),
        # "auto" is none.
        cooldown=float(pause) if isinstance(pause, int | float) else None,
    )


def _literal(members: Mapping[str, Json], *later: str) -> dict[str, Any]:
    """Return members without escapes, but for those whose references are resolved later."""
    return {key: one if key in later else mapped(one, literal) for key, one in members.items()}


def _names(subject: dict[str, Any], key: str) -> tuple[str, ...]:
    named: str | list[str] = subject.get(key, [])
    return (named,) if isinstance(named, str) else tuple(named)


def _requires(fields: dict[str, Any]) -> Requires:
    cores, memory = fields.get("cores"), fields.get("memory")
    return Requires(
        tags=tuple(fields.get("tags", ())),
        hosts=tuple(fields.get("hosts", ())),
        memory_bytes=None if memory is None else parse_memory(memory),
        cores=None if cores is None else int(cores),
        docker=fields.get("docker", False),
    )


def build_steps(documents: list[dict[str, Any]]) -> tuple[Step, ...]:
    """Make the steps; a step without ``needs`` waits for the one before it."""
    documents = [_literal(fields, "parameters") for fields in documents]
    ids = [step_id(fields, index) for index, fields in enumerate(documents, 1)]
    return tuple(_step(fields, index, ids) for index, fields in enumerate(documents, 1))


def _step(fields: dict[str, Any], index: int, ids: list[str]) -> Step:
    before = (ids[index - 2],) if index > 1 else ()
    check = fields.get("check")
    compared = answer_wanted(fields)
    needs = (*fields.get("needs", before), *([compared] if compared else []))
    retries = fields.get("retries", _RETRIES_OF_MAY_FAIL if fields.get("may_fail") else 0)
    return Step(
        index=index,
        id=ids[index - 1],
        name=fields.get("name", f"{fields['resource']} {fields['command']}"),
        needs=tuple(dict.fromkeys(needs)),
        # 2.0 is an integer to JSON Schema; counting needs a real one.
        retries=int(retries),
        warmup=int(fields.get("warmup", 0)),
        repeat=int(fields.get("repeat", 1)),
        check=Check(**check) if check is not None else None,
        **{key: fields[key] for key in _AS_WRITTEN if key in fields},
    )


def inspect(
    document: JsonObject, folder: Path, registry: Registry, *, accepting: bool = False
) -> tuple[list[Case], list[Finding]]:
    """Return the cases of a document, and what is wrong with it: never both.

    Args:
        folder: Where it lies.
        accepting: Whether files with expected answers may lack.
    """
    read, misspelt = as_meant(document)
    wrong = shape_findings(read)
    told = chain(as_written(wrong, misspelt), near_misses(document))
    # The list may be cut off before it reaches a part, so an unlisted part may be wrong, too.
    if len(wrong) > MOST_PROBLEMS:
        return [], _first(told)
    sound, removed = _sound(read, wrong)
    matrix = [*islice(matrix_findings(sound, read), MOST_PROBLEMS + 1)]
    inputs = Inputs(folder / "data" / "shared", accepting=accepting)
    right, at_points = _at_points(sound, removed, Fitness(inputs, registry))
    found = _first(chain(told, as_written(chain(matrix, at_points), misspelt)))
    # Of what lacks a name or steps, or holds what no matrix fills, no case can be made.
    return [] if found else [build_case(folder, *each) for each in right], found


def _first(findings: Iterable[Finding]) -> list[Finding]:
    """Return different findings, and one that says so if there are too many."""
    found: dict[Finding, None] = {}
    for finding in findings:
        found[finding] = None
        if len(found) > MOST_PROBLEMS:
            found.popitem()
            found[(), f"has more problems than these {MOST_PROBLEMS:,}; mend them first"] = None
            break
    return [*found]


def _sound(document: JsonObject, wrong: Iterable[Finding]) -> tuple[JsonObject, set[JsonPath]]:
    """Return a document without the parts of wrong shape, and the places of those."""
    removed: set[JsonPath] = set()
    for path, _ in wrong:
        # A step that is an object is found wrong for what it lacks; the rest of it is sound.
        whole = len(path) == 2 and path[0] == "steps" and isinstance(value_at(document, path), dict)
        if path and not whole:
            removed.add(path[:2] if path[0] == "matrix" else path)
    made = without(document, removed)
    steps = made.get("steps")
    if isinstance(steps, list) and any(not isinstance(step, dict) for step in steps):
        objects: list[Json] = [step if isinstance(step, dict) else {} for step in steps]
        made = cast("JsonObject", {**made, "steps": objects})
    return made, removed


def _at_points(
    document: JsonObject, removed: set[JsonPath], fitness: Fitness
) -> tuple[list[tuple[JsonObject, JsonObject]], Iterator[Finding]]:
    """Look at the points of the matrix.

    Returns:
        The filled document of each that is right, with the point; and what is wrong with others.
    """
    matrix = cast("dict[str, list[Json]]", document.get("matrix", {}))
    # Of a case with too many points the first one stands for all, unless it is too large itself.
    first: dict[str, Json] = {name: values[:1] for name, values in matrix.items()}
    too_large = size_finding(document)
    if too_large and size_finding({**document, "matrix": first}):
        return [], iter(())
    body = {key: value for key, value in document.items() if key != "matrix"}
    template, merged = Template(body), AtPoints(document)
    right: list[tuple[JsonObject, JsonObject]] = []
    for point in islice(points(matrix), 1 if too_large else None):
        filled = fitness.as_declared(template.at(point), body)
        told = _findings(filled, body, fitness)
        known = (one for one in told if not _is_unknown(one[0], filled, removed))
        found = [*islice(known, MOST_FINDINGS)]
        right += [] if found else [(filled, point)]
        if not merged.note(point, filled, found):
            break
    return right, merged.findings()


def _findings(filled: JsonObject, body: JsonObject, fitness: Fitness) -> Iterator[Finding]:
    """Yield the problems of one point that the body shared by all points does not have."""
    changed = [*changed_findings(filled, body)]
    yield from changed
    sound, _ = _sound(filled, changed)
    waiting = StepNeeds(cast("list[dict[str, Any]]", sound.get("steps", [])))
    yield from waiting.findings
    yield from requires_findings(cast("dict[str, Any]", sound.get("requires", {})))
    yield from fitness.findings(sound, waiting)


def _is_unknown(path: JsonPath, document: JsonObject, removed: set[JsonPath]) -> bool:
    """Return whether a value is unknown, since an earlier stage found it or its matrix wrong."""
    value = value_at(document, path)
    if isinstance(value, str) and MATRIX.search(value):
        return True
    return any(path[:length] in removed for length in range(1, len(path) + 1))


#: Points that are named; of more the number is told.
_NAMED = 3
#: Findings of all points together, after which no further point is looked at.
MOST_FINDINGS = 50_000


@dataclass(slots=True)
class _Alike:
    """Findings that differ in values of the matrix alone: the first one, and all points.

    Args:
        same: Whether all have the same message.
    """

    finding: Finding
    points: list[JsonObject] = field(default_factory=list[JsonObject])
    same: bool = True


class AtPoints:
    """Collects findings, point by point.

    Args:
        document: With its references to the matrix.
    """

    def __init__(self, document: JsonObject) -> None:
        self._document = document
        #: By path, what the messages have in common, and which of those at one point it is.
        self._alike: dict[tuple[JsonPath, str, int], _Alike] = {}
        self._looked_at = 0

    def note(self, point: JsonObject, filled: JsonObject, findings: list[Finding]) -> bool:
        """Take in what is wrong at one point; return whether another one is to be looked at.

        Args:
            filled: The document at this point.
        """
        self._looked_at += 1
        count: Counter[tuple[JsonPath, str]] = Counter()
        for finding in dict.fromkeys(findings):
            kind = finding[0], self._form(finding, filled)
            count[kind] += 1
            alike = self._alike.setdefault((*kind, count[kind]), _Alike(finding))
            alike.points.append(point)
            alike.same &= alike.finding == finding
        return len(self._alike) < MOST_FINDINGS

    def _form(self, finding: Finding, filled: JsonObject) -> str:
        """Return a message without the values that it tells of."""
        path, message = finding
        if isinstance(message, Sentence):
            return message.form
        # Plain text, of a resource class.
        written, value = value_at(self._document, path), value_at(filled, path)
        if isinstance(written, str) and value not in ("", written):
            return message.replace(plain(value), written)
        return message

    def findings(self) -> Iterator[Finding]:
        """Yield each problem once; messages that differ in values of the matrix alone are one."""
        for alike in self._alike.values():
            path, message = alike.finding
            yield path, message + self._where(alike)

    def _where(self, alike: _Alike) -> str:
        """Say which points have a problem."""
        count, looked_at = len(alike.points), self._looked_at
        if looked_at == 1:
            return ""
        names = [quote(point_suffix(point)) for point in alike.points[:_NAMED]]
        if count == 1:
            return f" (at {names[0]})"
        where = f"in all {count:,} points"
        if count < looked_at:
            more = ", …" if count > _NAMED else ""
            where = f"in {count:,} of {looked_at:,} points: {', '.join(names)}{more}"
        return f" ({where})" if alike.same else f" (at {names[0]}; alike {where})"
