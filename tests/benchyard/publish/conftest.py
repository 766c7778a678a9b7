"""Spools and archives for the tests of publishing."""

import os
import subprocess
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import pytest

from benchyard.publish.claims import ClaimedFile, claimed
from tests.benchyard.publish.fake_sinks import FolderSink

Fill = Callable[..., list[str]]


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    folder = tmp_path / "spool"
    folder.mkdir()
    return folder


@pytest.fixture
def sink(tmp_path: Path) -> FolderSink:
    return FolderSink(tmp_path / "sink")


@pytest.fixture
def fill(spool: Path) -> Fill:
    """Let files wait that were written an hour ago, a second after each other."""

    def make(*names: str, content: str | None = None) -> list[str]:
        for number, name in enumerate(names):
            write(spool / name, f'{{"of": "{name}"}}' if content is None else content)
            when = spool.stat().st_mtime - 3600 + number
            os.utime(spool / name, (when, when))
        return list(names)

    return make


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.fixture
def hold(spool: Path) -> Generator[Callable[..., ClaimedFile]]:
    """Claim files of the spool, written for it, to the end of the test."""
    opened: list[Generator[ClaimedFile]] = []

    def one(name: str, content: str | bytes) -> Generator[ClaimedFile]:
        with claimed(write(spool / name, content)) as held:
            assert isinstance(held, ClaimedFile)
            yield held

    def make(name: str = "a.json", content: str | bytes = "{}") -> ClaimedFile:
        opened.append(one(name, content))
        return next(opened[-1])

    yield make
    for generator in opened:
        generator.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Generator[Path]:
    """Mount a disk of 64 KiB."""
    with disk_of(tmp_path, "64k") as folder:
        yield folder


@contextmanager
def disk_of(tmp_path: Path, size: str) -> Generator[Path]:
    """Mount a disk of a size, such as ``64k``."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder)
    yield folder
    subprocess.run(["/bin/umount", folder], check=True)


def mount(*options: str | Path) -> None:
    subprocess.run(["/bin/mount", *options], check=True)


def names(folder: Path) -> list[str]:
    """Return what lies in a folder, hidden files too."""
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def raising(error: BaseException) -> Callable[..., NoReturn]:
    """Return a function that takes whatever it is given and fails."""

    def refused(*_: object, **__: object) -> NoReturn:
        raise error

    return refused
