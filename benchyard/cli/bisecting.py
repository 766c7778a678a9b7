"""``benchyard bisect`` and ``confirm``: which version is slower, and whether it really is."""

import math
import shlex
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from benchyard.bisect.course import (
    BisectionCourse,
    BisectionPlan,
    ConfirmationCourse,
    ConfirmationPlan,
)
from benchyard.bisect.versions import commits, listed, two_commits
from benchyard.cli.common import CommandT, combined, gathered, json_option
from benchyard.cli.fields import field_options
from benchyard.cli.option_types import NamedPath, Percent
from benchyard.cli.terminal import print_json, say
from benchyard.core.errors import ExitCode
from benchyard.core.files import shown
from benchyard.core.model import JsonObject
from benchyard.core.quantity import duration, percent, plural, shorten
from benchyard.statistics import median
from benchyard.statistics.bisection import Conclusion
from benchyard.statistics.confirmation import Standing
from benchyard.statistics.pairs import middle_difference
from benchyard.timing.execution import CommandStreams, executor

_Course = BisectionCourse | ConfirmationCourse
#: Of the step's distribution: the ends of its interval, and its middle.
_SHARES = 0.025, 0.5, 0.975
_CODES = {
    Standing.CONFIRMED: ExitCode.REGRESSION,
    Standing.NOT_CONFIRMED: ExitCode.DONE,
    Standing.OPEN: ExitCode.CANNOT_TELL,
}


def _versions_and_command(
    kind: type[BisectionPlan | ConfirmationPlan], *names: str, **own: Any
) -> Callable[[CommandT], CommandT]:
    """Add the arguments and options that bisect and confirm share; ``plan`` is made of them.

    Args:
        kind: The class of the plan.
        names: Of its own fields that are options.
        own: Their settings; see ``field_options``.
    """

    def with_line(_: click.Context, __: click.Parameter, words: tuple[str, ...]) -> str:
        return words[0] if len(words) == 1 else shlex.join(words)

    return combined(
        click.argument("good"),
        click.argument("bad"),
        click.argument(
            "line", nargs=-1, required=True, metavar="-- COMMAND...", callback=with_line
        ),
        field_options(
            *(kind, "build", "versions", "shell", *names, "timeout", "max_time", "state"),
            versions={"multiple": False, "metavar": "FILE|NAME,..."},
            state={"type": NamedPath(dir_okay=False)},
            **own,
        ),
        json_option,
        gathered("plan", kind),
    )


@click.command("bisect")
@_versions_and_command(BisectionPlan, "sure", "threshold", "predict")
def command(good: str, bad: str, plan: BisectionPlan, *, as_json: bool) -> int:
    """Find the commit between GOOD and BAD that made a command slower.

    Each version is built in a work tree of its own, and measured in turns with GOOD. After Ctrl-C
    the same command goes on.

    Example:
        benchyard bisect v1.0 HEAD --build make -- ./program
    """
    names = plan.versions
    searched = commits(Path.cwd(), good, bad) if names is None else listed(good, bad, names)
    with executor(CommandStreams()) as running:
        course = BisectionCourse(searched, plan, running)
        for _ in course.proceed():
            say(_step(course), err=True)
    known = course.conclusion is not Conclusion.OPEN
    _tell(course, _bisected(course), _bisection(course), known=known, as_json=as_json)
    done = course.conclusion is Conclusion.FOUND or (plan.predict and not known)
    return ExitCode.DONE if done else ExitCode.CANNOT_TELL


@click.command("confirm")
@_versions_and_command(ConfirmationPlan, "margin", "twice", "level", margin={"type": Percent()})
def confirm(good: str, bad: str, plan: ConfirmationPlan, *, as_json: bool) -> int:
    """Confirm that BAD is slower than GOOD, by up to 30 pairs.

    Pairs are in random order, each version in a work tree of its own. After Ctrl-C the same command
    goes on.

    Example:
        benchyard confirm v1.0 v1.1 -- ./program
    """
    names = plan.versions
    searched = two_commits(Path.cwd(), good, bad) if names is None else listed(good, bad, names)
    with executor(CommandStreams()) as running:
        course = ConfirmationCourse(searched, plan, running)
        for _ in course.proceed():
            key, seconds, good_s, _ = course.state.pairs[-1]
            side = course.bad if key == course.bad.key else f"{course.searched.good}, built again"
            said = f"{100 * (seconds / good_s - 1):+7,.1f} %"
            say(f"{side!s:60}  {said}  e = {course.confirmation.e_value:.3g}", err=True)
    standing = course.confirmation.standing
    known = standing is not Standing.OPEN
    _tell(course, _confirmed(course), _confirmation(course), known=known, as_json=as_json)
    return _CODES[standing]


def _tell(
    course: _Course, sentences: Iterator[str], told: JsonObject, *, known: bool, as_json: bool
) -> None:
    """Print the result; delete the kept state once the result is known."""
    if known:
        course.finish()
    if as_json:
        print_json(told)
        return
    if not known:
        say(f"not known yet; the same command goes on with what {shown(course.file)} keeps")
    say("\n".join(sentences))


def _spent(course: _Course) -> str:
    state = course.state
    count, built = plural(state.executions, "execution"), plural(len(state.built), "build")
    return f"{count}, {built}, {duration(state.spent_s)}"


# -- a bisection


def _step(course: BisectionCourse) -> str:
    """Say what was measured or skipped, and what is most likely then."""
    belief, said = course.belief, f"{shorten(str(course.latest), 60):60}"
    if why := course.state.skipped.get(course.latest.name):
        return f"{said}  skipped: {why}"
    _, seconds, good_s, late = course.state.pairs[-1]
    said += "   time-out" if late else f"  {100 * (seconds / good_s - 1):+7,.1f} %"
    if belief is None or belief.none > 1 - course.sure:
        return said
    best = int(belief.first.argmax())
    return f"{said}  {percent(belief.first[best])} {course.searched.versions[best].short}"


def _bisected(course: BisectionCourse) -> Iterator[str]:
    state, belief, (found, probability) = course.state, course.belief, course.found
    if belief and course.conclusion is Conclusion.OPEN:
        pairs, builds = course.bisection.foreseen(belief)
        more = plural(2 * pairs + builds, "execution")
        each = median([one[1] for one in state.pairs])
        yield f"the rest takes about {more} of {duration(each)}, {plural(builds, 'build')}"
    elif course.conclusion is Conclusion.NO_DIFFERENCE:
        bad, least = course.searched.versions[-1], percent(math.expm1(course.bisection.threshold))
        yield f"{bad} is not slower by {least} than {course.searched.good}"
    elif belief:
        named = " or ".join(map(str, found))
        yield f"{percent(probability, 3)} sure: it became slower with {named}"
        low, middle, high = (percent(math.expm1(belief.step(share))) for share in _SHARES)
        yield f"slower by {middle} (95 %: {low} … {high})"
    yield f"{_spent(course)}; {len(state.skipped)} skipped"
    if course.conclusion is Conclusion.FOUND and course.searched.repository:
        yield f"next: git show {found[0].short}"


def _bisection(course: BisectionCourse) -> JsonObject:
    belief, (found, probability) = course.belief, course.found
    return {
        "conclusion": course.conclusion.value,
        "first_slow": [asdict(version) for version in found],
        "probability": probability,
        "ratios": [math.exp(belief.step(share)) for share in _SHARES] if belief else None,
        **asdict(course.state),
    }


# -- a confirmation


def _confirmed(course: ConfirmationCourse) -> Iterator[str]:
    made, more = course.confirmation, percent(math.expm1(course.margin))
    said = f"slower than {course.searched.good} by more than {more}"
    words = {Standing.CONFIRMED: "confirmed", Standing.NOT_CONFIRMED: "not confirmed"}
    if word := words.get(made.standing):
        yield f"{word}: {course.bad} is {said}"
    pairs = plural(len(course.differences), "pair")
    yield f"e-value {made.e_value:.3g} after {pairs}; {made.bound:.3g} confirms"
    if found := _effect(course):
        low, middle, high = (percent(one - 1) for one in found)
        yield f"changed by {middle} (95 %: {low} … {high})"
    yield _spent(course)


def _effect(course: ConfirmationCourse) -> list[float] | None:
    """Return the ends of the ratio's interval, its estimate between; None for too few pairs."""
    shift = middle_difference(course.differences or [0.0], 0.95)
    parts = shift.interval.low, shift.estimate, shift.interval.high
    known = [math.exp(one) for one in parts if one is not None]
    return known if len(known) == len(parts) else None


def _confirmation(course: ConfirmationCourse) -> JsonObject:
    made, state = course.confirmation, asdict(course.state)
    return {
        "conclusion": made.standing.value,
        "e_value": made.e_value,
        "bound": made.bound,
        "margin": math.expm1(course.margin),
        "ratios": list(_effect(course) or []) or None,
        **{name: state[name] for name in ("pairs", "executions", "built", "spent_s")},
    }
