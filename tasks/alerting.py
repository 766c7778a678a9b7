"""Give alerts as JSON to the command that a file of this host names."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any, cast

from benchyard.core import places
from benchyard.core.errors import BenchyardError
from tasks.names import without_labels

#: A command that takes longer has hung; the next alert must not wait for it.
_SECONDS = 120.0
_TEXT = "BENCHYARD_ALERT"


def command_file() -> Path:
    """Return the file that keeps the command: no parameter and no page of the UI shows it."""
    folder = places.home() / "lab"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder / "alert.json"


def run_command(message: str) -> str:
    """Give an alert to the command: as JSON on its stdin, its text as ``BENCHYARD_ALERT``.

    No shell sees it, and nothing of it becomes an argument.

    Returns:
        What was told.

    Raises:
        BenchyardError: If there is no command on this host, or it failed.
    """
    arguments, text = _command(), _text(message)
    try:
        ended = subprocess.run(
            arguments,
            input=message.encode(),
            env={**without_labels(), _TEXT: text},
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        reason = getattr(error, "strerror", None) or "it took longer than two minutes"
        raise BenchyardError(f"the command for alerts, {arguments[0]}: {reason}") from None
    if ended.returncode:
        said = ended.stderr.decode(errors="replace").strip()[-300:]
        raise BenchyardError(
            f"the command for alerts, {arguments[0]}, failed with {ended.returncode}: {said}"
        )
    return text


def _command() -> list[str]:
    file = command_file()
    try:
        found = cast("dict[str, Any]", json.loads(file.read_text(encoding="utf-8")))
        return [str(argument) for argument in found["arguments"]]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise BenchyardError(
            f"no command for alerts in {file} on {os.uname().nodename}; "
            "benchyard up --alerts COMMAND writes it"
        ) from None


def _text(message: str) -> str:
    try:
        return str(cast("dict[str, Any]", json.loads(message))["text"]).replace("\0", "")
    except (ValueError, KeyError, TypeError):
        return message.replace("\0", "")
