"""A configuration folder as Batch Shipyard has it: credentials.json, config.json, pool.json.

Source: Azure/batch-shipyard, config_templates and cascade/graph.py, 2016 to 2018.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from benchyard.core.errors import InputError

#: Batch Shipyard's own, where config.json names none.
_PREFIX = "shipyard"
#: Azure's public cloud.
SUFFIX = "core.windows.net"


@dataclass(frozen=True, slots=True)
class Configuration:
    """What a folder says.

    Args:
        account: Name of the Batch account; None if the folder does not say it.
        pool: Name of the pool; None if the folder does not say it.
        storage_account: Name of the storage account.
        endpoint: Suffix of its host's name, or a whole URL.
        prefix: What the names of the tables begin with.
    """

    account: str | None
    pool: str | None
    storage_account: str
    key: str = field(repr=False)
    endpoint: str
    prefix: str


def read_configuration(folder: Path) -> Configuration:
    """Read the folder; pool.json may be missing.

    Raises:
        InputError: If a file or what is needed of it is missing; no secret is told.
    """
    credentials = _Members(folder / "credentials.json").below("credentials")
    config = _Members(folder / "config.json").below("batch_shipyard")
    named = config.needed("storage_account_settings")
    storage = credentials.below("storage").below(named)
    return Configuration(
        account=_batch_account(credentials.below("batch")),
        pool=_pool(folder / "pool.json"),
        storage_account=storage.needed("account"),
        key=_key(storage),
        endpoint=storage.text("endpoint") or SUFFIX,
        prefix=config.text("storage_entity_prefix") or _PREFIX,
    )


class _Members:
    """The members of an object in a file, with the way to them for texts of errors."""

    def __init__(self, file: Path, way: str = "", found: Any = None) -> None:
        self._file = file
        self._way = way
        members = found if way else _load(file)
        self._members = cast("Mapping[str, Any]", members if isinstance(members, dict) else {})

    def below(self, name: str) -> "_Members":
        return _Members(self._file, f"{self._way}{name}.", self._members.get(name))

    def text(self, name: str) -> str | None:
        value = self._members.get(name)
        return value if isinstance(value, str) and value else None

    def needed(self, name: str) -> str:
        value = self.text(name)
        if value is None:
            raise InputError(f"{self._file}: there is no text '{self._way}{name}'; write it there")
        return value


def _load(file: Path) -> Any:
    try:
        return json.loads(file.read_bytes())
    except OSError as error:
        raise InputError(f"{file}: it cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError):
        # The text of the error could show a piece of a key.
        raise InputError(f"{file}: it is no JSON") from None


def _key(storage: _Members) -> str:
    if storage.text("account_key") is None and storage.text("account_key_keyvault_secret_id"):
        # Said apart: somebody who has it in a vault would look for the fault elsewhere.
        raise InputError(
            "the storage account's key is in a key vault, which is not looked into; write it as "
            "account_key into credentials.json, or set AZURE_STORAGE_CONNECTION_STRING instead"
        )
    return storage.needed("account_key")


def _batch_account(batch: _Members) -> str | None:
    """Return the account's name; later folders say it only in the service's URL."""
    url = batch.text("account_service_url")
    host = urlsplit(url).hostname if url else None
    return batch.text("account") or (host.partition(".")[0] if host else None)


def _pool(file: Path) -> str | None:
    return _Members(file).below("pool_specification").text("id") if file.exists() else None
