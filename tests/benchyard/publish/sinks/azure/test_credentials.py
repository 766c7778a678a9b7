"""The ways in: which goes first, what is missing, and that no secret is told."""

import base64
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from benchyard.core.errors import InputError
from benchyard.publish.sinks.azure.client import service
from benchyard.publish.sinks.azure.credentials import access

KEY = base64.b64encode(b"a key that nobody must see, at all").decode()
SAS = "?sv=2019-02-02&sig=a-signature-that-nobody-must-see"
STRING = (
    f"DefaultEndpointsProtocol=https;AccountName=acct;AccountKey={KEY};"
    "EndpointSuffix=core.windows.net"
)

CREDENTIALS = {
    "credentials": {
        "batch": {"account": "mybatch", "account_key": "b"},
        "storage": {
            "mystorage": {"account": "acct", "account_key": KEY, "endpoint": "core.windows.net"}
        },
    }
}
CONFIG = {
    "batch_shipyard": {"storage_account_settings": "mystorage", "storage_entity_prefix": "ship"}
}
POOL = {"pool_specification": {"id": "dockerpool"}}

STORAGE, SETTINGS = "credentials.storage.mystorage", "storage_account_settings"
USUAL = {"AZURE_STORAGE_CONNECTION_STRING": STRING}

MakeFolder = Callable[..., Path]


@pytest.fixture
def folder(tmp_path: Path) -> MakeFolder:
    def make(credentials: Any = CREDENTIALS, config: Any = CONFIG, pool: Any = POOL) -> Path:
        for name, body in (("credentials", credentials), ("config", config), ("pool", pool)):
            if body is not None:
                text = body if isinstance(body, str) else json.dumps(body)
                (tmp_path / f"{name}.json").write_text(text)
        return tmp_path

    return make


@pytest.mark.parametrize(
    ("string", "url"),
    [
        (STRING, "https://acct.table.core.windows.net"),
        (f"accountname=acct; accountkey={KEY};", "https://acct.table.core.windows.net"),
        (STRING.replace("core.windows.net", "core.chinacloudapi.cn"), "https://acct.table.core.chinacloudapi.cn"),
        (STRING.replace("=https", "=http"), "http://acct.table.core.windows.net"),
        (STRING + ";TableEndpoint=http://127.0.0.1:1/acct/", "http://127.0.0.1:1/acct"),
        (f"TableEndpoint=https://acct.table.core.windows.net/;SharedAccessSignature={SAS[1:]}", "https://acct.table.core.windows.net"),
        ("UseDevelopmentStorage=true", "http://127.0.0.1:10002/devstoreaccount1"),
    ],
)  # fmt: skip
def test_every_form_of_a_connection_string(string: str, url: str) -> None:
    found = access(environment={"AZURE_STORAGE_CONNECTION_STRING": string})
    account = found.storage_account
    assert (found.url, found.table) == (url, "benchyardperf")
    assert account in ("acct", "devstoreaccount1")
    assert found.partition == f"{account}$benchyard"
    assert found.key in (KEY, "") or account == "devstoreaccount1"
    assert found.host == url.split("/")[2]
    service(found).close()


def test_account_and_key_or_signature_and_an_endpoint_of_ones_own() -> None:
    known = {"AZURE_STORAGE_ACCOUNT": "acct", "AZURE_STORAGE_KEY": KEY}
    assert access(environment=known).key == KEY
    found = access(environment={**known, "AZURE_STORAGE_SAS_TOKEN": SAS})
    assert (found.key, found.sas) == ("", SAS[1:])
    assert "signature" not in repr(found)
    service(found).close()
    for endpoint, url in (
        ("http://127.0.0.1:10002/acct/", "http://127.0.0.1:10002/acct"),
        ("core.usgovcloudapi.net", "https://acct.table.core.usgovcloudapi.net"),
    ):
        assert access(environment={**known, "BENCHYARD_AZURE_ENDPOINT": endpoint}).url == url


def test_names_come_from_arguments_then_variables_then_defaults() -> None:
    known = {
        "AZURE_STORAGE_CONNECTION_STRING": STRING,
        "BENCHYARD_AZURE_PREFIX": "lab",
        "BENCHYARD_AZURE_ACCOUNT": "group",
        "BENCHYARD_AZURE_POOL": "pool/1",
    }
    assert access(environment=known).table == "labperf"
    assert access(environment=known).partition == "group$pool~2f1"
    found = access(prefix="other", account="a", pool="b", environment=known)
    assert (found.table, found.partition) == ("otherperf", "a$b")


def test_a_folder_like_batch_shipyards(folder: MakeFolder) -> None:
    found = access(folder(), environment={"AZURE_STORAGE_CONNECTION_STRING": "of no use"})
    assert (found.table, found.partition) == ("shipperf", "mybatch$dockerpool")
    assert found.url == "https://acct.table.core.windows.net"
    assert found.key == KEY
    assert KEY not in repr(found)
    assert access(environment={"BENCHYARD_AZURE_CONFIG": str(folder())}) == found
    later = json.loads(json.dumps(CREDENTIALS))
    url = "https://mybatch.eastus.batch.azure.com"
    later["credentials"]["batch"] = {"account_service_url": url}
    assert access(folder(later), environment={}).partition == "mybatch$dockerpool"


def with_key(key: Mapping[str, str]) -> Any:
    """Return credentials with this in the place of the storage account's key."""
    changed = json.loads(json.dumps(CREDENTIALS))
    storage = changed["credentials"]["storage"]["mystorage"]
    del storage["account_key"]
    storage.update(key)
    return changed


@pytest.mark.parametrize(
    ("credentials", "config", "words"),
    [
        (None, CONFIG, "credentials.json: it cannot be read: No such file"),
        (CREDENTIALS, None, "config.json: it cannot be read: No such file"),
        ("{" + KEY, CONFIG, "credentials.json: it is no JSON"),
        ("[]", CONFIG, "there is no text 'credentials.storage.mystorage.account'"),
        (CREDENTIALS, {}, "there is no text 'batch_shipyard.storage_account_settings'"),
        (with_key({}), CONFIG, f"'{STORAGE}.account_key'"),
        (with_key({"account_key_keyvault_secret_id": "https://v"}), CONFIG, "key vault"),
        (CREDENTIALS, {"batch_shipyard": {SETTINGS: 7}}, SETTINGS),
    ],
)
def test_a_folder_that_is_not_whole(
    folder: MakeFolder, credentials: Any, config: Any, words: str
) -> None:
    with pytest.raises(InputError, match=r"json|vault") as raised:
        access(folder(credentials, config), environment={})
    assert words in str(raised.value)
    assert KEY[:9] not in str(raised.value)


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({}, "there are no credentials for Azure Tables"),
        ({"AZURE_STORAGE_CONNECTION_STRING": ""}, "there are no credentials"),
        ({"AZURE_STORAGE_CONNECTION_STRING": f"AccountKey={KEY}"}, "is not whole"),
        ({"AZURE_STORAGE_CONNECTION_STRING": "AccountName=acct"}, "is not whole"),
        ({"AZURE_STORAGE_CONNECTION_STRING": KEY}, "is not whole"),
        ({"AZURE_STORAGE_CONNECTION_STRING": f"AccountName=a;AccountKey={KEY[:-3]}"}, "no base64"),
        ({"AZURE_STORAGE_ACCOUNT": "acct", "AZURE_STORAGE_KEY": f"é{KEY}"}, "no base64"),
        ({"AZURE_STORAGE_CONNECTION_STRING": f"{STRING};TableEndpoint=ftp://x/y"}, "no URL"),
        ({"AZURE_STORAGE_CONNECTION_STRING": f"{STRING};TableEndpoint=https://h/?{SAS}"}, "no URL"),
        ({**USUAL, "BENCHYARD_AZURE_PREFIX": "a-b"}, "'a-bperf'"),
        ({**USUAL, "BENCHYARD_AZURE_PREFIX": "1"}, "'1perf'"),
        ({**USUAL, "BENCHYARD_AZURE_PREFIX": "a" * 60}, "3 to 63"),
        ({**USUAL, "BENCHYARD_AZURE_POOL": "a" * 510}, "too long"),
    ],
)  # fmt: skip
def test_what_is_missing_or_wrong_is_one_sentence_without_a_secret(
    environment: Mapping[str, str], words: str
) -> None:
    with pytest.raises(InputError) as raised:
        access(environment=environment)
    text = str(raised.value)
    assert words in text
    assert "\n" not in text
    assert KEY[:9] not in text
    assert "signature-that" not in text
    # Nor in what a traceback would show as its cause.
    assert raised.value.__cause__ is None


def test_without_anything_else_one_is_known_by_azure_identity() -> None:
    known = {"AZURE_STORAGE_ACCOUNT": "acct"}
    found = access(environment=known)
    assert (found.key, found.sas, found.origin) == ("", "", "azure-identity")
    with pytest.raises(InputError, match="must be https"):
        access(environment={**known, "BENCHYARD_AZURE_ENDPOINT": "http://127.0.0.1/acct"})
