"""Repositories, and distributions as an installer leaves them."""

import hashlib
import json
import re
import shutil
from pathlib import Path

import pytest

from tests.repositories import git


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "engine"
    (folder / "bin").mkdir(parents=True)
    program = folder / "bin" / "serve"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    git(tmp_path, "init", "-q", str(folder))
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    return folder


def site_of(environment: Path) -> Path:
    """Return where a virtual environment has its packages."""
    [site] = (environment / "lib").glob("python*/site-packages")
    return site


def install(site: Path, name: str, version: str, code: str = "", **origin: object) -> None:
    """Install a distribution of one module as pip does; another version of it goes.

    Args:
        code: What the module holds after its version; an editable installation has no module.
        origin: What it was installed from, as ``direct_url.json`` has it.
    """
    module = re.sub("[-.]", "_", name)
    for before in site.glob(f"{module}-*.dist-info"):
        shutil.rmtree(before)
    facts = site / f"{module}-{version}.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = [f"{facts.name}/METADATA,,"]
    if origin:
        (facts / "direct_url.json").write_text(json.dumps(origin))
    if not origin.get("dir_info"):
        (site / f"{module}.py").write_text(f"VERSION = '{version}'\n{code}")
        digest = hashlib.sha256(code.encode()).hexdigest()
        lines.append(f"{module}.py,sha256={digest},{len(code)}")
    (facts / "RECORD").write_text("\n".join(lines))
