"""The lab's own processes beside the flow's: what they use is measured too."""

from prefect.settings import get_current_settings

from benchyard.harness import listener_at


def processes_of_lab() -> dict[str, int]:
    """Return the Prefect server's process, if it is on this host."""
    url = get_current_settings().api.url
    server = listener_at(url) if url else None
    return {} if server is None else {"server": server}
