"""Which database a lab's server keeps its data in: it tells so where Benchyard started it."""

import os
from collections.abc import Mapping
from typing import Any, cast

import httpx
from prefect.client.orchestration import SyncPrefectClient
from prefect.settings import get_current_settings

_URL = "PREFECT_SERVER_DATABASE_CONNECTION_URL"
_DRIVER = "PREFECT_SERVER_DATABASE_DRIVER"
_SQLITE = "sqlite+aiosqlite"
_KNOWN = (_SQLITE, "postgresql+asyncpg")


def with_driver(settings: Mapping[str, str]) -> dict[str, str]:
    """Return a server's settings with its database's kind among them.

    A server shows its settings to whoever may ask, but not the database's address.
    """
    configured = get_current_settings().server.database.connection_url
    url = settings.get(_URL) or (configured.get_secret_value() if configured else "")
    driver = url.partition(":")[0]
    known = driver in _KNOWN and _DRIVER not in os.environ
    return {**settings, _DRIVER: driver} if known else dict(settings)


def is_surely_sqlite(client: SyncPrefectClient) -> bool:
    """Tell whether a server says that its database is SQLite."""
    try:
        told: Any = client.request("GET", "/admin/settings").json()
        database = cast("dict[str, Any]", told["server"]["database"])
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        return False
    return database.get("driver") == _SQLITE
