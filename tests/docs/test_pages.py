"""Each page whose commands are marked is executed from an empty home, as a reader would."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
#: A block that a comment before it marks: a file of that name, or commands to be executed.
_BLOCK = re.compile(
    r"^<!-- (file: (\S+)|execute) -->\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL
)

EXECUTED = [page for page in sorted(DOCS.rglob("*.md")) if "<!-- execute -->" in page.read_text()]

pages = pytest.mark.parametrize("page", EXECUTED, ids=lambda page: page.stem)


@pages
def test_every_command_of_a_page_is_executed(page: Path) -> None:
    """What a page shows and nobody executes goes wrong in silence."""
    shown = re.findall(r"^```sh$", page.read_text(), re.MULTILINE)
    executed = re.findall(r"^<!-- execute -->\n```sh$", page.read_text(), re.MULTILINE)
    assert executed
    assert len(shown) == len(executed)


@pytest.mark.slow
@pages
def test_a_page_can_be_followed(page: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    kept = {name: os.environ[name] for name in ("BENCHYARD_LOCK", "LANG") if name in os.environ}
    for found in _BLOCK.finditer(page.read_text()):
        if found[2]:
            file = home / found[2]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(found[3])
            continue
        ended = subprocess.run(
            ["/bin/bash", "-euo", "pipefail", "-c", found[3]],
            cwd=home,
            env={**kept, "PATH": path, "HOME": str(home)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, f"{found[3]}\n{ended.stdout}"
        assert "Traceback" not in ended.stdout, ended.stdout
