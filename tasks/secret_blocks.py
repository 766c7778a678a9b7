"""Secrets from Prefect's secret blocks."""

import logging

from prefect.blocks.system import Secret

from tasks.outage import wait_for_server

logger = logging.getLogger(__name__)


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
