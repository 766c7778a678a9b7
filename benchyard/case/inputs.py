"""Whether the files that steps read and make can be had, and in the order of the steps."""

import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchyard.case.needs import StepNeeds, answer_wanted
from benchyard.case.parameters import NamedFile
from benchyard.case.problems import Finding
from benchyard.case.resource import READ, FileRole
from benchyard.core.files import inside, special
from benchyard.core.wording import Sentence, hint, quote

#: A name may lie so many folders deep; each is looked at for links.
_DEEPEST = 64


class Inputs:
    """The files in ``data/shared``, each looked at once.

    Args:
        shared: The case's ``data/shared``.
        accepting: Whether files with expected answers may lack.
    """

    def __init__(self, shared: Path, *, accepting: bool = False) -> None:
        self.shared = shared
        self.accepting = accepting
        #: As the function of that name.
        self.look: Callable[[str], bool | str] = cache(partial(look, shared))

    def problem(self, name: str) -> str | None:
        """Return why a file cannot be read: an empty text if it does not exist, None if it can."""
        try:
            what = special(Path(self.shared, name))
        except OSError:  # a link may lead nowhere
            return ""
        return what and Sentence(f"'{{}}' is {what}; an input must be a file or a folder", name)

    def absent(self, name: str, more: str) -> str:
        """Return the message for a file that does not exist, with what follows from that."""
        form = "there is no file '{}' in {shared}{more}"
        return Sentence(form, name, shared=self.shared, more=more)


def look(shared: Path, name: str) -> bool | str:
    """Return whether a file is in ``shared``, or why its name cannot be one inside it."""
    if not name:
        return "must name a file"
    outside = Sentence("'{}' leads out of data/shared; use a path inside it", quote(name))
    parts = name.split("/")
    if name.startswith("/") or ".." in parts:
        return outside
    if os.path.normpath(name) == ".":
        return Sentence("'{}' names data/shared itself; name a file in it", quote(name))
    try:
        status = os.lstat(f"{shared}/{name}")
    except FileNotFoundError:
        status = None
    except (OSError, ValueError) as error:
        return _no_name(name, getattr(error, "strerror", None) or str(error))
    if len(parts) > _DEEPEST:
        return _no_name(name, f"it lies more than {_DEEPEST} folders deep")
    # A plain name that is no link cannot lead out: the costly look is for the others.
    suspicious = "/" in name or (status is not None and stat.S_ISLNK(status.st_mode))
    if suspicious and inside(shared, name) is None:
        return outside
    return status is not None


def _no_name(name: str, reason: str) -> str:
    return Sentence("'{}' cannot be a file name: {reason}", quote(name), reason=reason)


class Makers:
    """Which steps make which files.

    Args:
        files: Of each step those that it names.
        maybe: What steps of unknown classes may make.
    """

    def __init__(self, files: Sequence[Sequence[NamedFile]], maybe: set[str]) -> None:
        self._maybe = maybe
        self.positions: dict[str, list[int]] = {}
        for position, named in enumerate(files):
            for name in {os.path.normpath(file.name) for file in named if file.role not in READ}:
                self.positions.setdefault(name, []).append(position)

    def missing(self, name: str, before: int) -> str | None:
        """Return why a file is not made before it is read; an empty text if no step makes it.

        Args:
            before: Set of the steps that the reader waits for, as bits.
        """
        path = Path(os.path.normpath(name))
        # A file is made itself, or as a part of a folder.
        found = [n for n in map(str, (path, *path.parents)) if n in self.positions]
        if any(before >> position & 1 for made in found for position in self.positions[made]):
            return None
        if not found:
            return None if name in self._maybe else ""
        first = min(self.positions[made][0] for made in found) + 1
        form = f"step {first} makes '{{}}', but this step does not wait for it (needs)"
        return Sentence(form, name)

    def races(self, waiting: StepNeeds) -> Iterator[Finding]:
        """Yield outputs that two steps make at the same time.

        Those who wait for each other come in their order; neighbours tell whether all do.
        """
        order = waiting.order
        for name, positions in self.positions.items():
            for pair in pairwise(sorted(positions, key=order.ranks.__getitem__)):
                if not order.waits(pair[1], pair[0]):
                    first, second = sorted(pair)
                    said = f"steps {first + 1} and {second + 1} make '{{}}' side by side"
                    more = "; give each its own, or let one need the other"
                    yield ("steps", second), Sentence(said + more, name)


def file_findings(
    files: Sequence[Sequence[NamedFile]], waiting: StepNeeds, inputs: Inputs, maybe: set[str]
) -> Iterator[Finding]:
    """Yield what is wrong with the files of all steps.

    Args:
        files: Of each step those that it names.
        maybe: What steps of unknown classes may make.
    """
    makers = Makers(files, maybe)
    for position, named in enumerate(files):
        for file in named:
            message = _problem(file, waiting.order.before[position], inputs, makers)
            if message:
                yield ("steps", position, "parameters", *file.path), message
    yield from makers.races(waiting)


def _problem(file: NamedFile, before: int, inputs: Inputs, makers: Makers) -> str | None:
    name = file.name
    if "${env:" in name or "${secret:" in name:
        return f"'{quote(name)}' holds a reference; the name of a file must stand in the case"
    there = inputs.look(name)
    if isinstance(there, str):
        return there
    if file.role not in READ:
        return Sentence("'{}' would overwrite an input of that name", name) if there else None
    wrong = inputs.problem(name)
    if wrong is None or wrong:
        return wrong
    missing = makers.missing(name, before)
    return inputs.absent(name, ", and no step makes it") if missing == "" else missing


def answer_findings(
    steps: Sequence[Mapping[str, Any]], files: Sequence[Sequence[NamedFile]], waiting: StepNeeds
) -> Iterator[Finding]:
    """Yield checks against the answer of a step that gives none, or several.

    Args:
        steps: All steps.
        files: Of each step those that it names.
    """
    for position, step in enumerate(steps):
        compared = waiting.place(answer_wanted(step))
        if compared is None:
            continue
        other, name = steps[compared], quote(waiting.ids[compared])
        outputs = outputs_of(files[compared])
        message = None
        if compared == position:
            message = "is the step itself; name another one"
        elif other.get("expect_failure"):
            message = Sentence("the step '{}' is expected to fail, so it gives no answer", name)
        elif _discards_answer(other, outputs):
            message = Sentence("the step '{}' discards its stdout, so it gives no answer", name)
        elif len(outputs) > 1 and "file" not in (other.get("check") or {}):
            made = "the step '{}' makes " + " and ".join(["{}"] * len(outputs))
            message = Sentence(f"{made}; its own check must say which ('file')", name, *outputs)
        if message:
            yield ("steps", position, "check", "equal_to"), message


def outputs_of(files: Sequence[NamedFile]) -> list[str]:
    """Return the files that a step makes as its answer."""
    return [file.name for file in files if file.role is FileRole.OUTPUT]


def _discards_answer(step: Mapping[str, Any], outputs: Sequence[str]) -> bool:
    """Whether a step's answer would be its stdout, and that is discarded."""
    discarded: object = step.get("parameters", {}).get("discard")
    return not outputs and isinstance(discarded, list) and "stdout" in discarded


def check_file_findings(
    step: Mapping[str, Any], files: Sequence[NamedFile] | None, inputs: Inputs
) -> Iterator[tuple[str, str]]:
    """Yield the member of a step's ``check`` and what is wrong with the file that it names.

    Args:
        files: Those that the step names; None if its command is unknown.
    """
    check: dict[str, Any] = step.get("check") or {}
    expected = check.get("equal")
    if expected is not None:
        there = inputs.look(expected)
        wrong = there if isinstance(there, str) else inputs.problem(expected)
        if wrong or (wrong == "" and not inputs.accepting):
            yield "equal", wrong or inputs.absent(expected, "; benchyard run --accept writes it")
    outputs = outputs_of(files or ())
    wanted = check.get("file")
    if files is not None and wanted is not None and wanted not in outputs:
        yield "file", f"the step makes no output '{quote(wanted)}'{hint(wanted, outputs)}"
    if check and files is not None and wanted is None and _discards_answer(step, outputs):
        yield "file", "is needed here: the step discards its stdout, and makes no other output"
    if check and wanted is None and len(outputs) > 1:
        made = "is needed here: the step makes " + " and ".join(["{}"] * len(outputs))
        yield "file", Sentence(made, *outputs)
