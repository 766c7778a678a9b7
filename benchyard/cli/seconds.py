"""Seconds as the command line takes them."""

import math
from typing import Any

import click


class Seconds(click.FloatRange):
    """A number of seconds within bounds.

    ``click.FloatRange`` alone lets ``nan`` pass, which is neither below nor above any bound.
    """

    name = "seconds"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number; fails, in a sentence, for what is none or out of bounds."""
        seconds: float = super().convert(value, param, ctx)
        if not math.isfinite(seconds):
            self.fail(f"{value!r} is no number of seconds.", param, ctx)
        return seconds
