"""Who may look, under which name, and that nothing is changed."""

from pathlib import Path
from typing import Any

import pytest

from benchyard.core.errors import InputError
from benchyard.web.serving import LOOPBACK, check_token, names_of, read_token
from tests.benchyard.web.site import Site

TOKEN = "correct horse battery"  # noqa: S105


def client(root: Path, **settings: Any) -> Any:
    asking = Site(root, **settings).client
    asking.follow_redirects = False
    return asking


@pytest.mark.parametrize("path", ["/", "/runs.json", "/openapi.json", "/no/such", "/run/x"])
def test_without_the_right_token_nobody_sees_anything(tmp_path: Path, path: str) -> None:
    asking = client(tmp_path, token=TOKEN)
    for headers in (
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Cookie": f"benchyard={TOKEN}"},
        {"Cookie": 'benchyard="'},
    ):
        refused = asking.get(path, headers=headers)
        assert refused.status_code == 401
        assert refused.headers["WWW-Authenticate"] == "Bearer"
        assert str(tmp_path) not in refused.text
    assert asking.get(f"{path}?token=é").status_code == 401
    allowed = asking.get("/", headers={"Authorization": f"Bearer {TOKEN}"})
    assert allowed.status_code == 200


def test_the_token_in_the_address_becomes_a_cookie_and_leaves_the_address(tmp_path: Path) -> None:
    asking = client(tmp_path, token=TOKEN)
    answer = asking.get("/runs", params={"q": "a b", "token": TOKEN})

    assert answer.status_code == 303
    assert answer.headers["location"] == "/runs?q=a+b"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert TOKEN not in cookie
    assert asking.get("/runs?q=a+b").status_code == 200


def test_the_way_back_stays_on_this_host(tmp_path: Path) -> None:
    answer = client(tmp_path, token=TOKEN).get(f"http://localhost//evil.invalid/?token={TOKEN}")
    assert answer.headers["location"] == "/evil.invalid/"


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:8765", 200),
        ("127.0.0.1", 200),
        ("[::1]:1", 200),
        ("LOCALHOST", 200),
        ("rebound.invalid:8765", 421),
        ("localhost.invalid", 421),
        ("127.0.0.1.invalid", 421),
        ("", 421),
    ],
)
def test_on_loopback_only_this_hosts_names_count(tmp_path: Path, host: str, status: int) -> None:
    asking = client(tmp_path, host_names=names_of(LOOPBACK))
    assert asking.get("/", headers={"Host": host}).status_code == status


def test_names_of_a_proxy_count_too() -> None:
    assert names_of("127.0.0.1", ["Lab.Example.org"]) == {
        *("127.0.0.1", "localhost", "[::1]", "lab.example.org")
    }
    assert names_of("0.0.0.0", ["lab.example.org"]) is None  # noqa: S104


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_nothing_is_changed(tmp_path: Path, method: str) -> None:
    answer = client(tmp_path).request(method, "/runs")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, HEAD"


def test_head_is_get_without_the_body(tmp_path: Path) -> None:
    asking = client(tmp_path)
    got, head = asking.get("/cases"), asking.head("/cases")
    assert head.content == b""
    assert head.headers["content-length"] == got.headers["content-length"]


@pytest.mark.parametrize("path", ["/", "/runs.json", "/nothing", "/static/explorer.css"])
def test_every_answer_has_the_safety_headers(tmp_path: Path, path: str) -> None:
    headers = client(tmp_path).get(path).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("token", ["", "short", "x" * 15, "schlüssel" * 3, "a\nb" * 8])
def test_a_token_that_could_be_guessed_or_be_no_header_is_refused(token: str) -> None:
    with pytest.raises(InputError, match="16 or more ASCII"):
        check_token(token, "--token")


def test_a_token_file_holds_a_token(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    assert read_token(file) == TOKEN
    file.write_bytes(b"\xff" * 20)
    with pytest.raises(InputError, match="cannot read the token"):
        read_token(file)
