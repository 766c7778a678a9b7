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

from benchyard.core.wording import printable
from benchyard.show.ci.checks import CheckedCase, State, StepCheck
from benchyard.show.ci.outcomes import CaseOutcome
from benchyard.show.summary_tables import interval_of, metrics_of, statistics_of


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


_Sample = tuple[Mapping[str, str], float | None]


def openmetrics(outcomes: Sequence[CaseOutcome]) -> str:
    """Return gauges of each measured step, labelled with ``case`` and the step's id, and of cases.

    A metric that a command reports has the label ``metric``, and the unit that its name tells.
    """
    steps = [
        ({"case": one.title, "step": str(step["id"])}, step)
        for one in outcomes
        for step in one.steps
        if step.get("measured")
    ]
    reported = (
        ({**labels, "metric": name}, statistics_of(step, name).get("median"))
        for labels, step in steps
        for name, metric in metrics_of(step).items()
        if metric.get("source") == "command"
    )
    low, high = ([(labels, interval_of(step)[end]) for labels, step in steps] for end in (0, 1))
    medians = [(labels, statistics_of(step).get("median")) for labels, step in steps]
    counts = [(labels, len(step.get("runs") or ())) for labels, step in steps]
    cases = [({"case": one.title}, one) for one in outcomes]
    failed = [(labels, len(one.failed)) for labels, one in cases]
    worse = [(labels, len(one.regressions)) for labels, one in cases if one.looked is not None]
    families: list[tuple[str, str, str, Iterable[_Sample]]] = [
        ("step_median_seconds", "seconds", "Median time of a step.", medians),
        ("step_low_seconds", "seconds", "Lower end of the median's interval.", low),
        ("step_high_seconds", "seconds", "Upper end of the median's interval.", high),
        ("step_runs", "", "Runs that the median is of.", counts),
        ("step_reported", "", "Median of what a command reported.", reported),
        ("failed_runs", "", "Runs that are not done.", failed),
        ("regressions", "", "What is worse than in the baseline.", worse),
    ]
    lines = [line for family in families for line in _family(*family)]
    return "\n".join([*lines, "# EOF", ""])


def _family(name: str, unit: str, says: str, samples: Iterable[_Sample]) -> Iterator[str]:
    yield f"# TYPE benchyard_{name} gauge"
    if unit:
        yield f"# UNIT benchyard_{name} {unit}"
    yield f"# HELP benchyard_{name} {says}"
    for labels, value in samples:
        if value is not None:
            told = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
            yield f"benchyard_{name}{{{told}}} {value!r}"


def _escaped(text: str) -> str:
    return printable(text).replace("\\", "\\\\").replace('"', '\\"')
