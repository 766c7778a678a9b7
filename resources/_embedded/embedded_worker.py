"""The program of the child process that holds an embedded database.

Its first line of input is a JSON object: ``engine``, ``database`` (its file) and ``settings``. It
answers with one JSON line once the database is open, and with one to each line that it reads; if
``database`` is null, it only says the version of the engine's library. The answers are
``{"values": …}`` or ``{"error": …, "refused": …}``, the latter whether it was the database that
refused. It ends when its input does.

This folder is no package: its modules are found because the program lies beside them, and they
import nothing but the standard library and one engine, so that the child starts fast and its
memory is the engine's. The Python may be another one than the lab's, from 3.10 on.
"""

import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any, TextIO

from embedded_file import DataFile, Engine, Failure

_MODULES = {"SQLite": "embedded_sqlite", "DuckDB": "embedded_duckdb"}


def main() -> int:
    """Serve until the input ends; the exit code is 1 if the database did not open."""
    answers = _own_output()
    options = json.loads(sys.stdin.readline())
    try:
        module = importlib.import_module(_MODULES[options["engine"]])
        told = {"version": module.version(), "python": sys.version.split()[0]}
        if options["database"] is None:
            _send(answers, {"values": told})
            return 0
        engine: Engine = module.open_engine(options["database"], options["settings"])
    except ModuleNotFoundError as error:
        _send(answers, {"error": str(error), "lacks": error.name})
        return 1
    except Exception as error:  # noqa: BLE001 - the lab's process tells it to the user
        _send(answers, {"error": str(error)})
        return 1
    _send(answers, {"values": told})
    for line in sys.stdin:
        _send(answers, _answer(engine, json.loads(line)))
    engine.close()
    return 0


def _own_output() -> TextIO:
    """Keep the pipe to ourselves: what a library prints must not stand between the answers."""
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    return answers


def _send(answers: TextIO, answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


def _answer(engine: Engine, request: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"values": _fulfil(engine, request)}
    except Exception as error:  # noqa: BLE001 - as above; the next request finds a clean engine
        engine.roll_back()
        # What the system denies is no refusal of the database's own.
        refused = not isinstance(error, (OSError, MemoryError))
        return {"error": str(error) or type(error).__name__, "refused": refused}


def _fulfil(engine: Engine, request: dict[str, Any]) -> dict[str, Any]:
    if request["do"] == "load":
        files = [DataFile(**file) for file in request["files"]]
        schema = request["schema"]
        sql = None if schema is None else (schema["name"], _text(schema))
        return {"rows": engine.load(files, sql), "files": len(files)}
    if request["do"] == "query":
        query = request["query"]
        return _query(engine, query["name"], _text(query), request["results"])
    return {"rows": engine.script("sql", request["sql"], None)}


def _query(engine: Engine, name: str, sql: str, results: str) -> dict[str, Any]:
    try:
        return {"rows": engine.script(name, sql, results)}
    except Exception:
        Path(results).unlink(missing_ok=True)  # half an answer must not pass for one
        raise


def _text(file: dict[str, str]) -> str:
    try:
        return Path(file["path"]).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise Failure(f"{file['name']}: this is not UTF-8; convert it") from error


if __name__ == "__main__":
    sys.exit(main())
