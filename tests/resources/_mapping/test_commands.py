"""The database that a step names."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.core.errors import CommandFailedError
from resources._mapping import Database, database_of

WHOLE: tuple[Any, ...] = ("me", "secret", "PostgreSQL", 5432, "db", "PostgreSQL")


def test_all_or_nothing() -> None:
    assert database_of(*WHOLE) == Database(*WHOLE)
    assert database_of(None, None, None, None, None, None) is None


@given(st.lists(st.booleans(), min_size=6, max_size=6).filter(lambda kept: 0 < sum(kept) < 6))
def test_a_part_is_an_error_that_names_the_rest(kept: list[bool]) -> None:
    parts: Any = [value if keep else None for value, keep in zip(WHOLE, kept, strict=True)]
    with pytest.raises(CommandFailedError) as failed:
        database_of(*parts)
    assert str(failed.value).count("rdb_") == 6 - sum(kept) + 1
    assert "secret" not in str(failed.value)


def test_a_password_is_not_shown() -> None:
    assert "secret" not in repr(Database(*WHOLE))


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_a_url_holds_any_password(password: str) -> None:
    from urllib.parse import unquote, urlsplit  # noqa: PLC0415 - needed here alone

    url = Database("me", password, "h", 1, "db", "MySQL").sqlalchemy_url()
    assert url.isascii()
    assert unquote(urlsplit(url).password or "") == password
    assert urlsplit(url).hostname == "h"
