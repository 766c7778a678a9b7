"""Names of sinks as the command line takes them."""

from benchyard.core.errors import InputError
from benchyard.publish.sinks import NAMES

NOWHERE = "none"


def parse_sinks(text: str) -> tuple[str, ...]:
    """Read ``--publish local,datastore``; ``none`` is no sink.

    Raises:
        InputError: If one is named twice, or there is nothing between two commas.
    """
    names = [name.strip() for name in text.split(",")]
    if names == [NOWHERE]:
        return ()
    if "" in names or NOWHERE in names or len(set(names)) < len(names):
        raise InputError(
            f"--publish {text!r}: name each sink once, with commas between them "
            f"({', '.join(NAMES)}), or write {NOWHERE}"
        )
    return tuple(names)
