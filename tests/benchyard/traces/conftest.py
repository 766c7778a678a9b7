"""Runs whose traces are looked at: executed by fakes, or with samples of our own making."""

from tests.benchyard.run.conftest import clock, lab, script
from tests.benchyard.show.curves.conftest import make_run

__all__ = ["clock", "lab", "make_run", "script"]
