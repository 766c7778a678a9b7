"""The lab's own processes beside the flow's: what they use is measured too."""

from prefect.settings import get_current_settings

from benchyard.host.overhead import listener_at
from benchyard.process.labels import start_time

#: The server by its address: its process and when that started. A look takes 10 ms.
_seen: dict[str, tuple[int, int]] = {}


def processes_of_lab() -> dict[str, int]:
    """Return the Prefect server's process, if it is on this host."""
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
