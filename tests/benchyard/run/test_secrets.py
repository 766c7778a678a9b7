"""Secrets are resolved at the last moment and kept out of every text."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchyard.core.errors import ResourceError
from benchyard.core.model import Json, at_root, escaped, literal, with_ports
from benchyard.core.redaction import note_arguments
from benchyard.run.secrets import Secrets

STORE = {"db": "p4ss'w\"ord\n", "api": "tok-en", "empty": ""}


@pytest.fixture
def secrets() -> Secrets:
    return Secrets(STORE.__getitem__, {"USER": "alice", "LONG": "tok-en-and-more"})


def test_references_are_resolved_wherever_they_stand(secrets: Secrets) -> None:
    value: Json = {
        "user": "${env:USER}",
        "url": "db://${env:USER}:${secret:api}@host",
        "list": [{"deep": "${secret:db}"}, 1, None, True],
        "${env:USER}": "name",
    }
    assert secrets.resolve(value) == {
        "user": "alice",
        "url": "db://alice:tok-en@host",
        "list": [{"deep": STORE["db"]}, 1, None, True],
        "${env:USER}": "name",
    }


@pytest.mark.parametrize(
    "text", ["", "$", "${}", "${env}", "${env:}", "${other:USER}", "$env:USER", "${matrix.n}"]
)
def test_what_is_no_reference_stays_as_it_is(secrets: Secrets, text: str) -> None:
    assert secrets.resolve(text) == text


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("$${env:USER}", "${env:USER}"),
        ("$$${env:USER}", "$${env:USER}"),
        ("$$ $${ ${env:USER}$$", "$$ ${ alice$$"),
        (
            "$${matrix.n}$${port:x}$${root:y}$${secret:api}",
            "${matrix.n}${port:x}${root:y}${secret:api}",
        ),
    ],
)
def test_two_dollars_and_a_brace_are_a_dollar_and_a_brace(
    secrets: Secrets, text: str, meant: str
) -> None:
    ports = with_ports(text, {"x": 1})
    assert secrets.resolve(at_root(ports, Path("/root"))) == meant


@given(st.text(alphabet="${}env:USR a"))
def test_an_escaped_text_is_meant_as_it_was(text: str) -> None:
    assert Secrets(environment={"U": "x"}).resolve(escaped(text)) == text
    assert literal(escaped(text)) == text


def test_a_value_that_looks_like_a_reference_is_not_resolved_again() -> None:
    secrets = Secrets(environment={"A": "${env:B}", "B": "b"})
    assert secrets.resolve("${env:A}") == "${env:B}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("${env:ABSENT}", "the environment variable 'ABSENT' that the case refers to is not there"),
        ("${secret:absent}", "the Prefect secret block 'absent' that the case refers to is not th"),
    ],
)
def test_a_secret_that_is_not_there_is_named(secrets: Secrets, text: str, message: str) -> None:
    with pytest.raises(ResourceError, match=message):
        secrets.resolve([text])


def test_resolved_values_are_taken_out_of_texts(secrets: Secrets) -> None:
    assert secrets.redact("tok-en of alice") == "tok-en of alice"  # nothing resolved yet
    secrets.resolve(["${secret:api}", "${env:USER}"])
    assert secrets.redact("tok-en of alice, tok-en") == "****** of ******, ******"


def test_the_longest_value_is_taken_out_first(secrets: Secrets) -> None:
    secrets.resolve("${secret:api} ${env:LONG}")
    assert secrets.redact("x tok-en-and-more y") == "x ****** y"


def test_an_empty_secret_does_not_mask_everything(secrets: Secrets) -> None:
    assert secrets.resolve("a${secret:empty}b") == "ab"
    assert secrets.redact("text") == "text"


def test_a_secret_in_quotes_is_taken_out_too(secrets: Secrets) -> None:
    secret = STORE["db"]
    secrets.resolve("${secret:db}")
    for text in (f"<{secret}>", repr(["x", secret]), json.dumps({"a": secret}), str([secret])):
        said = secrets.redact(text)
        assert "******" in said
        assert "p4ss" not in said


@settings(deadline=None)
@given(secret=st.text(min_size=4), before=st.text(max_size=5), after=st.text(max_size=5))
def test_no_resolved_secret_is_left_in_a_text(secret: str, before: str, after: str) -> None:
    secrets = Secrets(environment={"S": secret})
    text = secrets.resolve(f"{before}${{env:S}}{after}")
    assert isinstance(text, str)
    assert secret not in secrets.redact(text) or secret in "*" * 20
    assert json.dumps(secret)[1:-1] not in secrets.redact(json.dumps([text])) or "*" in secret


def test_files_lose_their_secrets_and_the_others_stay(tmp_path: Path) -> None:
    secrets = Secrets(environment={"WORD": "plugh", "NOTHING": ""})
    (tmp_path / "before.txt").write_text("plugh")
    assert secrets.redact_files(tmp_path) == []
    secrets.resolve("${env:WORD} ${env:NOTHING}")
    (tmp_path / "said.txt").write_bytes(b"\xff plugh\n plugh plug h\n")
    (tmp_path / "other.txt").write_text("xyzzy")
    found = secrets.redact_files(tmp_path)
    assert sorted(path.name for path in found) == ["before.txt", "said.txt"]
    assert (tmp_path / "said.txt").read_bytes() == b"\xff ******\n ****** plug h\n"
    assert (tmp_path / "other.txt").read_text() == "xyzzy"


def test_a_secret_on_a_command_line_is_told_of_once_for_each_program() -> None:
    secrets = Secrets(environment={"A": "s3same/open"})
    secrets.resolve("${env:A}")
    note_arguments(["true", "--fast"])
    for _ in range(2):
        note_arguments(["isql", "-P", "s3same/open"])
        note_arguments(["curl", "http://me:s3same%2Fopen@host"])
    said = secrets.exposed()
    assert [warning.split("'")[1] for warning in said] == ["curl", "isql"]
    assert "s3same" not in str(said)
