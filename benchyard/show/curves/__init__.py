"""The curves of a run as a picture: what the host and the resources did, step by step."""

from benchyard.show.curves.choosing import run_to_draw
from benchyard.show.curves.drawing import draw
from benchyard.show.curves.reading import Bar, Curves, Line, Panel, read_curves

__all__ = ["Bar", "Curves", "Line", "Panel", "draw", "read_curves", "run_to_draw"]
