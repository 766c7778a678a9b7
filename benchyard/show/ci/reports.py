"""Checks as JUnit XML, and medians as OpenMetrics text.

JUnit as Jenkins, GitLab and the actions for GitHub read it: there is no standard. This holds to
what they have in common: ``testsuite`` and ``testcase`` with ``failure``, ``error`` and
``skipped``, whose reason is an attribute for some readers and text for others.
Sources: junit-10.xsd of Jenkins' xUnit plugin; lib/gitlab/ci/parsers/test/junit.rb of GitLab, which
shows ``classname`` as the suite and takes two checks of one name for one.

OpenMetrics is what GitLab compares between branches (``reports: metrics``).
Source: https://prometheus.io/docs/specs/om/open_metrics_spec/, version 1.0.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from benchyard.analysis.comparison.samples import DURATION
from benchyard.core.wording import printable
from benchyard.show.ci.checks import CheckedCase, State, StepCheck, interval_of
from benchyard.show.ci.outcomes import CaseOutcome
from benchyard.show.steps_table import Document


def junit(cases: Sequence[CheckedCase]) -> bytes:
    """Return the document, UTF-8: a suite for each case, a test for each check, times in seconds.

    Characters that XML does not allow, or that a terminal would obey, are written as escapes.
    """
    root = Element("testsuites", {"name": "benchyard", **_counts(cases)})
    for case in cases:
        about = {"name": case.title, **_counts([case]), "timestamp": case.began}
        suite = _child(root, "testsuite", {**about, "hostname": case.host})
        _properties(suite, case.facts)
        for check in case.checks:
            _test(suite, case.title, check)
        _output(suite, case.notes)
    indent(root)
    return tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"


def _counts(cases: Sequence[CheckedCase]) -> dict[str, str]:
    checks = [check for case in cases for check in case.checks]
    states = [check.state for check in checks]
    return {
        "tests": str(len(checks)),
        "failures": str(states.count(State.FAILED)),
        "errors": str(states.count(State.ERROR)),
        "skipped": str(states.count(State.SKIPPED)),
        "time": repr(float(sum(check.seconds or 0.0 for check in checks))),
    }


def _test(suite: Element, title: str, check: StepCheck) -> None:
    time = "" if check.seconds is None else repr(float(check.seconds))
    test = _child(suite, "testcase", {"classname": title, "name": check.name, "time": time})
    _properties(test, check.facts)
    if check.state in (State.FAILED, State.ERROR):
        told = {"message": check.text.partition("\n")[0], "type": check.kind}
        _child(test, "failure" if check.state is State.FAILED else "error", told, check.text)
    elif check.state is State.SKIPPED:
        _child(test, "skipped", {"message": check.text}, check.text)
    _output(test, check.notes)


def _properties(parent: Element, facts: Mapping[str, str]) -> None:
    if facts:
        listed = SubElement(parent, "properties")
        for name, value in facts.items():
            _child(listed, "property", {"name": name, "value": value})


def _output(parent: Element, notes: Iterable[str]) -> None:
    text = "\n".join(notes)
    if text:
        _child(parent, "system-out", {}, text)


def _child(parent: Element, tag: str, attributes: Mapping[str, str], text: str = "") -> Element:
    """Add an element; attributes that are empty are left out."""
    given = {name: printable(value, but="\n") for name, value in attributes.items() if value}
    child = SubElement(parent, tag, given)
    child.text = printable(text, but="\n\t") or None
    return child


# -- OpenMetrics


Sample = tuple[Mapping[str, str], float]


def openmetrics(outcomes: Sequence[CaseOutcome]) -> str:
    """Return gauges of each measured step, labelled with ``case`` and the step's id, and of cases.

    A metric that a command reports has the label ``metric``, and the unit that its name tells.
    """
    steps = [(one.title, step) for one in outcomes for step in one.steps if step.get("measured")]
    families: list[tuple[str, str, str, Iterable[Sample]]] = [
        ("step_median_seconds", "seconds", "Median time of a step.", _medians(steps)),
        ("step_low_seconds", "seconds", "Lower end of the median's interval.", _ends(steps, 0)),
        ("step_high_seconds", "seconds", "Upper end of the median's interval.", _ends(steps, 1)),
        ("step_runs", "", "Runs that the median is of.", _run_counts(steps)),
        ("step_reported", "", "Median of what a command reported.", _reported(steps)),
        ("failed_runs", "", "Runs that are not done.", _of_cases(outcomes, "failed")),
        ("regressions", "", "What is worse than in the baseline.", _of_cases(outcomes, "worse")),
    ]
    lines = [line for family in families for line in _family(*family)]
    return "\n".join([*lines, "# EOF", ""])


def _family(name: str, unit: str, says: str, samples: Iterable[Sample]) -> Iterator[str]:
    yield f"# TYPE benchyard_{name} gauge"
    if unit:
        yield f"# UNIT benchyard_{name} {unit}"
    yield f"# HELP benchyard_{name} {says}"
    for labels, value in samples:
        told = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
        yield f"benchyard_{name}{{{told}}} {value!r}"


def _escaped(text: str) -> str:
    return printable(text).replace("\\", "\\\\").replace('"', '\\"')


Steps = Sequence[tuple[str, Document]]


def _labels(title: str, step: Document) -> dict[str, str]:
    return {"case": title, "step": str(step["id"])}


def _median(metric: Document) -> float | None:
    statistics: Document = metric.get("statistics") or {}
    return statistics.get("median")


def _medians(steps: Steps) -> Iterator[Sample]:
    for title, step in steps:
        metrics: Mapping[str, Document] = step.get("metrics") or {}
        value = _median(metrics.get(DURATION) or {})
        if value is not None:
            yield _labels(title, step), value


def _ends(steps: Steps, end: int) -> Iterator[Sample]:
    for title, step in steps:
        interval = interval_of(step)
        if interval is not None:
            yield _labels(title, step), interval[end]


def _run_counts(steps: Steps) -> Iterator[Sample]:
    for title, step in steps:
        yield _labels(title, step), len(step.get("runs") or ())


def _reported(steps: Steps) -> Iterator[Sample]:
    for title, step in steps:
        metrics: Mapping[str, Document] = step.get("metrics") or {}
        for name, metric in metrics.items():
            value = _median(metric)
            if metric.get("source") == "command" and value is not None:
                yield {**_labels(title, step), "metric": name}, value


def _of_cases(outcomes: Sequence[CaseOutcome], what: str) -> Iterator[Sample]:
    for one in outcomes:
        number = len(one.failed) if what == "failed" else len(one.regressions)
        if what == "failed" or one.looked is not None:
            yield {"case": one.title}, number
