"""``benchyard confirm``: whether one version is really slower than another."""

import math
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click

from benchyard.bisect.course import ConfirmationCourse, ConfirmationPlan
from benchyard.bisect.versions import listed, two_commits
from benchyard.cli.common import gathered, json_option
from benchyard.cli.fields import field_options
from benchyard.cli.option_types import NamedPath, Percent
from benchyard.cli.terminal import print_json, say
from benchyard.core.errors import ExitCode
from benchyard.core.files import shown
from benchyard.core.model import JsonObject
from benchyard.core.quantity import duration, percent, plural
from benchyard.statistics.confirmation import Standing
from benchyard.statistics.pairs import middle_difference
from benchyard.timing.execution import CommandStreams, executor

_CODES = {
    Standing.CONFIRMED: ExitCode.REGRESSION,
    Standing.NOT_CONFIRMED: ExitCode.DONE,
    Standing.OPEN: ExitCode.CANNOT_TELL,
}


@click.command("confirm")
@click.argument("good")
@click.argument("bad")
@click.argument("words", nargs=-1, required=True, metavar="-- COMMAND...")
@field_options(
    *(ConfirmationPlan, "build", "versions", "shell", "margin", "twice", "level", "timeout"),
    *("max_time", "state"),
    versions={"multiple": False, "metavar": "FILE|NAME,..."},
    margin={"type": Percent()},
    state={"type": NamedPath(dir_okay=False)},
)
@json_option
@gathered("plan", ConfirmationPlan)
def command(
    good: str, bad: str, words: tuple[str, ...], plan: ConfirmationPlan, *, as_json: bool
) -> int:
    """Confirm that BAD is slower than GOOD, by up to 30 pairs.

    Pairs are in random order, each version in a work tree of its own. After Ctrl-C the same command
    goes on.

    Example:
        benchyard confirm v1.0 v1.1 -- ./program
    """
    line, names = words[0] if len(words) == 1 else shlex.join(words), plan.versions
    searched = two_commits(Path.cwd(), good, bad) if names is None else listed(good, bad, names)
    with executor(CommandStreams()) as running:
        course = ConfirmationCourse(searched, replace(plan, line=line), running)
        for _ in course.proceed():
            key, seconds, good_s, _ = course.state.pairs[-1]
            side = course.bad if key == course.bad.key else f"{course.searched.good}, built again"
            said = f"{100 * (seconds / good_s - 1):+7,.1f} %"
            say(f"{side!s:60}  {said}  e = {course.confirmation.e_value:.3g}", err=True)
    if (standing := course.confirmation.standing) is not Standing.OPEN:
        course.finish()
    if as_json:
        print_json(_document(course))
    else:
        say("\n".join(_sentences(course)))
    return _CODES[standing]


def _sentences(course: ConfirmationCourse) -> Iterator[str]:
    made, state, more = course.confirmation, course.state, percent(math.expm1(course.margin))
    if made.standing is Standing.OPEN:
        yield f"not known yet; the same command goes on with what {shown(course.file)} keeps"
    said = f"slower than {course.searched.good} by more than {more}"
    words = {Standing.CONFIRMED: "confirmed", Standing.NOT_CONFIRMED: "not confirmed"}
    if word := words.get(made.standing):
        yield f"{word}: {course.bad} is {said}"
    pairs = plural(len(course.differences), "pair")
    yield f"e-value {made.e_value:.3g} after {pairs}; {made.bound:.3g} confirms"
    if found := _effect(course):
        low, middle, high = (percent(one - 1) for one in found)
        yield f"changed by {middle} (95 %: {low} … {high})"
    count, built = plural(state.executions, "execution"), plural(len(state.built), "build")
    yield f"{count}, {built}, {duration(state.spent_s)}"


def _effect(course: ConfirmationCourse) -> list[float] | None:
    """Return the ends of the ratio's interval, its estimate between; None for too few pairs."""
    shift = middle_difference(course.differences or [0.0], 0.95)
    parts = shift.interval.low, shift.estimate, shift.interval.high
    known = [math.exp(one) for one in parts if one is not None]
    return known if len(known) == len(parts) else None


def _document(course: ConfirmationCourse) -> JsonObject:
    made, state = course.confirmation, course.state
    return {
        "conclusion": made.standing.value,
        "e_value": made.e_value,
        "bound": made.bound,
        "margin": math.expm1(course.margin),
        "pairs": [list(pair) for pair in state.pairs],
        "ratios": list(_effect(course) or []) or None,
        "executions": state.executions,
        "built": list(state.built),
        "spent_s": state.spent_s,
    }
