"""What tests of the formats share with others."""

from tests.benchyard.cli.conftest import cli

__all__ = ["cli"]
