"""Answers that are accepted as the expected ones: one run of each case, which nobody measures.

All cases are executed before the first file is written. A check's other criteria hold in that run
too, so what a case says of its answers by other means is never overwritten.
"""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from benchyard.case.registry import Registry
from benchyard.case.resource import FileRole
from benchyard.core.errors import CaseFailedError, InputError, RunInterruptedError
from benchyard.core.files import writing_atomically
from benchyard.core.model import Case, Check, Outcome, Step
from benchyard.host.measuring import LocalCollector
from benchyard.process.files import temporary_folder
from benchyard.results.record import RunRecord, StepRecord
from benchyard.run.attempts import answer_folder
from benchyard.run.engine import Executed
from benchyard.run.judging import difference, is_table
from benchyard.run.progress import current_listener
from benchyard.run.request import Request
from benchyard.run.run_context import RunContext
from benchyard.run.workspaces import declared_files

#: Seconds between two samples, which nobody looks at.
_INTERVAL = 1.0
Execute = Callable[[RunContext, Request], Executed]


class AnswerChange(StrEnum):
    """What an answer is to the file with the expected one."""

    NEW = "new"
    CHANGED = "changed"
    SAME = "same"


@dataclass(frozen=True, slots=True)
class Accepted:
    """What became of one file with an expected answer.

    Args:
        file: The file.
        steps: The steps that gave the answer, each with its case: ``tpch: q01``.
        change: What the answer is to the file as it was.
        difference: The first differences; empty unless changed.
    """

    file: Path
    steps: tuple[str, ...]
    change: AnswerChange
    difference: str = ""


@dataclass(frozen=True, slots=True)
class _Answer:
    """An answer, with the check that names the file for it."""

    name: str
    check: Check
    answer: Path


def accept(
    cases: Sequence[Case],
    registry: Registry,
    execute: Execute,
    *,
    write: bool = True,
    wait: bool = True,
) -> list[Accepted]:
    """Execute cases once, and write the answers into the files that their checks expect.

    Args:
        cases: Their files with expected answers may lack.
        registry: The resource classes.
        execute: Executes a case without Prefect.
        write: False: only tell what would be written.
        wait: Whether to wait for another lab that measures here.

    Returns:
        Every file that a check names, in the order of first mention.

    Raises:
        InputError: If no check names a file, a case's folder cannot be written to, or a file that
            would change is one that steps read or make.
        CaseFailedError: If a step failed, or two answers for one file differ; nothing is written.
        RunInterruptedError: If the user asked to stop.
    """
    chosen = [case for case in cases if any(map(_expected, case.steps))]
    if not chosen:
        raise InputError(
            "--accept: no step of these cases has a check with 'equal', which names the file that "
            'an answer is written to; add one: "check": {"equal": "expected/answer.csv"}'
        )
    with ExitStack() as folders:
        wanted: dict[Path, list[_Answer]] = {}
        for case in chosen:
            place = _temporary(case, folders)
            for step, answer in _executed(case, registry, place, execute, wait=wait):
                check = step.check or Check()
                target = (case.shared / (check.equal or "")).resolve()
                named = _Answer(f"{case.title}: {step.name}", check, answer)
                wanted.setdefault(target, []).append(named)
        _refuse_contradictions(wanted)
        accepted = [_accepted(target, answers) for target, answers in wanted.items()]
        changes = [one.file for one in accepted if one.change is not AnswerChange.SAME]
        _refuse_used(changes, chosen, registry)
        for file in changes if write else ():
            _write(wanted[file][0].answer, file)
    return accepted


def _expected(step: Step) -> bool:
    return step.check is not None and step.check.equal is not None


def _temporary(case: Case, folders: ExitStack) -> Path:
    """Make a hidden folder in the case's, where answers can be linked and no case is looked for."""
    try:
        return folders.enter_context(temporary_folder(case.folder))
    except OSError as error:
        raise InputError(f"{case.folder} cannot be written to: {error.strerror}") from error


def _executed(
    case: Case, registry: Registry, place: Path, execute: Execute, *, wait: bool
) -> Iterator[tuple[Step, Path]]:
    """Execute a case once; yield each step whose check names a file, and its answer."""
    answers = place / "answers"
    setting = RunContext(
        case=replace(case, steps=tuple(map(_once, case.steps))),
        results=place / "results",
        registry=registry,
        interval=_INTERVAL,
        make_collector=LocalCollector,
        answers=answers,
        listener=current_listener(),
    )
    request = Request(case="", runs=1, cooldown=0.0, wait=wait, publish=())
    executed = execute(setting, request)
    if executed.interrupted:
        raise RunInterruptedError("stopped; no answer was accepted")
    [record] = executed.records
    _refuse_failures(case, record)
    for step in filter(_expected, case.steps):
        [answer] = answer_folder(answers, step).iterdir()
        yield step, answer


def _once(step: Step) -> Step:
    check = step.check and replace(step.check, equal=None)
    return replace(step, check=check, warmup=0, repeat=1)


def _refuse_failures(case: Case, record: RunRecord) -> None:
    """Refuse a run that failed, or an answer of a step that was tolerated to fail."""
    wanted = {step.index for step in case.steps if _expected(step)}
    bad = [
        step
        for step in record.steps
        if not step.outcome.lets_the_case_go_on
        or (step.outcome is not Outcome.COMPLETED and step.index in wanted)
    ]
    if bad or record.outcome is not Outcome.COMPLETED:
        why = _why(bad[0]) if bad else (record.error.message if record.error else record.outcome)
        raise CaseFailedError(f"{case.title}: {why}; no answer was accepted")


def _why(step: StepRecord) -> str:
    error = step.attempts[-1].error if step.attempts else None
    return f"step {step.name}: {error.message if error else step.reason or step.outcome}"


def _refuse_contradictions(wanted: dict[Path, list[_Answer]]) -> None:
    wrong: list[str] = []
    for target, (first, *others) in wanted.items():
        for other in others:
            found = difference(first.answer, other.answer, other.check, tabular=is_table(target))
            if found is not None:
                names = f"'{first.name}' and '{other.name}'"
                wrong.append(f"{target}: {names} give different answers\n{found}")
    if wrong:
        raise CaseFailedError("\n".join([*wrong, "no answer was accepted"]))


def _refuse_used(changes: Sequence[Path], cases: Sequence[Case], registry: Registry) -> None:
    """Refuse to write what steps read or make: the case would ask another question, or none."""
    used = {
        (case.shared / name).resolve()
        for case in cases
        for step in case.steps
        for name in declared_files(step, registry.classes[case.class_of(step.resource)], FileRole)
    }
    wrong = [str(file) for file in changes if used & {file, *file.parents}]
    if wrong:
        said = "a step reads or makes a file of that name; let 'equal' name another one, such as"
        raise InputError(f"{', '.join(wrong)}: {said} expected/answer.csv; no answer was accepted")


def _accepted(target: Path, answers: list[_Answer]) -> Accepted:
    names = tuple(answer.name for answer in answers)
    if not target.exists():
        return Accepted(target, names, AnswerChange.NEW)
    for one in answers:
        found = difference(target, one.answer, one.check, tabular=is_table(target))
        if found is not None:
            return Accepted(target, names, AnswerChange.CHANGED, found)
    return Accepted(target, names, AnswerChange.SAME)


def _write(answer: Path, target: Path) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with answer.open("rb") as source, writing_atomically(target) as stream:
            shutil.copyfileobj(source, stream, 1 << 20)
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror}") from error
