"""Secrets from Prefect's secret blocks."""

from prefect.blocks.system import Secret


def secret_block(name: str) -> str:
    """Return the value of a secret block.

    Raises:
        KeyError: If there is no block of that name.
    """
    try:
        return str(Secret.load(name).get())  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType, reportAttributeAccessIssue]
    except ValueError as error:
        raise KeyError(name) from error
