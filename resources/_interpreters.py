"""The Python that an embedded database lives in: the lab's own, or one that the case names."""

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from benchyard.core.errors import InputError, NotReadyError

#: Seconds that an interpreter may take to say which version of a library it loads.
_SECONDS = 60.0
#: Letters of an interpreter's messages that an error tells.
_TOLD = 500


def refuse_relative(what: str, python: str | None) -> None:
    """Refuse what names no interpreter wherever the lab is started.

    Args:
        what: The resource, for the message.
        python: As the case has it: a path from / or ~ on, or a program on the PATH.

    Raises:
        InputError: If it is empty, or a path from the current folder on.
    """
    if python is not None and (not python or ("/" in python and python[0] not in "/~")):
        raise InputError(
            f"{what}: python is '{python}'; it must be a path from / on, of an interpreter or a "
            "virtual environment, or a program on the PATH"
        )


def interpreter(python: str | None) -> str:
    """Return the path of an interpreter; the lab's own where the case names none.

    Raises:
        NotReadyError: If there is none.
    """
    if python is None:
        return sys.executable
    place = Path(os.path.expanduser(python))  # noqa: PTH111 - Path's own raises for a user who is none
    found = shutil.which(place / "bin" / "python" if place.is_dir() else place)
    if found is None:
        where = f"in the folder '{place}'" if place.is_dir() else f"'{place}'"
        raise NotReadyError(
            f"there is no Python interpreter {where}; 'python' of the resource must name one, or "
            f"a virtual environment: {sys.executable} -m venv FOLDER"
        )
    return os.fspath(found)


@cache
def version_in(python: str, worker: Path, engine: str) -> str:
    """Return the version of an engine's library as an interpreter loads it.

    Asked once: an answer takes the tenth of a second in which Python and the library start.

    Args:
        python: Path of the interpreter.
        worker: The program that holds databases.
        engine: As the worker calls it.

    Raises:
        NotReadyError: If it cannot load the library; the text says why and what to do.
    """
    try:
        said = subprocess.run(
            [python, worker],
            input=json.dumps({"engine": engine, "database": None}).encode(),
            cwd="/",
            env={**os.environ, "PYTHONSAFEPATH": ""},
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
        answer = dict(json.loads(said.stdout or b"{}"))
    except (OSError, TypeError, ValueError, subprocess.SubprocessError) as error:
        raise NotReadyError(f"{python} cannot be asked for {engine}: {error}") from error
    if "values" in answer:
        return str(answer["values"]["version"])
    said_last = said.stderr.decode(errors="replace").strip()[-_TOLD:]
    why = answer.get("error") or said_last or f"it ended with {said.returncode}"
    lacks = answer.get("lacks")
    how = f"; install it there: {python} -m pip install {lacks}" if lacks else ""
    raise NotReadyError(f"{python} cannot load {engine}: {why}{how}")
