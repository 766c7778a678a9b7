"""Checks as JUnit XML, as Jenkins, GitLab and the actions for GitHub read it.

There is no standard. This holds to what they have in common: ``testsuite`` and ``testcase`` with
``failure``, ``error`` and ``skipped``, whose reason is an attribute for some readers and text for
others.
Sources: junit-10.xsd of Jenkins' xUnit plugin; lib/gitlab/ci/parsers/test/junit.rb of GitLab, which
shows ``classname`` as the suite and takes two checks of one name for one.
"""

from collections.abc import Iterable, Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from benchyard.core.wording import printable
from benchyard.show.ci.checks import CheckedCase, State, StepCheck


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
