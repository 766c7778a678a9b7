"""What tests of a lab have in common."""

import gc
from collections.abc import Generator

import pytest


@pytest.fixture
def collected() -> Generator[None]:
    """Collect what a test leaves behind while its own warnings count."""
    yield
    gc.collect()
