"""The packages of Python that a pack lists, and what differs here from where it was measured."""

import importlib.metadata
import platform
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from benchyard import __version__
from benchyard.analysis.comparison.comparability import check
from benchyard.analysis.comparison.run_sets import RunSet
from benchyard.case.testbeds import this_testbed, unmet
from benchyard.core.model import Case, object_in
from benchyard.host.facts import environment
from benchyard.publish.packs.manifest import LOCK
from benchyard.results.campaigns import read_campaign
from benchyard.results.record import RunRecord
from benchyard.results.subject import Subject, differences, subject_of


def python_version() -> str:
    """Return which Python this is, as records have it."""
    return f"{platform.python_implementation()} {platform.python_version()}"


def installed_packages() -> dict[str, str]:
    """Return the version of each Python package that is installed here."""
    found = {
        str(one.metadata["Name"]): one.version
        for one in importlib.metadata.distributions()
        if one.metadata["Name"]
    }
    return dict(sorted(found.items(), key=lambda item: item[0].lower()))


def other_environment(records: Iterable[RunRecord]) -> Iterator[str]:
    """Yield in what the packages that are locked differ from those that measured."""
    for record in records:
        then = {"Benchyard": record.benchyard_version or None, "Python": record.fact("python")}
        now = {"Benchyard": __version__, "Python": python_version()}
        told = [f"{name} {then[name]}" for name in now if then[name] not in (None, now[name])]
        if told:
            yield f"measured with {', '.join(told)}, and {LOCK} lists what is installed here now"


def differences_here(title: str, results: Path, subject: Subject | None) -> list[str]:
    """Return sentences on what would differ from the packed runs of a case if it ran here.

    Args:
        title: Of the case.
        results: The packed runs.
        subject: What would be measured here; None where that is not known.
    """
    newest = read_campaign(results).newest
    if newest is None:
        return ["its runs cannot be read"]
    here = replace(
        newest,
        environment=environment(),
        benchyard_version=__version__,
        subject=subject or newest.subject,
    )
    sides = [RunSet(title, results, (record,)) for record in (newest, here)]
    told = [mismatch.text for mismatch in check(*sides)]
    return (
        told if subject is None else [*told, *_versions(newest, subject), *_absent(newest, subject)]
    )


def _versions(record: RunRecord, subject: Subject) -> list[str]:
    parts = [{"versions": one.get("versions")} for one in (subject_of(record), subject)]
    # Of an image, whose digests nobody reads, only the name is told.
    return [
        f"another {change}" if str(change) == change.what else f"version of {change}"
        for change in differences(*parts)
    ]


def _absent(record: RunRecord, subject: Subject) -> Iterator[str]:
    """Yield programs and images that were measured, and are not here."""
    then = subject_of(record)
    for program in object_in(then, "programs"):
        if program not in object_in(subject, "programs"):
            yield f"the program {program} is not here"
    versions = [object_in(one, "versions") for one in (then, subject)]
    for name in versions[0]:
        image, known = (object_in(one, name).get("image") for one in versions)
        if image and not known:
            yield f"the image of {name} is not here ({image}): it is fetched as the case names it"


def unmet_here(case: Case) -> list[str]:
    """Return the requirements of a case that this host does not meet."""
    return [f"requirement: {text}" for text in unmet(case.requires, this_testbed())]


def other_packages(packed: Mapping[str, str]) -> list[str]:
    """Return the Python packages that have another version here, or none."""
    here = installed_packages()
    return [
        f"{name} {version} and {here[name]}" if name in here else f"{name} {version} and none"
        for name, version in packed.items()
        if here.get(name) != version
    ]
