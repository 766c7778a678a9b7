"""Images: fetched before anything is measured, and identified by more than a name."""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from benchyard.core.clock import now
from benchyard.core.model import JsonObject
from resources._containers.engine import Client, EngineError, NotThereError, telling

Say = Callable[[str], None]


def ensure(client: Client, name: str, say: Say) -> JsonObject | None:
    """Fetch an image unless it is here.

    Args:
        say: Hears of the progress, a few lines for each image.

    Returns:
        ``image``, ``started_at``, ``ended_at`` and ``duration_s`` of the fetching; None if there
        was none.

    Raises:
        EngineError: If it is neither here nor to be had.
    """
    if is_here(client, name):
        return None
    began, start_ns = now(), time.monotonic_ns()
    _pull(client, name, say)
    duration_s = (time.monotonic_ns() - start_ns) / 1e9
    return {"image": name, "started_at": began, "ended_at": now(), "duration_s": duration_s}


def is_here(client: Client, name: str) -> bool:
    """Tell whether the engine has an image."""
    try:
        with telling(f"the image '{name}'"):
            client.api.inspect_image(name)
    except NotThereError:
        return False
    return True


def _pull(client: Client, name: str, say: Say) -> None:
    repository, tag = _parted(name)
    say(f"image {name}: pulling")
    try:
        with telling(f"pulling the image '{name}'"):
            told = client.api.pull(repository, tag=tag, stream=True, decode=True)
            _follow(name, told, say)
    except EngineError as error:
        raise EngineError(
            f"the image '{name}' is not here and cannot be pulled: {error}; pull or build it by "
            f"hand (docker pull {name}), or name another one under 'image' in the case's resources"
        ) from error
    say(f"image {name}: pulled")


def _parted(name: str) -> tuple[str, str | None]:
    """Part a name into repository and tag; a digest stays with the repository."""
    if "@" in name:
        return name, None
    repository, _, tag = name.rpartition(":")
    # A colon before a slash belongs to a registry's port.
    return (repository, tag) if repository and "/" not in tag else (name, "latest")


def _follow(name: str, told: Iterable[Mapping[str, Any]], say: Say) -> None:
    """Tell of each quarter that has come."""
    sizes: dict[str, tuple[int, int]] = {}
    said = 0
    for event in told:
        if "error" in event:
            raise EngineError(str(event["error"]))
        progress: Mapping[str, int] = event.get("progressDetail") or {}
        if event.get("status") == "Downloading" and progress.get("total"):
            sizes[str(event.get("id"))] = (progress.get("current", 0), progress["total"])
        quarters = _quarters(sizes)
        if quarters > said:
            said = quarters
            total = sum(size for _, size in sizes.values())
            say(f"image {name}: {said * 25} % of {total / 1e6:.0f} MB so far")


def _quarters(sizes: Mapping[str, tuple[int, int]]) -> int:
    total = sum(size for _, size in sizes.values())
    return sum(done for done, _ in sizes.values()) * 4 // total if total else 0


def identity(client: Client, name: str) -> JsonObject:
    """Return what an image is: a tag may mean another one tomorrow.

    Returns:
        ``image`` as named, ``digests`` (repository@sha256:… by which it was fetched; none if it
        was built here), ``id`` (of its configuration), ``created``, ``architecture``, ``bytes``.
    """
    with telling(f"the image '{name}'"):
        found = client.api.inspect_image(name)
    return {
        "image": name,
        "digests": found.get("RepoDigests") or [],
        "id": found["Id"],
        "created": found.get("Created"),
        "architecture": found.get("Architecture"),
        "bytes": found.get("Size"),
    }
