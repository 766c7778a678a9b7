"""What engines are handed: files for us alone, each value as it was, and a database's URL."""

import os
import stat
from configparser import ConfigParser, ExtendedInterpolation
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.core.errors import CommandFailedError
from resources._mapping import Database
from resources._mapping.folder import ini, properties, write_private

VALUES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@given(VALUES, st.sampled_from([" = ", ":"]))
def test_an_ini_file_holds_a_value_or_refuses_it(value: str, delimiter: str) -> None:
    try:
        text = ini({"one": {"name": "x"}, "two": {"value": value}}, delimiter)
    except CommandFailedError:
        assert value != value.strip() or len(value.splitlines()) > 1
        return
    parser = ConfigParser(interpolation=ExtendedInterpolation())
    parser.read_string(text)
    assert parser["two"]["value"] == value
    assert parser.sections() == ["one", "two"]


def unescaped(text: str) -> str:
    """Read a value as ``java.util.Properties.load`` does, by its documentation."""
    units, letters = bytearray(), iter(text.lstrip(" \t\f"))
    for letter in letters:
        following = next(letters) if letter == "\\" else None
        if following == "u":
            units += bytes.fromhex("".join(next(letters) for _ in range(4)))
        elif following is not None:
            plain = {"n": "\n", "r": "\r", "t": "\t", "f": "\f"}.get(following, following)
            units += plain.encode("utf-16-be")
        else:
            units += letter.encode("utf-16-be")
    return units.decode("utf-16-be")


@given(VALUES)
def test_a_properties_file_holds_any_value(value: str) -> None:
    text = properties({"jdbc.password": value})
    assert text.isascii()
    assert text.count("\n") == 1
    name, _, written = text.removesuffix("\n").partition("=")
    assert name == "jdbc.password"
    assert unescaped(written) == value


def test_only_its_owner_can_read_what_holds_a_password(tmp_path: Path) -> None:
    file, before = tmp_path / "file", os.umask(0)
    try:
        write_private(file, "old")
        write_private(file, "new")
        with pytest.raises(UnicodeEncodeError):
            write_private(file, "\ud800")
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.read_text() == "new"
    assert list(tmp_path.iterdir()) == [file]


def test_a_password_is_not_shown() -> None:
    assert "secret" not in repr(Database("me", "secret", "PostgreSQL", 5432, "db", "PostgreSQL"))


@given(VALUES)
def test_a_url_holds_any_password(password: str) -> None:
    url = Database("me", password, "h", 1, "db", "MySQL").sqlalchemy_url()
    assert url.isascii()
    assert unquote(urlsplit(url).password or "") == password
    assert urlsplit(url).hostname == "h"
