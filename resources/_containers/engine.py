"""The Docker engine of this host: a connection, its errors in sentences, its images.

``docker`` is imported when the first connection is made: listing cases must not wait for it.
"""

import os
import socket
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing, contextmanager, suppress
from typing import Any, TypeAlias

from benchyard.core.clock import now
from benchyard.core.errors import ResourceError
from benchyard.core.model import JsonObject

#: A connection to the engine; the package has no types of its own.
Client: TypeAlias = Any

#: Seconds after which an engine that does not answer a short question is given up.
TIMEOUT = 20
#: The same where something must be ended soon.
HURRY = 3


class EngineError(ResourceError):
    """The engine refused, or it does not answer."""


class NotThereError(EngineError):
    """The engine does not know what it was asked about."""


def connect() -> Client:
    """Connect to the engine that ``DOCKER_HOST`` names, or to the one of this host.

    Raises:
        EngineError: If none answers.
    """
    return _connected("auto", TIMEOUT)


def _connected(version: str, seconds: int) -> Client:
    import docker  # noqa: PLC0415 - see above

    kind, _, path = place().partition("://")
    with telling("cannot use containers"):
        if kind == "unix":
            # The library forgets a socket that nobody answers.
            with socket.socket(socket.AF_UNIX) as knocking:
                knocking.settimeout(HURRY)
                knocking.connect(path)
        return docker.from_env(version=version, timeout=seconds)


@contextmanager
def hurried(api: Any) -> Generator[Any]:
    """Give a connection of its own that does not wait for an engine that hangs.

    Args:
        api: The connection of before: asking for the version again would take 20 ms.

    Raises:
        EngineError: If it does not answer.
    """
    client = _connected(api.api_version, HURRY)
    with closing(client):
        with telling("cannot use containers"):
            client.ping()
        yield client.api


def answers(api: Any) -> bool:
    """Tell whether the engine answers now.

    Args:
        api: The connection of before.
    """
    try:
        with hurried(api):
            return True
    except EngineError:
        return False


def place() -> str:
    """Return where the engine is looked for."""
    return os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"


@contextmanager
def telling(what: str) -> Generator[None]:
    """Turn the engine's errors into ours.

    Args:
        what: What was tried, as the begin of a sentence.

    Raises:
        NotThereError: If the engine does not know what it was asked about.
        EngineError: If the engine refused or does not answer.
    """
    import docker.errors  # noqa: PLC0415 - see above
    import requests  # noqa: PLC0415
    import urllib3.exceptions  # noqa: PLC0415

    try:
        yield
    except docker.errors.NotFound as error:
        raise NotThereError(f"{what}: {_explained(error)}") from error
    except docker.errors.APIError as error:
        raise EngineError(f"{what}: {_explained(error)}") from error
    except (
        docker.errors.DockerException,
        requests.RequestException,
        urllib3.exceptions.HTTPError,
        OSError,
    ) as error:
        raise EngineError(
            f"{what}: the Docker engine at {place()} does not answer ({_root(error)}); start it, "
            "or ask 'benchyard doctor' what is wrong"
        ) from error


def _explained(error: Exception) -> str:
    """Return the engine's own words, which the library puts between its own."""
    return str(getattr(error, "explanation", None) or error).strip().rstrip(".")


def _root(error: BaseException) -> str:
    """Return the innermost cause in words: the outer ones repeat it in brackets."""
    while error.__context__ is not None:
        error = error.__context__
    return str(error) or type(error).__name__


def facts(client: Client) -> JsonObject:
    """Return version, storage driver, cgroup driver and version, runtime and root of the engine."""
    with telling("the engine does not describe itself"):
        info = client.info()
    return {
        "version": info.get("ServerVersion"),
        "storage_driver": info.get("Driver"),
        "cgroup_driver": info.get("CgroupDriver"),
        # Engines before 20.10 do not say it, and know version 1 alone.
        "cgroup_version": info.get("CgroupVersion", "1"),
        "runtime": info.get("DefaultRuntime"),
        "root": info.get("DockerRootDir"),
    }


Say = Callable[[str], None]


def ensure_image(client: Client, name: str, say: Say) -> JsonObject | None:
    """Fetch an image unless it is here.

    Args:
        say: Hears of the progress, a few lines for each image.

    Returns:
        ``image``, ``started_at``, ``ended_at`` and ``duration_s`` of the fetching; None if there
        was none.

    Raises:
        EngineError: If it is neither here nor to be had.
    """
    with suppress(NotThereError), telling(f"the image '{name}'"):
        client.api.inspect_image(name)
        return None
    began, start_ns = now(), time.monotonic_ns()
    _pull(client, name, say)
    duration_s = (time.monotonic_ns() - start_ns) / 1e9
    return {"image": name, "started_at": began, "ended_at": now(), "duration_s": duration_s}


def _pull(client: Client, name: str, say: Say) -> None:
    say(f"image {name}: pulling")
    try:
        with telling(f"pulling the image '{name}'"):
            _follow(name, client.api.pull(name, stream=True, decode=True), say)
    except EngineError as error:
        raise EngineError(
            f"the image '{name}' is not here and cannot be pulled: {error}; pull or build it by "
            f"hand (docker pull {name}), or name another one under 'image' in the case's resources"
        ) from error
    say(f"image {name}: pulled")


def _follow(name: str, events: Iterable[Mapping[str, Any]], say: Say) -> None:
    """Tell of each quarter that has come."""
    sizes: dict[str, tuple[int, int]] = {}
    said = 0
    for event in events:
        if "error" in event:
            raise EngineError(str(event["error"]))
        progress: Mapping[str, int] = event.get("progressDetail") or {}
        if event.get("status") == "Downloading" and progress.get("total"):
            sizes[str(event.get("id"))] = (progress.get("current", 0), progress["total"])
            done, total = map(sum, zip(*sizes.values(), strict=True))
            if done * 4 // total > said:
                said = done * 4 // total
                say(f"image {name}: {said * 25} % of {total / 1e6:.0f} MB so far")


def image_identity(client: Client, name: str) -> JsonObject:
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
