"""What a picture of results shows, before anything is drawn."""

from dataclasses import dataclass
from enum import StrEnum


class PlotKind(StrEnum):
    """What a picture looks like."""

    POINTS = "points"
    BARS = "bars"
    STRIPS = "strips"
    LINES = "lines"
    RATIO = "ratio"
    ECDF = "ecdf"

    @property
    def has_rows(self) -> bool:
        """Whether steps or cases stand below each other, and values run from left to right."""
        return self not in (PlotKind.LINES, PlotKind.ECDF)


@dataclass(frozen=True, slots=True)
class Mark:
    """What is drawn of one step of one case.

    Args:
        centre: Median or ratio; None if there is none.
        low: Lower end of the interval; None, as is ``high``, where there are too few runs.
        high: Its upper end.
        values: Of single runs, in order; shape (runs,).
        at: Number of its row from the top, or the value of the parameter.
        series: Which of the chart's ``series`` it is of, from 0.
    """

    centre: float | None = None
    low: float | None = None
    high: float | None = None
    values: tuple[float, ...] = ()
    at: float = 0.0
    series: int = 0

    @property
    def numbers(self) -> list[float]:
        """All that the axis must have room for."""
        ends = [end for end in (self.centre, self.low, self.high) if end is not None]
        return [*ends, *self.values]


@dataclass(frozen=True, slots=True)
class PlotPanel:
    """Marks that share axes.

    Args:
        title: What its marks have in common; may be empty.
        marks: Ordered by series, and by their place within one.
        rows: Names of the rows, from the top; empty where a parameter is drawn.
    """

    title: str
    marks: tuple[Mark, ...]
    rows: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """All of a picture but its size.

    Args:
        title: May be empty.
        quantity: What the values are.
        unit: Of the values; empty for plain numbers.
        panels: At least one.
        series: Their names, for the legend.
        caption: Sentences below the picture.
        parameter: What runs from left to right in lines; else empty.
        log_values: Whether the axis of the values is logarithmic.
        log_parameter: Whether that of the parameter is.
    """

    kind: PlotKind
    title: str
    quantity: str
    unit: str
    panels: tuple[PlotPanel, ...]
    series: tuple[str, ...]
    caption: tuple[str, ...] = ()
    parameter: str = ""
    log_values: bool = False
    log_parameter: bool = False
