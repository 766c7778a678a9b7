"""What came of a suite, case by case: for people, for programs, and for the final state."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchyard.analysis.comparison.gate import Regression
from benchyard.analysis.regressions import Baseline, Looked, as_gate
from benchyard.core import places
from benchyard.core.clock import now
from benchyard.core.files import write_json
from benchyard.core.model import Json, JsonObject
from benchyard.core.quantity import duration, plural
from benchyard.results.campaigns import read_campaign
from benchyard.statistics.comparison import LEVEL, holm
from benchyard.suite.course import End, SuiteCourse, Taken
from benchyard.suite.plan import ChosenCase
from benchyard.suite.request import SuiteRequest

FORMAT = "benchyard-suite"
VERSION = 1
HEAD = ("CASE", "DONE", "FAILED", "LEFT OUT", "TIME", "TESTBED", "WHY")


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case of a suite that has ended.

    Args:
        title: Of the case.
        done: Runs that were executed and are done.
        failed: Runs that were executed and are not done.
        left_out: Wanted runs that were not executed.
        seconds: What executing took.
        testbeds: Where.
        why: What a reader should know: the failure, why runs were left out, why none was wanted.
        invalid: Whether it is no valid case.
        impossible: Whether no testbed was what it requires.
        looked: What the comparison with a baseline came to; None if there was none.
        before: Wanted runs that were done before.
        results: Folder with its runs, on the host that executed them; empty if it is no valid case.
    """

    title: str
    done: int
    failed: int
    left_out: int
    seconds: float
    testbeds: tuple[str, ...]
    why: str
    invalid: bool = False
    impossible: bool = False
    looked: Looked | None = None
    before: int = 0
    results: str = ""

    @property
    def compared(self) -> str:
        """What the comparison with a baseline came to, in words; empty if there was none."""
        return self.looked.summary if self.looked else ""

    @property
    def regressions(self) -> tuple[Regression, ...]:
        """What is worse than in the baseline, the worst first."""
        return self.looked.regressions if self.looked else ()

    @property
    def is_bad(self) -> bool:
        """Whether the suite did not do what was wanted of this case, for a reason that matters."""
        return self.invalid or self.impossible or bool(self.failed)

    def row(self) -> tuple[str, ...]:
        """Return the cells of a table."""
        numbers = tuple(str(n) if n else "-" for n in (self.done, self.failed, self.left_out))
        took = duration(self.seconds) if self.seconds else "-"
        return (self.title, *numbers, took, ", ".join(self.testbeds) or "-", self.told)

    @property
    def told(self) -> str:
        """What a reader should know of it, regressions first."""
        told = [f"regression: {one.text}" for one in self.regressions] or [self.compared]
        return "; ".join(text for text in (*told, self.why) if text)

    def to_json(self) -> JsonObject:
        """Return it as JSON."""
        regressions: list[Json] = [one.to_json() for one in self.regressions]
        return {
            "case": self.title,
            "runs_done": self.done,
            "runs_failed": self.failed,
            "runs_left_out": self.left_out,
            "runs_done_before": self.before,
            "seconds": self.seconds,
            "testbeds": list[Json](self.testbeds),
            "why": self.told,
            "valid": not self.invalid,
            "results": self.results or None,
            "compared": self.compared or None,
            "against": (self.looked.against or None) if self.looked else None,
            "regressions": regressions,
            "unjudged": list[Json](self.looked.unjudged if self.looked else ()),
        }


@dataclass(frozen=True, slots=True)
class Summary:
    """All of a suite.

    Args:
        seconds: From its begin to its end.
        seed: Of the random order; None where the order was another.
        interrupted: Whether somebody stopped it.
        comparison: With the baseline, as ``benchyard compare`` writes it; None without one.
        alarms: Of this host, as ``benchyard alarms`` writes them; None if nobody looked.
    """

    lines: Sequence[CaseResult]
    turns: Sequence[Taken]
    seconds: float
    seed: int | None
    interrupted: bool
    comparison: JsonObject | None = None
    alarms: JsonObject | None = None

    @property
    def bad(self) -> list[CaseResult]:
        """The cases of which the suite did not do what was wanted."""
        return [line for line in self.lines if line.is_bad]

    @property
    def regressions(self) -> list[Regression]:
        """What is worse than in the baseline."""
        return [one for line in self.lines for one in line.regressions]

    def sentence(self) -> str:
        """Return all of it in a line."""
        done, failed, left = (
            sum(getattr(line, name) for line in self.lines)
            for name in ("done", "failed", "left_out")
        )
        cases = sum(1 for line in self.lines if line.done or line.failed)
        invalid = sum(line.invalid for line in self.lines)
        parts = [f"{plural(done, 'run')} of {plural(cases, 'case')} done"]
        parts += [f"{failed:,} failed"] if failed else []
        before = sum(line.before for line in self.lines)
        parts += [f"{before:,} done before"] if before else []
        parts += [f"{left:,} left out"] if left else []
        parts += [f"{plural(invalid, 'case')} not valid"] if invalid else []
        parts += self._compared()
        return f"{', '.join(parts)}, in {duration(self.seconds)}"

    def _compared(self) -> list[str]:
        looked = [line.looked for line in self.lines if line.looked is not None]
        compared = sum(bool(one.against) for one in looked)
        worse = len(self.regressions)
        if not compared:
            return ["nothing to compare with"] if looked else []
        told = [f"{plural(compared, 'case')} compared"]
        return [*told, plural(worse, "regression")] if worse else told

    def rows(self) -> list[tuple[str, ...]]:
        """Return the table without its head: bad, then worse, then good, then not wanted."""
        ranked = sorted(self.lines, key=_rank)
        return [line.row() for line in ranked]

    def to_json(self) -> JsonObject:
        """Return everything that a program may want to know, times in seconds."""
        cases: list[Json] = [line.to_json() for line in self.lines]
        made: list[Json] = [_turn(taken, self.lines) for taken in self.turns]
        return {
            "format": FORMAT,
            "version": VERSION,
            "sentence": self.sentence(),
            "seconds": self.seconds,
            "seed": self.seed,
            "interrupted": self.interrupted,
            "cases": cases,
            "turns": made,
            "comparison": self.comparison,
            "alarms": self.alarms,
        }


def _rank(line: CaseResult) -> tuple[bool, ...]:
    wanted = bool(line.done or line.failed or line.left_out)
    return not line.is_bad, not line.regressions, not wanted


def _turn(taken: Taken, lines: Sequence[CaseResult]) -> JsonObject:
    runs: list[Json] = [*taken.turn.runs]
    return {
        "case": lines[taken.turn.case].title,
        "runs": runs,
        "end": taken.end,
        "why": taken.why,
        "testbed": taken.place.name or None,
        "began_at": taken.began_at,
        "seconds": taken.took,
        "flow_run": taken.flow_run or None,
    }


def summed(course: SuiteCourse, *, seed: int | None, interrupted: bool) -> Summary:
    """Sum a course up; what is still under way counts as left out."""
    by_case: dict[int, list[Taken]] = {}
    for taken in [*course.ended, *course.under_way]:
        by_case.setdefault(taken.turn.case, []).append(taken)
    lines = [_line(entry, by_case.get(i, [])) for i, entry in enumerate(course.entries)]
    turns = sorted(course.ended, key=lambda taken: (taken.began_s, taken.number))
    return Summary(lines, turns, course.elapsed, seed, interrupted)


def _line(entry: ChosenCase, turns: Sequence[Taken]) -> CaseResult:
    executed = [taken for taken in turns if taken.end in (End.DONE, End.FAILED)]
    done = sum(len(taken.seen) for taken in turns)
    failed = sum(
        len(taken.turn.runs) - len(taken.seen) - len(taken.before) - len(taken.not_begun)
        for taken in executed
    )
    before = sum(len(taken.before) for taken in turns)
    reports = [taken.report for taken in turns if taken.report is not None]
    reasons = dict.fromkeys(taken.why for taken in turns if taken.why)
    where = dict.fromkeys(taken.place.name for taken in turns if taken.place.name)
    return CaseResult(
        title=entry.title,
        done=done,
        failed=failed,
        left_out=len(entry.runs) - done - failed - before,
        seconds=sum(taken.took or 0.0 for taken in turns),
        testbeds=tuple(where),
        why="; ".join(reasons) or ("" if entry.runs else entry.why),
        invalid=bool(entry.problems),
        impossible=any(taken.impossible for taken in turns),
        looked=next((one.looked for one in reversed(reports) if one.looked), None),
        before=before,
        results=str(entry.results or ""),
    )


def write_summary(
    summary: Summary, request: SuiteRequest, name: str, flow_run: Mapping[str, Json]
) -> Path:
    """Keep a suite's summary among the lab's own files, and return where.

    Args:
        name: Of the file, unique: the flow run's id.
        flow_run: Prefect's id and name of it.
    """
    folder = places.home() / "suites"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.json"
    given: JsonObject = {
        "order": request.order,
        "runs": request.runs,
        "budget_h": request.budget,
        "changed": request.changed,
        "stale_d": request.stale,
        "force": request.force,
        "pool": request.pool,
        "baseline": request.baseline,
    }
    head: JsonObject = {"ended_at": now(), "flow_run": dict(flow_run), "wish": given}
    write_json(file, {**summary.to_json(), **head})
    return file


def with_comparisons(
    summary: Summary,
    entries: Sequence[ChosenCase],
    baseline: Baseline,
    flow_run: Mapping[str, Json] | None = None,
) -> Summary:
    """Return a summary that also tells what is worse than it was; all cases are one family.

    Only cases of which the suite has done runs are looked at, in an earlier attempt of it if need
    be. What keeps one from being compared is told and fails nothing: its runs are good.

    Args:
        entries: The cases, one for each line.
        baseline: What they are compared with.
        flow_run: The suite's, as its runs record it.
    """
    suite = {"suite": (flow_run or {}).get("id")}
    chosen = [
        (at, entry.title, entry.results)
        for at, (line, entry) in enumerate(zip(summary.lines, entries, strict=True))
        if entry.results is not None and (line.done or read_campaign(entry.results).runs_of(suite))
    ]
    found = baseline.look_at([(title, results) for _, title, results in chosen])
    lines = list(summary.lines)
    for (at, _, _), looked in zip(chosen, as_gate(found.cases), strict=True):
        lines[at] = replace(lines[at], looked=looked)
    comparison = found.to_json([title for _, title, _ in chosen], baseline.text)
    return replace(summary, lines=lines, comparison=comparison)


def with_testbeds_comparisons(summary: Summary) -> Summary:
    """Return a summary in which what testbeds compared, each case alone, is one family of tests.

    It says of which cases no testbed has compared what was done.
    """
    untold = Looked((), "not compared on its testbed")
    looked = [line.looked or (untold if line.done else None) for line in summary.lines]
    p_values = [p for one in looked if one for p in one.p_values]
    adjusted = dict(zip(p_values, holm(p_values), strict=True))
    lines = [
        replace(line, looked=one and _among(one, adjusted, len(p_values)))
        for line, one in zip(summary.lines, looked, strict=True)
    ]
    return replace(summary, lines=lines)


def _among(looked: Looked, adjusted: Mapping[float, float], tests: int) -> Looked:
    """Return what is left of a case's regressions among all tests.

    Alone they were held to no more, so none is to be added. A report of an earlier version has no
    p-values, and is believed.
    """
    kept = tuple(
        one
        for one in looked.regressions
        if one.p_value is None or adjusted.get(one.p_value, 0.0) <= LEVEL
    )
    gone = len(looked.regressions) - len(kept)
    if not gone:
        return looked
    told = f"{looked.summary}; {gone} of them not shown over {tests:,} comparisons of the suite"
    return replace(looked, regressions=kept, summary=told)
