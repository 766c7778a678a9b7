"""The versions of the packages that a number may depend on."""

from importlib import metadata

from benchyard.core.model import Json, JsonObject

#: What schedules, what measures, what shipped resources compute with.
PACKAGES = ("prefect", "psutil", "duckdb", "tpchgen-cli", "docker")


def packages() -> JsonObject:
    """Return name to version, null for what is not installed; nothing is imported."""
    return {name: _version(name) for name in PACKAGES}


def _version(name: str) -> Json:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
