"""What runs of dead labs left at the engine: found by our labels, and by nothing else."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from benchyard.process.labels import owner_is_alive
from resources._containers.engine import Client, EngineError, telling
from resources._containers.ground import OWNER_LABEL


def remove_leftovers(client: Client, is_alive: Callable[[str], bool] = owner_is_alive) -> list[str]:
    """Remove containers, volumes and networks whose lab is dead.

    Returns:
        What was removed, in words.
    """
    api: Any = client.api
    ours = {"label": OWNER_LABEL}
    removed: list[str] = []
    with telling("cannot look for what earlier runs left"):
        containers = api.containers(all=True, filters=ours)
    for container in _dead(containers, is_alive):
        with suppress(EngineError), telling(""):
            api.remove_container(container["Id"], v=True, force=True)
            removed.append(f"container {container['Names'][0].removeprefix('/')}")
    with telling("cannot look for what earlier runs left"):
        volumes: list[Mapping[str, Any]] = api.volumes(filters=ours)["Volumes"] or []
        networks = api.networks(filters=ours)
    for volume in _dead(volumes, is_alive):
        with suppress(EngineError), telling(""):
            api.remove_volume(volume["Name"], force=True)
            removed.append(f"volume {volume['Name']}")
    for network in _dead(networks, is_alive):
        with suppress(EngineError), telling(""):
            api.remove_network(network["Id"])
            removed.append(f"network {network['Name']}")
    return removed


def _dead(
    found: list[Mapping[str, Any]], is_alive: Callable[[str], bool]
) -> Iterator[Mapping[str, Any]]:
    """Yield what has an owner that is gone."""
    for one in found:
        labels: Mapping[str, str] = one.get("Labels") or {}
        owner = labels.get(OWNER_LABEL)
        if owner and not is_alive(owner):
            yield one
