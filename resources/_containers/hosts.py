"""Where the containers of a run are to be found, by the names that they have in its network."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from resources._containers.engine import EngineError, connect, telling
from resources._containers.networks import network_name


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
