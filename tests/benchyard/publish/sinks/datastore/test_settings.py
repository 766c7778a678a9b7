import json
import socket
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from google.auth.compute_engine import _metadata
from google.oauth2.service_account import Credentials as ServiceAccount

from benchyard.core.errors import InputError
from benchyard.publish.sinks.datastore.connection import Connection
from benchyard.publish.sinks.datastore.settings import Settings, find_credentials
from tests.answering import Quiet, serving

VARIABLES = [
    *("DATASTORE_DATASET", "DATASTORE_PROJECT_ID", "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT"),
    *("DATASTORE_EMULATOR_HOST", "BENCHYARD_DATASTORE_DATABASE", "BENCHYARD_DATASTORE_NAMESPACE"),
]
KEY_FILE = "GOOGLE_APPLICATION_CREDENTIALS"


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in (*VARIABLES, KEY_FILE):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path / "gcloud"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(_metadata, "_GCE_PRODUCT_NAME_FILE", str(tmp_path / "no-product"))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([""] * 7, Settings(None, "", "", None)),
        (["", "", "lab", "", "localhost:8081", "bench", "team-a"],
         Settings("lab", "bench", "team-a", "localhost:8081")),
        (["", "special", "general"], Settings("special")),
        (["", "", "", "", "", "(default)"], Settings(None)),
        *(
            ([""] * 4 + [f"http://{address}/"], Settings(None, emulator=address))
            for address in ("127.0.0.1:8081", "[::1]:8081", "a-b.c:65535")
        ),
    ],
)  # fmt: skip
def test_the_environment_says_where(
    values: list[str], expected: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in zip(VARIABLES, values, strict=False):
        monkeypatch.setenv(name, value)
    found = Settings.from_environment()
    found.check()
    assert found == expected


@pytest.mark.parametrize(
    ("field", "values", "words"),
    [
        ("emulator", ["localhost", "::1", "a b:1", "https://host:1", "h:x"], r"_HOST .* host:port"),
        ("namespace", ["__system__", "a" * 101, "a/b", "ä"], "BENCHYARD_DATASTORE_NAMESPACE"),
        ("database", ["abc", "-bench", "a" * 64, "be/nch"], "BENCHYARD_DATASTORE_DATABASE"),
    ],
)
def test_a_value_that_can_not_be_is_said(field: str, values: list[str], words: str) -> None:
    for value in values:
        with pytest.raises(InputError, match=words):
            replace(Settings("p"), **{field: value}).check()


def place(monkeypatch: pytest.MonkeyPatch, port: int) -> None:
    monkeypatch.setenv("GCE_METADATA_IP", f"127.0.0.1:{port}")
    monkeypatch.setattr(_metadata, "_GCE_METADATA_HOST", f"127.0.0.1:{port}")


class Metadata(Quiet, BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("metadata-flavor", "Google")
        self.send_header("content-type", "application/text")
        self.end_headers()
        self.wfile.write(b"project-of-the-machine")


def key_file(folder: Path) -> Path:
    """Write a key that Google never saw; its private part is made here."""
    from cryptography.hazmat.primitives import serialization as form  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric import rsa  # noqa: PLC0415

    private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    how = form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption()
    path = folder / "key.json"
    key = {
        "type": "service_account",
        "project_id": "project-of-the-key",
        "private_key_id": "1",
        "private_key": private.private_bytes(*how).decode(),
        "client_email": "lab@project-of-the-key.iam.gserviceaccount.com",
        "token_uri": "http://127.0.0.1:9/token",
    }
    path.write_text(json.dumps(key))
    return path


@pytest.mark.slow
def test_without_any_it_is_said_what_to_do_and_nobody_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A metadata server takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        place(monkeypatch, server.getsockname()[1])
        with pytest.raises(InputError) as caught:
            find_credentials(0.2)
    assert "gcloud auth application-default login" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_machines_own_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(Metadata) as port:
        place(monkeypatch, port)
        found, project = find_credentials(30.0)
    assert found is not None
    assert project == "project-of-the-machine"


def test_a_key_file_is_read_and_names_the_project_unless_another_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(KEY_FILE, str(key_file(tmp_path)))
    found, project = find_credentials(0.0)
    assert isinstance(found, ServiceAccount)
    assert project == "project-of-the-key"
    connection = Connection(Settings(None, "bench"))
    assert connection.settings == Settings("project-of-the-key", "bench")
    connection.close()
    assert Connection(Settings("named")).settings.project == "named"


@pytest.mark.parametrize(
    "content",
    [
        None,
        "hunter2 is no JSON",
        "[]",
        '{"type": "hunter2"}',
        '{"type": "service_account", "project_id": "p", "private_key": "hunter2",'
        ' "client_email": "a@b", "token_uri": "http://127.0.0.1:9"}',
    ],
)
def test_an_unusable_file_is_said_without_what_is_in_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: str | None
) -> None:
    path = tmp_path / "key.json"
    if content is not None:
        path.write_text(content)
    monkeypatch.setenv(KEY_FILE, str(path))
    with pytest.raises(InputError, match=r"no usable credentials file|no such file") as caught:
        find_credentials(0.0)
    assert "hunter2" not in str(caught.value)
    assert str(path) in str(caught.value)


def test_an_emulator_needs_none_but_a_project() -> None:
    local = Settings("p", emulator="127.0.0.1:1")
    assert Connection(local).settings == local
    for wrong, words in ((Settings(None, emulator="127.0.0.1:1"), "set GOOGLE_CLOUD_PROJECT"),
                         (Settings("p", namespace="a/b"), "NAMESPACE")):  # fmt: skip
        with pytest.raises(InputError, match=words):
            _ = Connection(wrong).settings
