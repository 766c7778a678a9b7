"""Settings of a lab, and of a machine that joins one: fields become command-line options."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from benchyard.core.fields import Within

_PORT = Within(1, 65_535)


@dataclass(frozen=True, slots=True, kw_only=True)
class _TestbedOptions:
    """Settings of a testbed.

    Args:
        testbed: Name of this testbed; the host's if left out.
        testbed_tags: Tag of this testbed, for cases that require it; may be given several times.
        allow: Folder that flow runs here may name beside the checkout; several times for several.
        grace: Seconds that a run gets to finish at SIGTERM; no limit if left out.
    """

    testbed: str | None = None
    testbed_tags: tuple[str, ...] = ()
    allow: tuple[Path, ...] = ()
    grace: Annotated[float | None, Within(0, 604_800)] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinOptions(_TestbedOptions):
    """Settings of a testbed that joins another machine's lab.

    Args:
        queue: Work queue for this testbed alone; it is made. The testbed's name if left out.
        checkout: Folder with the flows and the cases that this machine executes.
    """

    queue: str | None = None
    checkout: Path = Path()


@dataclass(frozen=True, slots=True, kw_only=True)
class LabOptions(_TestbedOptions):
    """Settings of a lab, and of the testbed beside its server.

    Args:
        host: Name or address that other machines reach the server by; only this machine without it.
        port: Of the server; 4200 if left out.
        database_url: Where the server keeps its data: postgresql+asyncpg://USER:PASSWORD@HOST/NAME;
            a file in the lab's folder if left out. BENCHYARD_DATABASE_URL keeps it off the command
            line.
        no_server: Start no server: use that of PREFECT_API_URL.
        no_testbed: Measure nothing on this machine.
        no_explorer: Show no results in a browser.
        explorer_port: Of the explorer; 8765, or a free one, if left out.
        root: Folder that cases are looked for in; what prefect.yaml says if left out.
        resource_folders: Folders with further resource classes.
        prefect_yaml: Declares the deployments; flow runs work in its folder. Else the installed
            file.
        alerts: Where to tell of failed cases and of regressions; BENCHYARD_ALERTS keeps it off the
            command line.
    """

    host: str | None = None
    port: Annotated[int | None, _PORT] = None
    database_url: str | None = None
    no_server: bool = False
    no_testbed: bool = False
    no_explorer: bool = False
    explorer_port: Annotated[int | None, _PORT] = None
    root: Path | None = None
    resource_folders: tuple[Path, ...] = ()
    prefect_yaml: Path = Path("prefect.yaml")
    alerts: str | None = None
