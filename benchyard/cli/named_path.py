"""A path that somebody did name: an empty text is no folder, and least of all the current one."""

from pathlib import Path
from typing import Any

import click


class NamedPath(click.Path):
    """A path on the command line; ``--results "$UNSET"`` is refused."""

    def __init__(
        self, *, exists: bool = False, file_okay: bool = True, dir_okay: bool = True
    ) -> None:
        super().__init__(exists=exists, file_okay=file_okay, dir_okay=dir_okay, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; click tells of what it raises by the option's name."""
        if value == "":
            self.fail("an empty text names nothing; give a path, or leave it out", param, ctx)
        return super().convert(value, param, ctx)
