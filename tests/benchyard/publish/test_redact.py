"""Texts without secrets."""

import pytest

from benchyard.publish.outcome import scrubbed, without_credentials


def test_an_address_without_credentials() -> None:
    assert without_credentials("sftp://me:pass@host/a?sig=1") == "sftp://host/a"
    assert without_credentials("s3://bucket/a@b") == "s3://bucket/a@b"
    assert without_credentials("/plain/folder") == "/plain/folder"


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("AZURE_STORAGE_KEY", "q1w2e3r4t5==", "q1w2e3r4t5=="),
        ("AZURE_STORAGE_CONNECTION_STRING", "AccountName=a;AccountKey=zxcvbn==;", "zxcvbn=="),
        ("MY_PASSWORD", "correct horse", "correct horse"),
    ],
)
def test_what_the_environment_holds_as_a_secret(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, secret: str
) -> None:
    monkeypatch.setenv(name, value)
    monkeypatch.setenv("HOME", "refused")
    assert scrubbed(f"refused: {secret} is wrong") == "refused: ****** is wrong"


def test_a_text_is_one_short_line() -> None:
    assert scrubbed("a\n  b\tc") == "a b c"
    assert len(scrubbed("x" * 5000)) == 300
