"""What Python has installed here, and whether it is what measured."""

import importlib.metadata
import platform
from collections.abc import Iterable, Iterator

from benchyard import __version__
from benchyard.publish.packs.manifest import LOCK
from benchyard.results.record import RunRecord


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
