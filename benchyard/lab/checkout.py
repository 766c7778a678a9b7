"""The step with which a deployment's flow run gets to its flows: each host has its own checkout."""

import os
from pathlib import Path

import flows
from tasks.names import ROOT


def checkout() -> Path:
    """Return the folder that flows and cases are in: ``BENCHYARD_ROOT``, else where we are from."""
    given = os.environ.get(ROOT)
    return Path(given) if given else Path(flows.__file__).resolve().parents[1]


def enter_checkout() -> dict[str, str]:
    """Make the checkout the working directory; a pull step of ``prefect.yaml``.

    Returns:
        What Prefect takes from such a step: the directory.
    """
    directory = checkout()
    os.chdir(directory)
    return {"directory": str(directory)}
