"""``benchyard bisect``: which commit, or other version, made a command slower."""

import math
import shlex
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import click

from benchyard.bisect.course import BisectionCourse, BisectionPlan
from benchyard.bisect.versions import commits, listed
from benchyard.cli.common import gathered, json_option
from benchyard.cli.fields import field_options
from benchyard.cli.option_types import NamedPath
from benchyard.cli.terminal import print_json, say
from benchyard.core.errors import ExitCode
from benchyard.core.files import shown
from benchyard.core.model import JsonObject
from benchyard.core.quantity import duration, percent, plural, shorten
from benchyard.statistics import median
from benchyard.statistics.bisection import Conclusion
from benchyard.timing.execution import CommandStreams, executor

#: Of the step's distribution: the ends of its interval, and its middle.
_SHARES = 0.025, 0.5, 0.975


@click.command("bisect")
@click.argument("good")
@click.argument("bad")
@click.argument("words", nargs=-1, required=True, metavar="-- COMMAND...")
@field_options(
    *(BisectionPlan, "build", "versions", "shell", "sure", "threshold", "timeout", "max_time"),
    *("predict", "state"),
    versions={"multiple": False, "metavar": "FILE|NAME,..."},
    state={"type": NamedPath(dir_okay=False)},
)
@json_option
@gathered("plan", BisectionPlan)
def command(
    good: str, bad: str, words: tuple[str, ...], plan: BisectionPlan, *, as_json: bool
) -> int:
    """Find the commit between GOOD and BAD that made a command slower.

    Each version is built in a work tree of its own, and measured in turns with GOOD. After Ctrl-C
    the same command goes on.

    Example:
        benchyard bisect v1.0 HEAD --build make -- ./program
    """
    line, names = words[0] if len(words) == 1 else shlex.join(words), plan.versions
    searched = commits(Path.cwd(), good, bad) if names is None else listed(good, bad, names)
    with executor(CommandStreams()) as running:
        course = BisectionCourse(searched, replace(plan, line=line), running)
        for _ in course.proceed():
            say(_step(course), err=True)
    if course.conclusion is not Conclusion.OPEN:
        course.finish()
    if as_json:
        print_json(_document(course))
    else:
        say("\n".join(_sentences(course)))
    foreseen = plan.predict and course.conclusion is Conclusion.OPEN
    done = foreseen or course.conclusion is Conclusion.FOUND
    return ExitCode.DONE if done else ExitCode.CANNOT_TELL


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


def _sentences(course: BisectionCourse) -> Iterator[str]:
    state, belief, (found, probability) = course.state, course.belief, course.found
    if belief is None or course.conclusion is Conclusion.OPEN:
        yield f"not known yet; the same command goes on with what {shown(course.file)} keeps"
        if belief:
            pairs, builds = course.bisection.foreseen(belief)
            more = plural(2 * pairs + builds, "execution")
            each = median([one[1] for one in state.pairs])
            yield f"the rest takes about {more} of {duration(each)}, {plural(builds, 'build')}"
    elif course.conclusion is Conclusion.NO_DIFFERENCE:
        bad, least = course.searched.versions[-1], percent(math.expm1(course.bisection.threshold))
        yield f"{bad} is not slower by {least} than {course.searched.good}"
    else:
        named = " or ".join(map(str, found))
        yield f"{percent(probability, 3)} sure: it became slower with {named}"
        low, middle, high = (percent(math.expm1(belief.step(share))) for share in _SHARES)
        yield f"slower by {middle} (95 %: {low} … {high})"
    count, built = plural(state.executions, "execution"), plural(len(state.built), "build")
    yield f"{count}, {built}, {duration(state.spent_s)}; {len(state.skipped)} skipped"
    if course.conclusion is Conclusion.FOUND and course.searched.repository:
        yield f"next: git show {found[0].short}"


def _document(course: BisectionCourse) -> JsonObject:
    belief, (found, probability) = course.belief, course.found
    return {
        "conclusion": course.conclusion.value,
        "first_slow": [asdict(version) for version in found],
        "probability": probability,
        "ratios": [math.exp(belief.step(share)) for share in _SHARES] if belief else None,
        **asdict(course.state),
    }
