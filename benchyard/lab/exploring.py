"""The lab's explorer: its place, and its process, which shows results until the lab ends."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from benchyard.catalogue.catalogue import Catalogue
from benchyard.core.errors import InputError
from benchyard.lab.state import when_cut
from benchyard.lab.supervisor import LabProcess
from benchyard.lab.where import Where
from benchyard.web import serving
from benchyard.web.explorer import Explorer

#: In its environment: what callers must know, and where Prefect's UI is.
_TOKEN, _PREFECT_UI = "BENCHYARD_EXPLORER_TOKEN", "PREFECT_UI_URL"
#: Whoever looks at results waits rather than what is measured.
_NICENESS = 10


@dataclass(frozen=True, slots=True)
class ExplorerPart:
    """The part of a lab that shows results.

    Args:
        url: Where people find it.
        login: The same with what lets a browser in.
    """

    part: LabProcess
    url: str
    login: str


def explorer_of(
    where: Where, port: int | None, password: str | None, folders: Sequence[Path]
) -> ExplorerPart:
    """Return the explorer of a lab, to be started: where the server listens, it does too.

    Args:
        port: None takes the usual one, or a free one.
        password: Of the lab, which whoever looks must know; None lets all in.
        folders: Where results lie.

    Raises:
        InputError: If the port is taken.
    """
    host = where.bind or serving.LOOPBACK
    number = _port(host, port)
    name = urlsplit(where.ui).hostname if where.bind else host
    url = serving.url_of(name or host, number)
    environment = {_PREFECT_UI: where.ui, _TOKEN: password or ""}
    places = [str(folder.resolve()) for folder in folders]
    part = LabProcess("explorer", __name__, [host, str(number), *places], environment, folders[0])
    return ExplorerPart(part, url, serving.login_address(url, password))


def _port(host: str, wanted: int | None) -> int:
    try:
        listening = serving.listen(host, wanted or serving.PORT)
    except InputError:
        if wanted is not None:
            raise
        listening = serving.listen(host, 0)
    with listening:
        return listening.getsockname()[1]


def main(host: str, port: int, folders: list[Path]) -> None:
    """Show the results below folders until the lab ends.

    Args:
        host: Address to bind.
        port: Of it.
    """
    os.nice(_NICENESS)
    token = os.environ.get(_TOKEN) or None
    with Catalogue(folders, look=False).watching() as catalogue:
        explorer = Explorer(
            catalogue,
            token=token,
            prefect_ui=os.environ.get(_PREFECT_UI),
            host_names=serving.names_of(host),
        )
        server = serving.make_server(explorer)

        def end() -> None:
            server.should_exit = True

        when_cut(end)
        server.run([serving.listen(host, port)])


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), [Path(folder) for folder in sys.argv[3:]])
