"""The database that a step names."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from resources._mapping import Database

WHOLE: tuple[Any, ...] = ("me", "secret", "PostgreSQL", 5432, "db", "PostgreSQL")


def test_a_password_is_not_shown() -> None:
    assert "secret" not in repr(Database(*WHOLE))


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_a_url_holds_any_password(password: str) -> None:
    from urllib.parse import unquote, urlsplit  # noqa: PLC0415 - needed here alone

    url = Database("me", password, "h", 1, "db", "MySQL").sqlalchemy_url()
    assert url.isascii()
    assert unquote(urlsplit(url).password or "") == password
    assert urlsplit(url).hostname == "h"
