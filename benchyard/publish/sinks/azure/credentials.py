"""Where the table of events is and the credentials for it: by environment or by a folder."""

import base64
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from benchyard.core.errors import InputError, require_extra
from benchyard.publish.sinks.azure.rows import LONGEST, partition_key

#: Names a configuration folder as Batch Shipyard has it.
CONFIG = "BENCHYARD_AZURE_CONFIG"
#: Name what the table and its partition are called.
PREFIX, ACCOUNT, POOL = "BENCHYARD_AZURE_PREFIX", "BENCHYARD_AZURE_ACCOUNT", "BENCHYARD_AZURE_POOL"
#: The account's URL, or the suffix of its host's name where that is not the public cloud's.
ENDPOINT = "BENCHYARD_AZURE_ENDPOINT"
_DEFAULT = "benchyard"
#: Source: Azure Tables, "Understanding the Table service data model", table names.
_TABLE = re.compile(r"[A-Za-z][A-Za-z0-9]{2,62}")
#: The account of every emulator, public by intent.
#: Source: learn.microsoft.com, "Use the Azurite emulator for local Azure Storage development".
_EMULATED = (
    "AccountName=devstoreaccount1;"
    "AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;"
    "TableEndpoint=http://127.0.0.1:10002/devstoreaccount1"
)
#: Batch Shipyard's own, where config.json names none.
_PREFIX = "shipyard"
#: Azure's public cloud.
SUFFIX = "core.windows.net"


@dataclass(frozen=True, slots=True)
class Access:
    """A table, a partition of it, and the credentials.

    Args:
        table: Name of the table.
        partition: Key of the pool's events in it.
        url: Of the storage account's tables.
        storage_account: Name of the storage account.
        key: Its key in base64, if that is used.
        sas: A shared access signature, if that is used.
        origin: Where key or signature were found, for texts.
    """

    table: str
    partition: str
    url: str
    storage_account: str
    key: str = field(default="", repr=False)
    sas: str = field(default="", repr=False)
    origin: str = "azure-identity"

    @property
    def host(self) -> str:
        """Host and port, for texts."""
        return urlsplit(self.url).netloc


@dataclass(frozen=True, slots=True)
class _Way:
    """Credentials, and the names that were found with them."""

    storage_account: str
    endpoint: str
    origin: str
    key: str = field(default="", repr=False)
    sas: str = field(default="", repr=False)
    prefix: str = ""
    account: str = ""
    pool: str = ""


def access(
    configuration: Path | None = None,
    *,
    prefix: str | None = None,
    account: str | None = None,
    pool: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> Access:
    """Find the table and the credentials; nothing is connected.

    The first that is there: a configuration folder (``BENCHYARD_AZURE_CONFIG``);
    ``AZURE_STORAGE_CONNECTION_STRING``; ``AZURE_STORAGE_ACCOUNT`` with
    ``AZURE_STORAGE_SAS_TOKEN``, with ``AZURE_STORAGE_KEY``, or alone, with azure-identity.

    Args:
        configuration: The folder.
        prefix: What the table's name begins with, before ``perf``. By default
            ``BENCHYARD_AZURE_PREFIX``, the folder's, ``benchyard``.
        account: First half of the partition's key. By default ``BENCHYARD_AZURE_ACCOUNT``, the
            folder's Batch account, the storage account.
        pool: Second half of it. By default ``BENCHYARD_AZURE_POOL``, the folder's, ``benchyard``.
        environment: The variables; those of this process by default.

    Raises:
        InputError: If something is missing or wrong; one sentence, no secret.
    """
    known = os.environ if environment is None else environment
    way = _way(configuration, known)
    account = account or known.get(ACCOUNT) or way.account or way.storage_account
    partition = partition_key(account, pool or known.get(POOL) or way.pool or _DEFAULT)
    if len(partition) > LONGEST:
        raise InputError(f"account and pool are too long together; choose a shorter {POOL}")
    return Access(
        table=_table(prefix or known.get(PREFIX) or way.prefix or _DEFAULT),
        partition=partition,
        url=_url(way),
        storage_account=way.storage_account,
        key=_sound(way.key, way.origin),
        sas=way.sas.removeprefix("?"),
        origin=way.origin,
    )


def _way(configuration: Path | None, known: Mapping[str, str]) -> _Way:
    folder = configuration or (Path(known[CONFIG]) if known.get(CONFIG) else None)
    if folder is not None:
        return _of_folder(folder)
    if known.get("AZURE_STORAGE_CONNECTION_STRING"):
        return _of_connection_string(known["AZURE_STORAGE_CONNECTION_STRING"])
    name, endpoint = known.get("AZURE_STORAGE_ACCOUNT"), known.get(ENDPOINT) or SUFFIX
    if not name:
        raise InputError(
            "there are no credentials for Azure Tables; set AZURE_STORAGE_CONNECTION_STRING, or "
            f"AZURE_STORAGE_ACCOUNT and AZURE_STORAGE_KEY, or {CONFIG} to a folder with "
            "credentials.json, config.json and pool.json"
        )
    if known.get("AZURE_STORAGE_SAS_TOKEN"):
        sas = known["AZURE_STORAGE_SAS_TOKEN"]
        return _Way(name, endpoint, "AZURE_STORAGE_SAS_TOKEN", sas=sas)
    if known.get("AZURE_STORAGE_KEY"):
        return _Way(name, endpoint, "AZURE_STORAGE_KEY", key=known["AZURE_STORAGE_KEY"])
    return _of_identity(name, endpoint)


def _of_folder(folder: Path) -> _Way:
    """Read a folder with Batch Shipyard's files; pool.json may be missing.

    Source: Azure/batch-shipyard, config_templates and cascade/graph.py, 2016 to 2018.
    """
    credentials, config = _File(folder / "credentials.json"), _File(folder / "config.json")
    pool = folder / "pool.json"
    storage = (
        "credentials",
        "storage",
        config.needed("batch_shipyard", "storage_account_settings"),
    )
    if not credentials.text(*storage, "account_key") and credentials.text(
        *storage, "account_key_keyvault_secret_id"
    ):
        # Said apart: somebody who has it in a vault would look for the fault elsewhere.
        raise InputError(
            "the storage account's key is in a key vault, which is not looked into; write it as "
            "account_key into credentials.json, or set AZURE_STORAGE_CONNECTION_STRING instead"
        )
    # Later folders say the Batch account only in the service's URL.
    service = credentials.text("credentials", "batch", "account_service_url")
    host = urlsplit(service).hostname or ""
    return _Way(
        credentials.needed(*storage, "account"),
        credentials.text(*storage, "endpoint") or SUFFIX,
        str(credentials.file),
        key=credentials.needed(*storage, "account_key"),
        prefix=config.text("batch_shipyard", "storage_entity_prefix") or _PREFIX,
        account=credentials.text("credentials", "batch", "account") or host.partition(".")[0],
        pool=_File(pool).text("pool_specification", "id") if pool.exists() else "",
    )


def _of_connection_string(text: str) -> _Way:
    origin = "AZURE_STORAGE_CONNECTION_STRING"
    if text.strip().rstrip(";").lower() == "usedevelopmentstorage=true":
        text = _EMULATED
    parted = (part.strip().partition("=") for part in text.split(";"))
    found = {name.lower(): value for name, _, value in parted if value}
    endpoint = found.get("tableendpoint", "").rstrip("/") or found.get("endpointsuffix") or SUFFIX
    key, sas = found.get("accountkey", ""), found.get("sharedaccesssignature", "")
    name = found.get("accountname") or (urlsplit(endpoint).hostname or "").partition(".")[0]
    if not name or not (key or sas):
        raise InputError(
            f"{origin} is not whole; it needs AccountName with AccountKey, or TableEndpoint with "
            "SharedAccessSignature, as the portal shows it under 'Access keys'"
        )
    if found.get("defaultendpointsprotocol", "").lower() == "http" and "://" not in endpoint:
        endpoint = f"http://{name}.table.{endpoint}"
    return _Way(name, endpoint, origin, key=key, sas="" if key else sas)


def _of_identity(name: str, endpoint: str) -> _Way:
    use = f"the storage account '{name}', without a key or a signature,"
    instead = "set AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN"
    require_extra("azure", "azure.identity", use, instead)
    if endpoint.lower().startswith("http://"):
        raise InputError(f"{ENDPOINT} must be https: azure-identity sends no token in the clear")
    return _Way(name, endpoint, "azure-identity")


def _url(way: _Way) -> str:
    if "://" not in way.endpoint:
        return f"https://{way.storage_account}.table.{way.endpoint.strip('.')}"
    parts = urlsplit(way.endpoint)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query:
        raise InputError(
            f"the endpoint that {way.origin} goes with is no URL of a storage account's tables, "
            "such as https://NAME.table.core.windows.net"
        )
    return way.endpoint.rstrip("/")


def _table(prefix: str) -> str:
    table = f"{prefix}perf"
    if not _TABLE.fullmatch(table):
        raise InputError(
            f"'{table}' can be no table in Azure: letters and digits, a letter first, 3 to 63 of "
            f"them; choose another prefix ({PREFIX}, or storage_entity_prefix in config.json)"
        )
    return table


def _sound(key: str, origin: str) -> str:
    try:
        base64.b64decode(key, validate=True)
    except ValueError:  # the text of the error is of no use, and could tell of the key
        raise InputError(f"the key in {origin} is no base64; copy it whole") from None
    return key


class _File:
    """Texts in a JSON file, by the names of the members that lead to them."""

    def __init__(self, file: Path) -> None:
        self.file = file
        try:
            self._whole: Any = json.loads(file.read_bytes())
        except OSError as error:
            raise InputError(f"{file}: it cannot be read: {error.strerror}") from error
        except (ValueError, RecursionError):
            # The text of the error could show a piece of a key.
            raise InputError(f"{file}: it is no JSON") from None

    def text(self, *way: str) -> str:
        """Return a text; empty if there is none."""
        found = self._whole
        for name in way:
            found = cast("dict[str, Any]", found).get(name) if isinstance(found, dict) else None
        return found if isinstance(found, str) else ""

    def needed(self, *way: str) -> str:
        if text := self.text(*way):
            return text
        raise InputError(f"{self.file}: there is no text '{'.'.join(way)}'; write it there")
