"""Prefect's server as a flow run meets it: whether it answers, its secrets, and its process.

One that is away for a while is noticed between steps, and waited for at the end only. Task runs
need no answer: their states are events, which Prefect sends from a thread of its own and keeps
while nobody takes them. So steps go on, and are measured as ever. Only the end of a flow run has to
be told to a server; Prefect's client tries that for about a minute (PREFECT_CLIENT_MAX_RETRIES: 2 +
4 + 8 + 16 + 32 s), and would leave the flow run Running for ever.
"""

import http.client
import logging
import os
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache

from prefect.blocks.system import Secret
from prefect.context import FlowRunContext
from prefect.settings import get_current_settings

from benchyard.core.quantity import moment
from benchyard.host.measuring import listener_at
from benchyard.process.labels import start_time
from benchyard.run.progress import QuietMoment
from tasks.caller import bring_back_server, current_caller

logger = logging.getLogger(__name__)

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
        with urllib.request.urlopen(  # noqa: S310 - the address that Prefect is configured with
            f"{url}/health", timeout=seconds, context=_context() if url[:5] == "https" else None
        ):
            return True
    except urllib.error.HTTPError as error:
        return error.code < 500  # somebody is there and wants to be asked otherwise
    except (OSError, http.client.HTTPException):
        return False


@cache
def _context() -> ssl.SSLContext:
    """Return how Prefect's own client checks certificates."""
    settings = get_current_settings().api
    context = ssl.create_default_context(cafile=settings.ssl_cert_file or None)
    if settings.tls_insecure_skip_verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


class Lately:
    """Tells whether the server answers, or did within the last second.

    While it takes note of a step it answers late; asked after every short step, it would keep the
    next one waiting.
    """

    def __init__(self) -> None:
        self._answered = -_PROBE_SECONDS

    def __call__(self) -> bool:
        """Ask it, unless it answered just now."""
        if time.monotonic() - self._answered < _PROBE_SECONDS:
            return True
        well = answers()
        if well:
            self._answered = time.monotonic()
        return well


class Watch:
    """Looks between the steps of runs whether the server answers; the records say so.

    Args:
        look: Tells whether it does.
    """

    def __init__(self, look: Callable[[], bool] | None = None) -> None:
        self._look = look or Lately()
        self._since: datetime | None = None

    def hear(self, moment: QuietMoment) -> None:
        """Look, while nothing is measured; the command's own server is started again if gone."""
        if self._look() or (moment.next == "initialize" and bring_back_server()):
            self._note_return(moment)
        elif self._since is None:
            self._since = datetime.now(UTC)
        if moment.next == "record" and self._since is not None:
            moment.warn(f"the Prefect server does not answer {_since(self._since)} on: {_SO_WHAT}")

    def _note_return(self, quiet: QuietMoment) -> None:
        if self._since is not None:
            until = moment(datetime.now(UTC))
            quiet.warn(
                f"the Prefect server did not answer {_since(self._since)} to {until}: {_SO_WHAT}"
            )
        self._since = None


_SO_WHAT = "what it shows of this run may be late or incomplete, what is recorded here is not"


def _since(at: datetime) -> str:
    return f"from {moment(at)}"


def wait_for_server(
    tell: Callable[[str], None],
    patience: float | None = None,
    look: Callable[[], bool] = lambda: answers(_LAST_PROBE_SECONDS),
) -> float | None:
    """Wait until the server answers, so that it can be told how the flow run ended.

    One of this process's own is started again instead.

    Args:
        tell: Takes a sentence for the user.
        patience: Seconds after which it is given up; None for what suits the flow run.
        look: Tells whether it answers.

    Returns:
        Seconds waited; 0 if it answered at once, None if it stays away.
    """
    if look():
        return 0.0
    began = time.monotonic()
    caller = current_caller()
    if caller is not None and caller.bring_back is not None:
        back = "was gone and is started again" if bring_back_server() else ""
    else:
        back = _waited(tell, _patience() if patience is None else patience, look)
    if back:
        tell(f"the Prefect server {back}")
        return time.monotonic() - began
    tell("the Prefect server stays away; the results are on disk, it will not learn of them")
    return None


def _waited(tell: Callable[[str], None], limit: float, look: Callable[[], bool]) -> str:
    tell(f"the Prefect server does not answer; it is waited for, {limit:.0f} s at most")
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline:
        time.sleep(min(_LOOK_SECONDS, limit))
        if look():
            return "answers again"
    return ""


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


#: The server by its address: its process and when that started. A look takes 10 ms.
_seen: dict[str, tuple[int, int]] = {}


def processes_of_lab() -> dict[str, int]:
    """Return the Prefect server's process, if it is on this host: what it uses is measured too."""
    url = get_current_settings().api.url
    if not url:
        return {}
    known = _seen.get(url)
    if known is not None and start_time(known[0]) == known[1]:
        return {"server": known[0]}
    server = listener_at(url)
    since = None if server is None else start_time(server)
    if server is None or since is None:
        return {}
    _seen[url] = server, since
    return {"server": server}
