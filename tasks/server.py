"""Prefect's server as a flow run meets it: whether it answers, its secrets, and its process.

One that is away for a while is noticed between steps, and waited for at the end only. Task runs
need no answer: their states are events, which Prefect sends from a thread of its own and keeps
while nobody takes them. So steps go on, and are measured as ever. Only the end of a flow run has to
be told to a server; Prefect's client tries that for about a minute (PREFECT_CLIENT_MAX_RETRIES: 2 +
4 + 8 + 16 + 32 s), and would leave the flow run Running for ever.
"""

import logging
import os
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from urllib.parse import urlsplit

import httpx
import psutil
from prefect.blocks.system import Secret
from prefect.context import FlowRunContext
from prefect.settings import get_current_settings

from benchyard.core.quantity import moment
from benchyard.run.progress import QuietMoment
from tasks.caller import bring_back_server

logger = logging.getLogger(__name__)

_LOOPBACK = ("localhost", "127.0.0.1", "::1", "0.0.0.0", "::")  # noqa: S104 - nothing is bound

#: A server that is well answers in milliseconds; one that is not must not hold up a run.
_PROBE_SECONDS = 1.0
#: At the end nothing waits for the answer, and a server that just came up is slow.
_LAST_PROBE_SECONDS = 10.0
#: Between two looks while it is away.
_LOOK_SECONDS = 2.0
#: Names how many seconds a flow run waits for it at its end, instead of the following.
PATIENCE = "BENCHYARD_SERVER_PATIENCE"
#: How long a deployment's flow run waits for it: nobody sits there.
PATIENCE_SECONDS = 3600.0
#: How long others do: somebody waits at a terminal, and the results are on disk.
SHORT_PATIENCE_SECONDS = 60.0


def answers(seconds: float = _PROBE_SECONDS) -> bool:
    """Tell whether the server answers; true where no server is configured.

    Args:
        seconds: That it gets.
    """
    url = get_current_settings().api.url
    if url is None:
        return True
    try:
        answer = httpx.get(f"{url}/health", timeout=seconds, verify=_context())
    except httpx.RequestError:
        return False
    return answer.status_code < 500  # below, somebody is there and wants to be asked otherwise


@cache
def _context() -> ssl.SSLContext:
    """Return how Prefect's own client checks certificates."""
    settings = get_current_settings().api
    context = ssl.create_default_context(cafile=settings.ssl_cert_file or None)
    if settings.tls_insecure_skip_verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


class Watch:
    """Looks between the steps of runs whether the server answers; the records say so."""

    def __init__(self) -> None:
        self._answered = -_PROBE_SECONDS
        self._since: datetime | None = None

    def hear(self, quiet: QuietMoment) -> None:
        """Look, while nothing is measured; the command's own server is started again if gone.

        While it takes note of a step it answers late: asked after every short one, it would keep
        the next one waiting.
        """
        if time.monotonic() - self._answered < _PROBE_SECONDS:
            return
        now = datetime.now(UTC)
        if answers() or (quiet.next == "initialize" and bring_back_server()):
            self._answered = time.monotonic()
            if self._since is not None:
                quiet.warn(
                    f"the Prefect server did not answer from {moment(self._since)} to "
                    f"{moment(now)}: {_SO_WHAT}"
                )
            self._since = None
            return
        self._since = self._since or now
        if quiet.next == "record":
            quiet.warn(
                f"the Prefect server does not answer from {moment(self._since)} on: {_SO_WHAT}"
            )


_SO_WHAT = "what it shows of this run may be late or incomplete, what is recorded here is not"


def wait_for_server(tell: Callable[[str], None], patience: float | None = None) -> float | None:
    """Wait until the server answers, so that it can be told how the flow run ended.

    One of this process's own is started again instead.

    Args:
        tell: Takes a sentence for the user.
        patience: Seconds after which it is given up; None for what suits the flow run.

    Returns:
        Seconds waited; 0 if it answered at once, None if it stays away.
    """
    if answers(_LAST_PROBE_SECONDS):
        return 0.0
    began = time.monotonic()
    is_back = bring_back_server()
    if is_back is None:
        limit = _patience() if patience is None else patience
        tell(f"the Prefect server does not answer; it is waited for, {limit:.0f} s at most")
        while not is_back and time.monotonic() - began < limit:
            time.sleep(min(_LOOK_SECONDS, limit))
            is_back = answers(_LAST_PROBE_SECONDS)
    if is_back:
        tell("the Prefect server answers again")
        return time.monotonic() - began
    tell("the Prefect server stays away; the results are on disk, it will not learn of them")
    return None


def _patience() -> float:
    with suppress(ValueError):
        return max(0.0, float(os.environ.get(PATIENCE, "")))
    context = FlowRunContext.get()
    deployed = context and context.flow_run and context.flow_run.deployment_id
    return PATIENCE_SECONDS if deployed else SHORT_PATIENCE_SECONDS


def secret_block(name: str) -> str:
    """Return the value of a secret block; a server that is away is waited for.

    Raises:
        KeyError: If there is no block of that name.
    """
    wait_for_server(lambda text: logger.warning("%s", text))
    try:
        return str(Secret.load(name).get())  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType, reportAttributeAccessIssue]
    except ValueError as error:
        raise KeyError(name) from error


def processes_of_lab() -> dict[str, int]:
    """Return the Prefect server's process, if it is on this host: what it uses is measured too."""
    url = get_current_settings().api.url
    server = listener_at(url) if url else None
    return {} if server is None else {"server": server}


def listener_at(url: str) -> int | None:
    """Return the process on this host that listens where ``url`` points; None if there is none.

    Without root, processes of other users are not seen.
    """
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        if parts.hostname not in _LOOPBACK:
            return None
        sockets = psutil.net_connections("tcp")
    except (ValueError, OSError, psutil.Error):
        return None
    listening = (s for s in sockets if s.status == psutil.CONN_LISTEN and s.pid)
    return next((s.pid for s in listening if tuple(s.laddr)[1:2] == (port,)), None)
