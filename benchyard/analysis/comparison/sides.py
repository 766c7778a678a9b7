"""Which sides are meant by ``PLACE[POINT]@RUNS:STEP``.

PLACE is a folder (results, a case, or one with several of these), the name of a case, a report,
each of whose sides is one, or another file with results. With a ``*`` or ``?`` in a name, a value
of the matrix, or a step, each match is a side of its own.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from benchyard.analysis.comparison.places import (
    FileOpener,
    no_file,
    open_results,
    read_reported,
)
from benchyard.analysis.comparison.run_sets import RunSelection, RunSet, is_place
from benchyard.case.loading import METADATA, find_metadata
from benchyard.case.reading import read_metadata
from benchyard.core.errors import InputError
from benchyard.core.model import Case, Json, plain, point_suffix
from benchyard.core.wording import hint, in_short, parse_runs
from benchyard.results.excerpt import is_report
from benchyard.results.layout import results_folder

_PARTS = re.compile(
    r"(?P<place>.+?)(?:\[(?P<point>[^\[\]]*)\])?(?:@(?P<runs>[^@:/\[\]]*))?(?::(?P<step>[^:/\]]+))?",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Places:
    """Where cases and their results are looked for.

    Args:
        root: Folder that names of cases are looked for in.
        results: Where results are instead of in the cases, or None.
        open_file: Reads files that are no reports.
    """

    root: Path
    results: Path | None = None
    open_file: FileOpener = no_file


@dataclass(frozen=True, slots=True)
class Side:
    """One of those that are compared.

    Args:
        name: As the user wrote it; of one among several matches what tells it from the others.
        whole: The same with everything that was written.
        cases: Its runs, by the case's title.
        step: Id of the step that it is about; None for all steps.
    """

    name: str
    whole: str
    cases: Mapping[str, RunSet]
    step: str | None = None


def read_sides(texts: Sequence[str], places: Places) -> list[Side]:
    """Read the runs of every side that is meant, in the order given.

    Raises:
        InputError: If a text means nothing, or some of the sides name a step and others do not.
    """
    return together([side for text in texts for side in _sides(text, places)])


def sides_in(selection: RunSelection, step: str | None = None) -> Iterator[Side]:
    """Read the runs of a selection as one side, or as one for each step that is meant.

    They are called as on the command line.

    Args:
        step: Its id, or a glob over ids.

    Raises:
        InputError: If there are no such runs or steps.
    """
    runs = "" if selection.runs is None else f"@{in_short(selection.runs)}"
    place = f"{selection.folder}{runs}"
    text = f"{place}:{step}" if step else place
    for found, cases in _steps(open_results(selection), step, text):
        name = found if found and found != step else text
        yield Side(name, f"{place}:{found}" if found else place, cases, found)


def together(sides: Sequence[Side]) -> list[Side]:
    """Return sides that are to be compared, each with a name of its own.

    Raises:
        InputError: If some name a step and others do not.
    """
    if len({side.step is None for side in sides}) > 1:
        whole = next(side.whole for side in sides if side.step is None)
        raise InputError(f"{whole} names no step, others do; write a step behind each, or none")
    names = [side.name for side in sides]
    return [s if names.count(s.name) == 1 else replace(s, name=s.whole) for s in sides]


def means_several(text: str) -> bool:
    """Tell whether a text has a sign that stands for several sides."""
    return not is_place(text) and any(sign in text for sign in "*?")


def _sides(text: str, places: Places) -> Iterator[Side]:
    if is_report(Path(text)):
        yield from _of_report(text)
        return
    if is_place(text):
        selection = RunSelection(_results(Path(text), places))
        yield Side(text, text, open_results(selection, places.open_file))
        return
    found = _PARTS.fullmatch(text)
    if found is None:
        raise InputError("an empty text names no side; leave it out, or give a case")
    runs = None if found["runs"] is None else parse_runs(found["runs"])
    suffix = "" if runs is None else f"@{found['runs']}"
    for name, folder in _folders(found["place"], places):
        selection = RunSelection(folder, None if found["point"] else runs)
        cases = open_results(selection, places.open_file)
        for point, at_point in _points(cases, found["point"], text):
            of_runs = _with_runs(at_point, runs, places) if runs and found["point"] else at_point
            for step, of_step in _steps(of_runs, found["step"], text):
                told = [name if _is_glob(found["place"]) else "", point]
                told += [step or "" if _is_glob(found["step"] or "") else ""]
                whole = name + (f"[{point or found['point']}]" if found["point"] else "") + suffix
                whole += f":{step}" if step else ""
                yield Side(" ".join(filter(None, told)) or text, whole, of_step, step)


def _of_report(text: str) -> Iterator[Side]:
    """Yield the sides that a report is about; a single one is called as the report."""
    sides = read_reported(Path(text))
    for side, cases in sides:
        alone = {title: one for title, one in cases.items() if one.everything}
        yield Side(text if len(sides) == 1 else side.name, f"{text} {side.name}", alone, side.step)


def _with_runs(
    cases: Mapping[str, RunSet], runs: tuple[int, ...], places: Places
) -> dict[str, RunSet]:
    selections = [RunSelection(one.folder, runs) for one in cases.values()]
    read = [open_results(one, places.open_file) for one in selections]
    return {title: one for side in read for title, one in side.items()}


def _is_glob(text: str) -> bool:
    return "*" in text or "?" in text


def _is_meant(text: str, pattern: str) -> bool:
    """Tell whether a text is one of those that a pattern with a sign stands for."""
    return _is_glob(pattern) and fnmatchcase(text, pattern)


# -- places


def _folders(place: str, places: Places) -> list[tuple[str, Path]]:
    """Return the folders that a place is, each with its name.

    Raises:
        InputError: If it is no folder and no case is called so, or two are.
    """
    for folder in (Path(place), places.root / place):
        if is_place(str(folder)):
            return [(place, _results(folder, places))]
    known = list(_named(places.root))
    found = [one for one in known if one[0] == place or _is_meant(one[0], place)]
    if not found:
        names = [name for name, _ in known]
        first = "; no baseline yet? measure one, or leave it out" if "/" in place else ""
        raise InputError(
            f"{place!r} is no folder, and no case below '{places.root}' is called so"
            f"{hint(place, names, 1000)}{first}"
        )
    names = [name for name, _ in found]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        both = " and ".join(str(folder) for name, folder in found if name == twice[0])
        raise InputError(
            f"{twice[0]!r} is the name of the cases in {both}; give one of the folders"
        )
    return [(name, _results(folder, places)) for name, folder in found]


def _named(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield the name and folder of every case below a folder, whether it is valid or not."""
    for file in find_metadata(root.resolve()):
        document = read_metadata(file)
        name = document.get("name") if isinstance(document, dict) else None
        yield (name if isinstance(name, str) else file.parent.name), file.parent


def _results(folder: Path, places: Places) -> Path:
    """Return where the results of a case are; of what is no case the folder itself."""
    if not (folder / METADATA).is_file():
        return folder
    case = Case(folder.resolve(), id="", name=folder.name, description="", steps=())
    elsewhere = places.results.resolve() if places.results else None
    return folder if elsewhere is None else results_folder(case, places.root, elsewhere)


# -- points of a matrix


def point_of(run_set: RunSet) -> Mapping[str, Json]:
    """Return the point of the matrix that the runs are of; empty without a matrix."""
    point = run_set.everything[-1].case.get("point")
    return point if isinstance(point, dict) else {}


def _points(
    cases: Mapping[str, RunSet], wanted: str | None, text: str
) -> Iterator[tuple[str, dict[str, RunSet]]]:
    """Yield the cases at each point that is wanted, and what tells that point from the others.

    Args:
        wanted: ``threads=4``, ``threads=*``, several with commas, or ``*``; None takes all points.

    Raises:
        InputError: If no case is at such a point.
    """
    if wanted is None:
        yield "", dict(cases)
        return
    groups: dict[str, dict[str, RunSet]] = {}
    for run_set in cases.values():
        told = _told_apart(point_of(run_set), wanted)
        if told is not None:
            groups.setdefault(told, {})[run_set.title] = run_set
    if not groups:
        known = sorted(point_suffix(point_of(one)) or "no matrix" for one in cases.values())
        raise InputError(
            f"{text!r}: no runs at such a point of the matrix; there is {known[0]}"
            f"{''.join(f', {one}' for one in known[1:10])}"
        )
    yield from groups.items()


def _told_apart(point: Mapping[str, Json], wanted: str) -> str | None:
    """Return those values that a sign stands for; None if the point is not a wanted one."""
    written = {name: plain(value) for name, value in point.items()}
    if wanted == "*":
        return point_suffix(point)[1:-1] or None
    if wanted == point_suffix(point)[1:-1]:
        return ""
    parts = [one.strip().partition("=") for one in wanted.split(",")]
    asked = {name: value for name, _, value in parts}
    fits = (
        written.get(name) == value or _is_meant(written.get(name, ""), value)
        for name, value in asked.items()
    )
    if not (all(name in written for name in asked) and all(fits)):
        return None
    return ",".join(f"{name}={written[name]}" for name in asked if _is_glob(asked[name]))


# -- steps


def _steps(
    cases: Mapping[str, RunSet], wanted: str | None, text: str
) -> Iterator[tuple[str | None, dict[str, RunSet]]]:
    """Yield the cases with each step alone that is wanted; None leaves them as they are.

    Of set-up, which is not measured, nothing can be compared: a sign does not stand for it.

    Raises:
        InputError: If no case has such a step.
    """
    known = list(dict.fromkeys(step for one in cases.values() for step in one.step_ids))
    if wanted is None:
        yield None, dict(cases)
        return
    matching = [one for one in known if _is_meant(one, wanted)]
    measured = [one for one in matching if _is_measured(cases, one)]
    found = [wanted] if wanted in known else measured or matching
    if not found:
        raise InputError(f"{text!r}: no step is {wanted!r}{hint(wanted, known)}")
    for step in found:
        # Whatever a step is called, it is paired with that of the other side.
        alone = {t: replace(one, compared_as={step: ""}) for t, one in cases.items()}
        yield step, {title: one for title, one in alone.items() if step in one.step_ids}


def _is_measured(cases: Mapping[str, RunSet], step: str) -> bool:
    records = [record for one in cases.values() for record in one.everything]
    return any(one.measure for record in records for one in record.steps if one.id == step)
