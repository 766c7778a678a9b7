"""The explorer's server: a socket, an address, uvicorn."""

import socket
from collections.abc import Iterable
from contextlib import ExitStack
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from benchyard.core.errors import InputError
from benchyard.core.files import content
from benchyard.web.explorer import Explorer

if TYPE_CHECKING:
    import uvicorn

PORT = 8765
LOOPBACK = "127.0.0.1"
#: Bytes of the longest file with a token that is read.
_LONGEST_TOKEN = 4096
#: Under which a browser that runs on this host asks.
_LOOPBACK_NAMES = frozenset({LOOPBACK, "localhost", "[::1]"})
#: A shorter token could be guessed.
SHORTEST_TOKEN = 16
#: Seconds that answers under way get at the end; a page that follows a run stays open for ever.
_FAREWELL = 1
#: Seconds in which the head of a request must come, from the answer before it on.
_HEAD = 10


def is_loopback(host: str) -> bool:
    """Tell whether only this host reaches an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def names_of(host: str, allowed: Iterable[str] = ()) -> frozenset[str] | None:
    """Return the names by which who listens on an address may be asked; None takes all.

    Args:
        allowed: Names by which a proxy on this host is asked.
    """
    return _LOOPBACK_NAMES.union(map(str.lower, allowed)) if is_loopback(host) else None


def check_token(token: str, origin: str) -> str:
    """Return a token without the spaces around it.

    Args:
        origin: Where it comes from, for the message.

    Raises:
        InputError: If it could be guessed, or be no header.
    """
    token = token.strip()
    if len(token) < SHORTEST_TOKEN or not (token.isascii() and token.isprintable()):
        raise InputError(
            f"{origin}: a token has {SHORTEST_TOKEN} or more ASCII characters; leave it out, and "
            "one is made"
        )
    return token


def read_token(file: Path) -> str:
    """Read a token from a file.

    Raises:
        InputError: If it cannot be read, or holds none.
    """
    try:
        return check_token(content(file, _LONGEST_TOKEN).decode(), str(file))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the token: {error}") from error


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens.

    Args:
        port: 0 lets the kernel choose.

    Raises:
        InputError: If it cannot: the port is taken, or the host has no such address.
    """
    with ExitStack() as closing:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
            family, kind, protocol, _, address = found[0]
            made = closing.enter_context(socket.socket(family, kind, protocol))
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(address)
            made.listen(512)
        except OSError as error:
            raise InputError(
                f"cannot listen on port {port} of {host}: {error.strerror or error}; give another "
                "--port (0 takes a free one) or --host"
            ) from error
        closing.pop_all()
        return made


def address_of(listening: socket.socket, host: str) -> str:
    """Return the address of what is served on a socket, as a browser writes it."""
    port = listening.getsockname()[1]
    everywhere = host in ("0.0.0.0", "::", "")  # noqa: S104 - asked for by name, never by default
    return url_of(socket.gethostname() if everywhere else host, port)


def url_of(name: str, port: int) -> str:
    """Return the address of a port of a host, or of an IP address."""
    return f"http://{f'[{name}]' if ':' in name else name}:{port}/"


def login_address(url: str, token: str | None) -> str:
    """Return the address that lets a browser in."""
    return url if token is None else f"{url}?token={quote(token, safe='')}"


def make_server(explorer: Explorer) -> "uvicorn.Server":
    """Return a server that is to be run with sockets, and stops by ``should_exit``."""
    import uvicorn  # noqa: PLC0415 - the addresses above are asked for without it

    from benchyard.web.app import HeadInTime, make_app  # noqa: PLC0415

    config = uvicorn.Config(
        make_app(explorer),
        log_level="warning",
        access_log=False,
        server_header=False,
        http=HeadInTime,
        ws="none",
        lifespan="on",
        timeout_keep_alive=_HEAD,
        timeout_graceful_shutdown=_FAREWELL,
    )
    return uvicorn.Server(config)
