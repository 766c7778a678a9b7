"""A real image, pulled from a real registry on loopback: progress, digest, and its account."""

import os
import re
import shutil
import socket
import subprocess
import tarfile
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from benchyard.case.resource import Workspace
from resources.container import AnyContainerSettings, Container
from tests.resources.containers import DOCKER, docker

pytestmark = [pytest.mark.slow, pytest.mark.requires("docker", "docker-registry")]

REGISTRY = shutil.which("docker-registry") or "docker-registry"
#: Bytes of the image: few to bring there and back, and of nobody else's layers.
SIZE = 1_000_000
CONFIGURATION = """
version: 0.1
storage: {filesystem: {rootdirectory: FOLDER}}
http: {addr: "ADDRESS"}
"""


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """Run a registry; give its address, which engines trust without a certificate: loopback."""
    folder = tmp_path_factory.mktemp("registry")
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    configuration = folder / "config.yml"
    text = CONFIGURATION.replace("FOLDER", str(folder / "data")).replace("ADDRESS", address)
    configuration.write_text(text)
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(
            [REGISTRY, "serve", configuration], stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    try:
        wait_until_it_answers(f"http://{address}/v2/", server)
        yield address
    finally:
        server.terminate()
        server.wait()


def wait_until_it_answers(url: str, server: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urlopen(url, timeout=5):  # noqa: S310 - http on loopback
                return
        except (URLError, OSError):
            time.sleep(0.1)
    raise AssertionError("the registry does not answer")


@pytest.fixture
def published(registry: str, tmp_path: Path) -> Generator[str]:
    """Push an image, forget it here, and give its name; it is forgotten again afterwards."""
    name = f"{registry}/benchyard-test/pulled:1"
    (tmp_path / "file").write_bytes(os.urandom(SIZE))
    with tarfile.open(tmp_path / "image.tar", "w") as image:
        image.add(tmp_path / "file", "file")
    docker("import", tmp_path / "image.tar", name)
    docker("push", "--quiet", name)
    docker("rmi", name)
    yield name
    subprocess.run([DOCKER, "rmi", name], capture_output=True, check=False)


def facts_of(name: str, workspace: Workspace) -> Any:
    container = Container(AnyContainerSettings(image=name), workspace)
    container.initialize()
    container.stop()
    return container.facts()


def test_a_pull_is_accounted_with_its_digest(
    published: str, workspace: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    facts = facts_of(published, workspace)
    repository = published.rpartition(":")[0]
    assert re.fullmatch(rf"{repository}@sha256:[0-9a-f]{{64}}", facts["digests"][-1])
    (pulled,) = facts["pulls"]
    assert pulled["image"] == published
    assert pulled["started_at"] < pulled["ended_at"]
    assert pulled["bytes"] >= SIZE
    assert f"image {published}: pulled" in caplog.text


def test_an_image_that_is_here_is_not_pulled(published: str, workspace: Workspace) -> None:
    facts_of(published, workspace)
    assert "pulls" not in facts_of(published, workspace)


def test_a_digest_names_the_same_image(published: str, workspace: Workspace) -> None:
    facts = facts_of(published, workspace)
    by_digest = facts["digests"][-1]
    docker("rmi", published)
    again = facts_of(by_digest, workspace)
    assert again["id"] == facts["id"]
    subprocess.run([DOCKER, "rmi", by_digest], capture_output=True, check=False)
