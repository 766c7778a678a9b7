"""This host's account of alarms: ``alarms.json`` in the lab's folder."""

from dataclasses import asdict
from pathlib import Path

from benchyard.core import places
from benchyard.core.errors import InputError
from benchyard.core.files import content, shown, write_json
from benchyard.core.json_text import decoded, read_as
from benchyard.statistics.confirmation import AlarmAccount


def _file() -> Path:
    return places.home() / "alarms.json"


def read_account() -> AlarmAccount:
    """Return this host's account; a new one if there is none.

    Raises:
        InputError: If its file is damaged.
    """
    try:
        return read_as(AlarmAccount, decoded(content(_file())))
    except FileNotFoundError:
        return AlarmAccount()
    except (ValueError, RecursionError) as error:
        raise InputError(f"{shown(_file())} is no account of alarms: {error}") from error


def keep_account(account: AlarmAccount) -> None:
    """Write this host's account."""
    _file().parent.mkdir(parents=True, exist_ok=True)
    write_json(_file(), asdict(account))
