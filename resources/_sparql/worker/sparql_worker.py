"""The program of the child process that sends queries.

It answers with one JSON line when it is up, and with one to each line that it reads:
``{"values": …}`` or ``{"error": …, "refused": …}``, the latter whether it was the endpoint that
refused. It ends when its input does.

This folder is no package: its modules are found because the program lies beside them, and they
import nothing but the standard library, so that the child starts fast and stays small.
"""

import json
import sys
from pathlib import Path
from typing import Any

from sparql_answers import count
from sparql_json import MalformedError
from sparql_request import RefusedError, StatusError, ask


def main() -> int:
    """Serve until the input ends."""
    _send({"values": {}})
    for line in sys.stdin:
        _send(_answer(json.loads(line)))
    return 0


def _send(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"values": _fulfil(request)}
    except (RefusedError, MalformedError) as error:
        return {"error": str(error), "refused": isinstance(error, StatusError)}
    except Exception as error:  # noqa: BLE001 - the lab's process tells it to the user
        return {"error": f"{type(error).__name__}: {error}", "refused": False}


def _fulfil(request: dict[str, Any]) -> dict[str, Any]:
    if request["do"] == "ask":
        return ask(request)
    return count(Path(request["answer"]), request["content_type"])._asdict()


if __name__ == "__main__":
    sys.exit(main())
