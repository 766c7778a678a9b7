"""The curves of a run as a picture: what the host and the resources did, step by step."""

from benchyard.show.curves.panels import (
    Bar,
    CurvePanel,
    Curves,
    Phase,
    RunCurve,
    read_curves,
    run_to_draw,
)
from benchyard.show.curves.plot import draw

__all__ = [
    "Bar",
    "CurvePanel",
    "Curves",
    "Phase",
    "RunCurve",
    "draw",
    "read_curves",
    "run_to_draw",
]
