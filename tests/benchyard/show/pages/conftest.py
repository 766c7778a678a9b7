"""The tries that the pages are made from are those of the tests of failures."""

from tests.benchyard.analysis.conftest import make_try

__all__ = ["make_try"]
