"""The step with which a deployment's flow run gets to its flows: each host has its own checkout."""

import os
from pathlib import Path

import flows
from tasks.names import ROOT

#: The folder that this code is in: a checkout, or where it is installed.
SOURCE = Path(flows.__file__).resolve().parents[1]
#: What makes a folder a checkout.
FLOWS = Path("flows", "execute_case.py")


def checkout() -> Path:
    """Return the folder that flows and cases are in.

    ``BENCHYARD_ROOT``, else the current folder if it is a checkout, else where this code is. The
    job variable ``working_dir`` of ``prefect.yaml`` makes the worker's folder the current one.
    """
    here = Path.cwd()
    return Path(os.environ.get(ROOT) or (here if (here / FLOWS).is_file() else SOURCE))


def enter_checkout() -> dict[str, str]:
    """Make the checkout the working directory; a pull step of ``prefect.yaml``.

    Returns:
        What Prefect takes from such a step: the directory.
    """
    directory = checkout()
    os.chdir(directory)
    return {"directory": str(directory)}
