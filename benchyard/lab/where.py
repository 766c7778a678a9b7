"""Which Prefect server a lab works with: the one that is named, or one of its own."""

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, cast
from urllib.parse import urlsplit

import httpx
from prefect.client.orchestration import SyncPrefectClient
from prefect.settings import get_current_settings

from benchyard.core.errors import BenchyardError, InputError
from benchyard.lab import state
from benchyard.lab.prefect_internals import take_environment
from benchyard.lab.server import SPARING, answers
from benchyard.lab.trouble import raise_if_refused
from tasks.names import SERVER, SHOWN_PASSWORD, WANTED_PASSWORD

PORT = 4200
LOOPBACK = "127.0.0.1"
_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - asked for by name, never by default

_DATABASE_URL = "PREFECT_SERVER_DATABASE_CONNECTION_URL"
_DRIVER = "PREFECT_SERVER_DATABASE_DRIVER"
_SQLITE = "sqlite+aiosqlite"
_DRIVERS = (_SQLITE, "postgresql+asyncpg")

_LEASES = "prefect.server.concurrency.lease_storage"
#: What a server of ours must not do: report usage, or let the browser call somebody.
_QUIET = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    # The newer UI asks an analytics host even with analytics off.
    "PREFECT_SERVER_UI_V2_ENABLED": "false",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    # In memory, a limit that was held when the server died would never be free again.
    "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": f"{_LEASES}.filesystem",
    # Or let an event that never comes hold up alerts, and the ends of flow runs, for 15 minutes.
    "PREFECT_SERVER_EVENTS_CAUSAL_ORDERING": "benchyard.lab.ordering",
}
#: Seconds between its looks, where Prefect has 5: each wakes up a host that may be measuring, and
#: all that comes later for it is the word Late, and the first flow runs of a new schedule.
_LOOPS = {
    "LATE_RUNS_LOOP_SECONDS": "30",
    "PAUSE_EXPIRATIONS_LOOP_SECONDS": "60",
    "CLEANUP_RECONCILER_LOOP_SECONDS": "60",
    "SCHEDULER_RECENT_DEPLOYMENTS_LOOP_SECONDS": "20",
}


@dataclass(frozen=True, slots=True)
class Where:
    """A Prefect server.

    Args:
        api: URL of its API, as this host reaches it.
        ui: URL of its UI, as people do.
        bind: Address to bind; None if the server is not ours to start.
        port: Of it.
        shown: URL of its API, as a browser elsewhere reaches it.
    """

    api: str
    ui: str
    bind: str | None = None
    port: int = PORT
    shown: str = ""

    def environment(self, database_url: str | None) -> Mapping[str, str]:
        """Return the settings that our own server gets.

        Its database's kind is among them: a server shows its settings to whoever may ask, but not
        the database's address.

        Args:
            database_url: Where its data go; None for what is configured, else the lab's folder.
        """
        database = get_current_settings().server.database
        loops = {f"PREFECT_SERVER_SERVICES_{name}": value for name, value in _LOOPS.items()}
        ours = {**_QUIET, **SPARING, **loops}
        settings = {name: os.environ.get(name, value) for name, value in ours.items()}
        settings |= {SERVER: self.api, "PREFECT_UI_API_URL": self.shown}
        if database_url is None and "connection_url" not in database.model_fields_set:
            database_url = f"{_SQLITE}:///{state.database()}"
        if database_url is not None:
            settings[_DATABASE_URL] = database_url
        elif database.connection_url is not None:
            database_url = database.connection_url.get_secret_value()
        driver = (database_url or "").partition(":")[0]
        if driver in _DRIVERS and _DRIVER not in os.environ:
            settings[_DRIVER] = driver
        return settings


def choose(host_name: str | None, port: int | None, *, own: bool) -> Where:
    """Return the server to work with.

    The configured one (``PREFECT_API_URL``, a profile of Prefect) if it answers. One that is
    configured on this host's loopback interface and does not answer is ours to start there: that
    is how a shell looks which has used the lab before.

    Args:
        host_name: The name or address under which others shall reach our own; None for loopback.
        port: Of our own.
        own: Whether we may start one.

    Raises:
        BenchyardError: If the configured one does not answer and is not ours to start.
        InputError: If there is none and none may be started, or the port is taken.
    """
    configured = get_current_settings().api.url
    parts = urlsplit(configured or "")
    may_start = own and (not configured or parts.hostname in ("localhost", LOOPBACK))
    if not may_start or (configured and answers(configured)):
        return reachable()
    where = own_server(host_name, port or parts.port or PORT)
    _raise_if_taken(where)
    return where


def reachable() -> Where:
    """Return the server that is configured, or the lab's that is up on this host.

    Raises:
        BenchyardError: If it does not answer.
        InputError: If there is none.
    """
    url = get_current_settings().api.url or state.running_lab()
    if url is None:
        raise InputError(
            f"no Prefect server is named; set {SERVER} to the lab's (benchyard up tells it)"
        )
    if not answers(url):
        raise BenchyardError(
            f"no Prefect server answers at {url}; is the lab up, and {SERVER} right? Where that is "
            "unset, benchyard up starts a server of its own"
        )
    return Where(url, url.removesuffix("/api"))


def own_server(host_name: str | None, port: int) -> Where:
    """Return where our own server is, and under which address others reach it."""
    name = host_name or LOOPBACK
    if name in _EVERYWHERE:
        bind, local, shown = name, LOOPBACK, socket.gethostname()
    elif _is_address(name) or name == "localhost":
        bind, local, shown = name, name, name
    else:
        # A name may lead to another address here (Debian's 127.0.1.1) than elsewhere.
        bind, local, shown = _EVERYWHERE[0], LOOPBACK, name
    reached, ui = (f"http://{_in_url(host)}:{port}" for host in (local, shown))
    return Where(f"{reached}/api", ui, bind, port, f"{ui}/api")


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _raise_if_taken(where: Where) -> None:
    family = socket.AF_INET6 if where.bind and ":" in where.bind else socket.AF_INET
    with socket.socket(family) as probe:
        # As the server does: connections of an earlier one that are still closing do not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((where.bind, where.port))
        except (OSError, OverflowError) as error:
            raise InputError(
                f"cannot listen on port {where.port} of {where.bind}: {error}; give another with "
                f"--port, or set {SERVER} if it is a Prefect server that you want to use"
            ) from None


def use(where: Where) -> str | None:
    """Let this process and all that it starts speak to a server; ours wants a password.

    Returns:
        The password that is configured, else one of ours; None for a server that is not ours.

    Raises:
        BenchyardError: If one that is not ours to start does not take our password.
        InputError: If it is no Prefect API.
    """
    os.environ[SERVER] = where.api
    if where.bind is None:
        state.show_password(where.api)
        take_environment()
        raise_if_refused(where.api)
        return None
    configured = get_current_settings().server.api.auth_string
    password = state.password(configured.get_secret_value() if configured else None)
    os.environ[WANTED_PASSWORD] = os.environ[SHOWN_PASSWORD] = password
    take_environment()
    return password


def is_surely_sqlite(client: SyncPrefectClient) -> bool:
    """Tell whether a server says that its database is SQLite."""
    try:
        told: Any = client.request("GET", "/admin/settings").json()
        database = cast("dict[str, Any]", told["server"]["database"])
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        return False
    return database.get("driver") == _SQLITE
