"""Names that the parts of a lab share: pools, queues, labels on processes, variables.

Standard library only: the lab's small processes import it.
"""

import os
import re
import socket

#: Pool of the testbeds: flow runs that measure.
TESTBEDS = "testbeds"
#: Pool of everything that must not wait for a testbed: suites, publishing, housekeeping.
CONTROL = "control"
#: The queue that Prefect makes with each pool; every worker of the pool looks into it.
DEFAULT_QUEUE = "default"
#: Flow runs at a time that a control worker executes.
CONTROL_LIMIT = 4

#: Label: the owner of the lab that a process belongs to, children of flow runs included.
LAB = "BENCHYARD_LAB"
#: Label: the folder that the lab keeps its state in; two homes are two labs.
HOME = "BENCHYARD_LAB_HOME"
#: Label: which part of the lab it is.
PART = "BENCHYARD_LAB_PART"
#: Label: name of the testbed that a worker serves.
TESTBED = "BENCHYARD_TESTBED"
#: Tags of this testbed, separated by commas.
TAGS = "BENCHYARD_TAGS"
#: The checkout whose flows and cases a worker executes.
ROOT = "BENCHYARD_ROOT"
#: Folders, separated by colons, that parameters of flow runs may name.
ALLOWED = "BENCHYARD_ALLOWED"
#: Prefect's own: the id of the flow run that a process executes.
FLOW_RUN = "PREFECT__FLOW_RUN_ID"
FLOW_NAME = "PREFECT__FLOW_NAME"
SERVER = "PREFECT_API_URL"
#: Address of the explorer, for pages that lead to it.
EXPLORER = "BENCHYARD_EXPLORER_URL"
#: Prefect's own: user and password, as ``NAME:PASSWORD``, that its server wants and clients show.
WANTED_PASSWORD = "PREFECT_SERVER_API_AUTH_STRING"  # noqa: S105 - a name
SHOWN_PASSWORD = "PREFECT_API_AUTH_STRING"  # noqa: S105 - a name

#: The automation that ends flow runs without a heartbeat.
HEARTBEATS = "benchyard: flow runs without a heartbeat"
#: Longer than three heartbeats, which prefect.yaml asks for every 30 s: what lives must not be
#: taken for dead.
WITHIN_SECONDS = 95

#: The part that ends last: the others need it until they have ended.
SERVER_PART = "server"

_UNFIT = re.compile(r"[^a-z0-9]+")


def this_host() -> str:
    """Return the name that this host goes by: the first label of its host name."""
    return socket.gethostname().partition(".")[0] or "testbed"


def variable_of(testbed: str) -> str:
    """Return the name of Prefect's variable that tells of a testbed.

    Prefect allows lower-case letters, digits and underscores there.
    """
    return f"benchyard_testbed_{_UNFIT.sub('_', testbed.lower())}"


def without_labels() -> dict[str, str]:
    """Return this process's environment without what would bind a child to its fate."""
    ours = ("BENCHYARD_OWNER", "BENCHYARD_RUN", "BENCHYARD_CHILD", LAB, PART, TESTBED, FLOW_RUN)
    return {name: value for name, value in os.environ.items() if name not in ours}
