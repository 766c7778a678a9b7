"""The stand-in for Azure: where it listens, what it keeps, and what of it is in the repository."""

import json
import re
import socket
from pathlib import Path

import pytest

from tests.emulators.azurite.server import running

HERE = Path(__file__).parent


def test_its_version_is_pinned_and_no_file_names_a_registry() -> None:
    [version] = json.loads((HERE / "package.json").read_text())["dependencies"].values()
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)
    assert not (HERE / "package-lock.json").exists()
    assert "://" not in (HERE / "package.json").read_text()


@pytest.mark.slow
@pytest.mark.requires("azurite")
def test_it_listens_on_loopback_and_tells_nobody() -> None:
    with running() as azurite:
        assert azurite.process is not None
        line = Path(f"/proc/{azurite.process.pid}/cmdline").read_bytes().split(b"\0")
        assert b"--disableTelemetry" in line
        assert b"127.0.0.1" in line
        with socket.create_connection(("127.0.0.1", azurite.port), 5):
            pass
    with (
        pytest.raises(OSError, match="refused"),
        socket.create_connection(("127.0.0.1", azurite.port), 5),
    ):
        pass
