"""The network of a run, the addresses in it, and what dead labs left at the engine.

Each run has a network of its own, made by the first resource that needs it and removed by the last;
its containers find each other there by name.
"""

import hashlib
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from functools import partial
from typing import Any

from benchyard.process.labels import owner_is_alive
from resources._containers.engine import Client, EngineError, connect, telling

#: The label that names the lab; everything that has it is ours.
OWNER_LABEL = "benchyard.owner"

# The engine does not know who is about to join a network; it must not be removed before that.
_lock = threading.Lock()
_users: Counter[str] = Counter()


def network_name(labels: Mapping[str, str]) -> str:
    """Return the name of the network of the run that ``labels`` are of."""
    whole = "\n".join(f"{name}={labels[name]}" for name in sorted(labels))
    return f"benchyard-{hashlib.sha256(whole.encode()).hexdigest()[:20]}"


def ensure_network(client: Client, labels: Mapping[str, str]) -> str:
    """Make the run's network unless it is there; return its name.

    It stays until ``leave_network`` was called as often.

    Raises:
        EngineError: If the engine cannot, for instance because no addresses are left.
    """
    api: Any = client.api
    name = network_name(labels)
    with _lock, telling("cannot make a network for the run"):
        if not _named(api, name):
            api.create_network(name, driver="bridge", labels=dict(labels), check_duplicate=True)
        _users[name] += 1
    return name


def leave_network(labels: Mapping[str, str], client: Client | None = None) -> None:
    """Give up the run's network; the last resource to do so removes it.

    Args:
        client: None if the engine is gone, and cannot remove it.
    """
    name = network_name(labels)
    with _lock:
        _users[name] -= 1
        if _users[name] > 0:
            return
        del _users[name]
        if client is not None:
            with suppress(EngineError), telling("cannot remove the run's network"):
                for identity in _named(client.api, name):
                    client.api.remove_network(identity)


def _named(api: Any, name: str) -> list[str]:
    """Return the networks of exactly this name; the engine's filter finds parts of names, too."""
    return [found["Id"] for found in api.networks(names=[name]) if found["Name"] == name]


def addresses(labels: Mapping[str, str]) -> dict[str, str]:
    """Return the IP address of each container of a run, by its host names in lower case.

    Empty where there is no engine, or no network of the run.

    Args:
        labels: Those of the run.
    """
    network = network_name(labels)
    found: dict[str, str] = {}
    with (
        suppress(EngineError),
        closing(connect()) as client,
        telling("cannot look into the run's network"),
    ):
        for listed in client.api.containers(filters={"network": network}):
            settings = client.api.inspect_container(listed["Id"])["NetworkSettings"]
            joined = settings["Networks"][network]
            names: list[str] = joined.get("Aliases") or []
            found |= {name.lower(): joined["IPAddress"] for name in names}
    return found


def remove_leftovers() -> list[str]:
    """Remove containers, volumes and networks whose lab is dead, if there is an engine.

    Returns:
        What was removed, in words.
    """
    ours = {"label": OWNER_LABEL}
    removed: list[str] = []
    try:
        client = connect()
    except EngineError:
        return []
    with closing(client):
        api: Any = client.api
        with telling("cannot look for what earlier runs left"):
            # Containers first: they use the others.
            left: list[tuple[str, list[Mapping[str, Any]], Callable[[str], object]]] = [
                (
                    "container",
                    api.containers(all=True, filters=ours),
                    partial(api.remove_container, v=True, force=True),
                ),
                (
                    "volume",
                    api.volumes(filters=ours)["Volumes"] or [],
                    partial(api.remove_volume, force=True),
                ),
                ("network", api.networks(filters=ours), api.remove_network),
            ]
        for kind, found, remove in left:
            for one in filter(_is_dead, found):
                name = one.get("Name") or one["Names"][0].removeprefix("/")
                with suppress(EngineError), telling(""):
                    remove(one.get("Id") or name)
                    removed.append(f"{kind} {name}")
    return removed


def _is_dead(found: Mapping[str, Any]) -> bool:
    """Tell whether it has an owner, and that is gone."""
    labels: Mapping[str, str] = found.get("Labels") or {}
    owner = labels.get(OWNER_LABEL)
    return owner is not None and not owner_is_alive(owner)
