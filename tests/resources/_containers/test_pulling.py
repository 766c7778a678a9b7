"""A real image, pulled from a real registry on loopback: progress, digest, and its account."""

import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Generator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from benchyard.case.resource import Workspace
from resources.container import AnyContainerSettings, Container
from tests.conftest import eventually
from tests.ports import free_port
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


@pytest.fixture
def registry(tmp_path: Path) -> Generator[str]:
    """Run a registry; give its address, which engines trust without a certificate: loopback."""
    address = f"127.0.0.1:{free_port()}"
    configuration = tmp_path / "config.yml"
    text = CONFIGURATION.replace("FOLDER", str(tmp_path / "data")).replace("ADDRESS", address)
    configuration.write_text(text)
    with (tmp_path / "log").open("w") as log:
        server = subprocess.Popen(
            [REGISTRY, "serve", configuration], stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    try:
        assert eventually(lambda: answers(f"http://{address}/v2/"), 30)
        yield address
    finally:
        server.terminate()
        server.wait()


def answers(url: str) -> bool:
    try:
        with urlopen(url, timeout=5):  # noqa: S310 - http on loopback
            return True
    except OSError:
        return False


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


def test_a_pull_is_accounted_with_its_digest_which_names_the_same_image(
    published: str, workspace: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    facts = facts_of(published, workspace)
    by_digest = facts["digests"][-1]
    repository = published.rpartition(":")[0]
    assert re.fullmatch(rf"{repository}@sha256:[0-9a-f]{{64}}", by_digest)
    (pulled,) = facts["pulls"]
    assert pulled["image"] == published
    assert pulled["started_at"] < pulled["ended_at"]
    assert pulled["bytes"] >= SIZE
    assert f"image {published}: pulled" in caplog.text
    assert "pulls" not in facts_of(published, workspace)
    docker("rmi", published)
    assert facts_of(by_digest, workspace)["id"] == facts["id"]
    subprocess.run([DOCKER, "rmi", by_digest], capture_output=True, check=False)
