"""The network of a run: its containers find each other there, and are found there, by name.

Each run has one of its own, made by the first resource that needs it and removed by the last.
"""

import hashlib
import threading
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from resources._containers.engine import Client, EngineError, connect, telling

# The engine does not see who only means to join a network: one is not removed under him.
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
    """Need the run's network no more; the last one who did removes it.

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
            _remove(client.api, name)


def _remove(api: Any, name: str) -> None:
    with suppress(EngineError), telling("cannot remove the run's network"):
        for identity in _named(api, name):
            api.remove_network(identity)


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
    with suppress(EngineError):
        client = connect()
        try:
            return _in_network(client.api, network)
        finally:
            client.close()
    return {}


def _in_network(api: Any, network: str) -> dict[str, str]:
    found: dict[str, str] = {}
    with telling("cannot look into the run's network"):
        for listed in api.containers(filters={"network": network}):
            settings = api.inspect_container(listed["Id"])["NetworkSettings"]["Networks"][network]
            names: list[str] = settings.get("Aliases") or []
            found |= {name.lower(): settings["IPAddress"] for name in names}
    return found


def address_of(url: str, known: Mapping[str, str]) -> str | None:
    """Return where the host of a URL is to be found, or None if its name says it.

    Args:
        known: As ``addresses`` returns it.
    """
    return known.get(urlsplit(url).hostname or "")
