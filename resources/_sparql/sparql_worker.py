"""The program of the child process that sends queries.

It answers with one JSON line when it is up, and with one to each line that it reads:
``{"values": …}`` or ``{"error": …, "refused": …}``, the latter whether it was the endpoint that
refused. It ends when its input does.

It imports nothing but the standard library, so that the child starts fast and stays small: its
memory and CPU time are measured. The lab's process reads the answers (``_sparql_answers``).
"""

import json
import sys
import time
from base64 import b64encode
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, responses
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

#: Bytes that are read at once.
_CHUNK = 1 << 18
#: Bytes of an error's text that are told.
_TOLD = 2000
#: Virtuoso's own limit is taken away so; others pass it over. KROWN sends the same.
MAX_ROWS = "3000000"


class RefusedError(Exception):
    """There is no whole answer; the text says why."""


class StatusError(RefusedError):
    """The endpoint refused: that is its own answer, by the status."""


def ask(request: Mapping[str, Any]) -> dict[str, Any]:
    """Post a query and save the answer.

    Args:
        request: ``url``; ``address``, where its host is to be found, None if the name says it;
            ``query``; ``headers``; ``auth``, empty without any; ``answer``, the file.

    Returns:
        ``content_type``, ``bytes``, and by this process's clock, from before the connection was
        made: ``first_byte_s``, ``last_byte_s``.

    Raises:
        RefusedError: If the endpoint does not answer, or not with the whole of a result.
    """
    connection = _connection(request["url"], request["address"])
    start = time.monotonic()
    try:
        response = _posted(connection, request)
        first = time.monotonic()
        size = _saved(response, Path(request["answer"]))
    except (OSError, HTTPException) as error:
        why = str(error) or type(error).__name__
        raise RefusedError(f"the endpoint does not answer: {why}") from error
    finally:
        connection.close()
    return {
        "content_type": response.getheader("Content-Type", ""),
        "bytes": size,
        "first_byte_s": first - start,
        "last_byte_s": time.monotonic() - start,
    }


def _connection(url: str, address: str | None) -> HTTPConnection:
    parts = urlsplit(url)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    return kind(address or parts.hostname or "", parts.port)


def _posted(connection: HTTPConnection, request: Mapping[str, Any]) -> HTTPResponse:
    parts = urlsplit(str(request["url"]))
    headers = {
        "Accept": "*/*",
        "Content-Type": "application/x-www-form-urlencoded",
        "Host": parts.netloc.rpartition("@")[2],
        "User-Agent": "Benchyard",
    }
    body = urlencode({"query": request["query"], "maxrows": MAX_ROWS}).encode()
    target = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
    # The user's headers are put in place of our own, however they are spelled.
    given = {name.lower() for name in request["headers"]}
    headers = {name: value for name, value in headers.items() if name.lower() not in given}
    headers |= request["headers"]
    connection.request("POST", target, body, headers)
    response = connection.getresponse()
    challenge = response.getheader("WWW-Authenticate", "")
    if request["auth"] and response.status == 401:
        response.read()
        headers["Authorization"] = _authorization(request["auth"], challenge, request["url"])
        connection.request("POST", target, body, headers)
        response = connection.getresponse()
    _refuse(response)
    return response


def _authorization(auth: Mapping[str, str], challenge: str, url: str) -> str:
    """Answer an endpoint that asks who sends the query.

    Source: RFC 7617 (basic), RFC 7616 (digest).
    """
    # Only who needs it has its time and memory measured.
    from urllib import request as urls  # noqa: PLC0415

    user, password = auth["username"], auth["password"]
    if auth["type"] == "basic":
        return f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"
    scheme, _, rest = challenge.partition(" ")
    fields = urls.parse_keqv_list(urls.parse_http_list(rest))
    if scheme.lower() != "digest" or "realm" not in fields:
        raise RefusedError(f"the endpoint asks for no digest but for '{challenge}'")
    passwords = urls.HTTPPasswordMgr()
    passwords.add_password(fields["realm"], url, user, password)
    handler = urls.AbstractDigestAuthHandler(passwords)
    posted = urls.Request(url, b"")  # noqa: S310 - only its address is read
    return f"Digest {handler.get_authorization(posted, fields)}"


def _refuse(response: HTTPResponse) -> None:
    status = response.status
    if status != 200:
        said = response.read(_TOLD).decode(errors="replace").strip() or "nothing more"
        where = response.getheader("Location")
        name = f"{status} {responses.get(status, '')}".strip()
        raise StatusError(f"HTTP {name}{f' to {where}' if where else ''}; it said: {said}")
    coding = response.getheader("Content-Encoding", "identity")
    if coding != "identity":
        raise RefusedError(f"the answer is encoded ({coding}); leave out 'Accept-Encoding'")
    # So Virtuoso says that it stopped before the end, with status 200.
    for name in ("X-SQL-State", "X-SPARQL-MaxRows"):
        if response.getheader(name):
            why = response.getheader("X-SQL-Message") or f"{name}: {response.getheader(name)}"
            raise RefusedError(f"the answer is cut off by the endpoint's own limits ({why})")


def _saved(response: HTTPResponse, answer: Path) -> int:
    size = 0
    with answer.open("wb") as file:
        while piece := response.read(_CHUNK):
            size += file.write(piece)
    # Python notices the end of a connection only in an answer that comes in chunks.
    if response.length:
        raise RefusedError(
            f"the answer is cut off: {response.length:,} of {size + response.length:,} bytes "
            "are missing"
        )
    return size


def main() -> None:
    """Serve until the input ends."""
    _send({"values": {}})
    for line in sys.stdin:
        _send(_answer(json.loads(line)))


def _send(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"values": ask(request)}
    except RefusedError as error:
        return {"error": str(error), "refused": isinstance(error, StatusError)}
    except Exception as error:  # noqa: BLE001 - the lab's process tells it to the user
        return {"error": f"{type(error).__name__}: {error}", "refused": False}


if __name__ == "__main__":
    main()
