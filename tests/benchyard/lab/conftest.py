"""What tests of a lab have in common."""

import gc
from collections.abc import Generator

import pytest

from tests.benchyard.lab.labs import RunningLab, Shell, add_case, make_shell


@pytest.fixture
def collected() -> Generator[None]:
    """Collect what a test leaves behind while its own warnings count."""
    yield
    gc.collect()


@pytest.fixture(scope="session")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """Give the shell of a lab that several files use, with the cases ``quick`` and ``shaky``.

    The latter fails until there is a file ``mended`` beside the home.
    """
    base = tmp_path_factory.mktemp("shared")
    shell = make_shell(base)
    add_case(shell.checkout, "quick", "true")
    flag = base / "mended"
    add_case(shell.checkout, "shaky", f"test -e {flag} || {{ echo no route to host >&2; exit 3; }}")
    return shell


@pytest.fixture(scope="session")
def lab(shell: Shell) -> Generator[RunningLab]:
    """Bring up a lab that several files use; it may have seen flow runs of other tests."""
    with shell.up("--name", "bench", "--allow", str(shell.home.parent / "allowed")) as lab:
        yield lab
