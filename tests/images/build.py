"""Builds the images that the tests measure, without a registry: ``python tests/images/build.py``.

Each folder beside this file that has a Dockerfile is an image ``benchyard-test/<folder>:<VERSION>``
and ``:latest``, so named that none is mistaken for an upstream one. They stand on two that have no
folder: ``base``, Debian as debootstrap makes it, and ``host``, the base with this machine's
settings for apt, pip and npm (mirrors, proxies, certificates), so that a build finds what this
machine finds. A label carries a hash of all that an image is made from; while it fits, the
image stays.

``base`` needs root and debootstrap; the others need only an engine. All carry this machine's
settings, so they are not for publishing.
"""

import argparse
import hashlib
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import IO

# Run as a program, this folder is the first place where Python looks.
sys.path[:0] = [] if __package__ else [str(Path(__file__).resolve().parents[2])]

from tests.images import machine  # noqa: E402

FOLDER = Path(__file__).resolve().parent
PREFIX = "benchyard-test"
SUITE = "bookworm"
BASE = f"{PREFIX}/base:{SUITE}"
HOST = f"{PREFIX}/host:{SUITE}"
LABEL = "benchyard-test.key"
#: How an image is made is part of what it is made from.
PROGRAMS = ("build.py", "machine.py")

#: So many of the last lines of a failed program are told.
_TOLD_LINES = 25
_PARENT = re.compile(rf"^FROM ({PREFIX}/([\w-]+):\S+)$", re.MULTILINE)
_VERSION = re.compile(r"^ARG VERSION=(\S+)$", re.MULTILINE)
_KEY_FORMAT = f'{{{{index .Config.Labels "{LABEL}"}}}}'


class BuildError(Exception):
    """An image cannot be built; the text says why."""


# -- what there is


def names(folder: Path = FOLDER) -> list[str]:
    """Return the images that have a folder."""
    return sorted(path.parent.name for path in folder.glob("*/Dockerfile"))


def reference(name: str, folder: Path = FOLDER) -> str:
    """Return by what the engine knows an image, such as ``benchyard-test/postgresql:15``."""
    return f"{PREFIX}/{name}:{_found(_VERSION, 'ARG VERSION=', name, folder)[1]}"


def parent(name: str, folder: Path = FOLDER) -> str | None:
    """Return the image with a folder that this one stands on, if any.

    Raises:
        BuildError: If it stands on one that is not ours, or on another version than there is.
    """
    found = _found(_PARENT, f"FROM {PREFIX}/", name, folder)
    if found[1] == HOST:
        return None
    if found[2] not in names(folder) or found[1] != reference(found[2], folder):
        raise BuildError(f"{name}/Dockerfile stands on {found[1]}, which no folder here makes")
    return found[2]


def with_parents(wanted: Iterable[str], folder: Path = FOLDER) -> list[str]:
    """Return images with all that they stand on, each after its parent.

    Raises:
        BuildError: If there is no such image.
    """
    ordered: dict[str, None] = {}
    for name in wanted:
        if name not in names(folder):
            there = ", ".join(names(folder))
            raise BuildError(f"there is no image '{name}'; there are {there}")
        above = parent(name, folder)
        ordered |= dict.fromkeys([*(with_parents([above], folder) if above else []), name])
    return list(ordered)


def key(name: str, folder: Path = FOLDER) -> str:
    """Return a hash of all that an image is made from: its folder, its parent's, these programs."""
    above = parent(name, folder)
    files = [path for path in (folder / name).rglob("*") if path.is_file()]
    files += [path for path in map(folder.joinpath, PROGRAMS) if path.exists()]
    parts = {f"{_kind(path)} {path.relative_to(folder)}": path.read_bytes() for path in files}
    return digest(parts | {"parent": (key(above, folder) if above else SUITE).encode()})


def _kind(path: Path) -> str:
    # An image has a file with its right to be executed.
    return "program" if path.stat().st_mode & 0o100 else "file"


def digest(parts: Mapping[str, bytes]) -> str:
    """Return a hash of named contents, whatever their order: 64 hexadecimal digits."""
    found = hashlib.sha256()
    for name, content in sorted(parts.items()):
        for part in (name.encode(), content):
            # With their lengths, so that no other parts make the same bytes.
            found.update(len(part).to_bytes(8, "big") + part)
    return found.hexdigest()


def _found(pattern: re.Pattern[str], start: str, name: str, folder: Path) -> re.Match[str]:
    found = pattern.search((folder / name / "Dockerfile").read_text(encoding="utf-8"))
    if not found:
        raise BuildError(f"{name}/Dockerfile has no whole line that starts with '{start}'")
    return found


# -- what is here


@cache
def missing(name: str) -> str | None:
    """Say why an image must be built, or nothing if it is here and up to date.

    Args:
        name: Of a folder, or ``base``.
    """
    try:
        if name == "base":
            return None if _is_here(BASE) else f"{BASE} is not here"
        label = _docker("image", "inspect", "--format", _KEY_FORMAT, reference(name))
    except (BuildError, OSError) as error:
        return " ".join(str(error).split())
    if label.strip() == key(name):
        return None
    return f"{reference(name)} was built from other files than those here"


def _is_here(image: str) -> bool:
    return bool(_docker("images", "--quiet", image).strip())


# -- building


def build(wanted: Sequence[str], *, anew: bool = False) -> None:
    """Build images and what they stand on, each as soon as its parent is there.

    Args:
        anew: Build also what is up to date, and take up nothing of earlier builds.

    Raises:
        BuildError: If one of them cannot be built; the others are built all the same.
    """
    asked = with_parents(wanted)
    needed = [name for name in asked if anew or missing(name)]
    if len(needed) < len(asked):
        _say(f"up to date: {', '.join(name for name in asked if name not in needed)}")
    if not needed:
        return
    if anew or not _is_here(BASE):
        _timed("base", make_base)
    _timed("host", make_host)
    with ThreadPoolExecutor(max_workers=len(needed)) as workers:
        building: dict[str, Future[None]] = {}
        for name in needed:
            above = building.get(parent(name) or "")
            building[name] = workers.submit(_build_after, above, name, anew=anew)
    # What these builds took the names of, and nothing that lacks our label.
    _docker("image", "prune", "--force", "--filter", f"label={LABEL}")
    errors = [str(error) for each in building.values() if (error := each.exception())]
    if errors:
        raise BuildError("\n".join(errors))


def _build_after(above: "Future[None] | None", name: str, *, anew: bool) -> None:
    if above is not None and above.exception():
        raise BuildError(f"{name}: not built, for want of what it stands on")
    _timed(name, lambda: _make(name, anew=anew))


def _make(name: str, *, anew: bool) -> None:
    tags = ["--tag", reference(name), "--tag", f"{PREFIX}/{name}:latest"]
    options = ["--label", f"{LABEL}={key(name)}", *(["--no-cache"] if anew else [])]
    _docker_build(*tags, *options, str(FOLDER / name))


def make_base() -> None:
    """Make Debian from nothing but a mirror: this machine's, or else debootstrap's own."""
    mirror = machine.mirrors(SUITE).get(SUITE)
    with tempfile.TemporaryDirectory(prefix="benchyard-base-") as folder:
        execute(["debootstrap", "--variant=minbase", SUITE, folder, *([mirror] if mirror else [])])
        packing = ["tar", "--directory", folder, "--create", "."]
        with subprocess.Popen(packing, stdout=subprocess.PIPE) as tar:
            execute(["docker", "import", "--change", 'CMD ["bash"]', "-", BASE], stdin=tar.stdout)
        if tar.returncode:
            raise BuildError(f"'tar' ended with exit code {tar.returncode}")


def make_host() -> None:
    """Add to the base what builds need of this machine's settings."""
    files = machine.files(SUITE)
    with tempfile.TemporaryDirectory(prefix="benchyard-host-") as folder:
        for inside, content in files.items():
            path = Path(folder, inside)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        lines = [f"FROM {BASE}", *(f"COPY {inside} /{inside}" for inside in sorted(files))]
        Path(folder, "Dockerfile").write_text("\n".join(lines) + "\n", encoding="utf-8")
        _docker_build("--tag", HOST, "--label", f"{LABEL}={SUITE}", folder)


def _timed(name: str, make: Callable[[], None]) -> None:
    began = time.monotonic()
    _say(f"{name}: building")
    try:
        make()
    except BuildError as error:
        raise BuildError(f"{name}: {error}") from error
    _say(f"{name}: built in {time.monotonic() - began:.0f} s")


def _docker_build(*arguments: str) -> None:
    # The engine keeps build arguments of these names in no image.
    proxies = [f"--build-arg={name}={value}" for name, value in machine.proxies().items()]
    _docker("build", "--network", "host", *proxies, *arguments)


def _docker(*arguments: str) -> str:
    return execute(["docker", *arguments])


def execute(arguments: Sequence[str], stdin: int | IO[bytes] | None = subprocess.DEVNULL) -> str:
    """Execute a program to its end; return its output.

    Raises:
        BuildError: If it fails, with the end of what it said.
    """
    try:
        ended = subprocess.run(
            arguments, stdin=stdin, capture_output=True, text=True, errors="replace", check=False
        )
    except OSError as error:
        raise BuildError(f"'{arguments[0]}' cannot be executed: {error}") from error
    if ended.returncode:
        told = f"{ended.stdout}\n{ended.stderr}".strip().splitlines()
        last = "\n  ".join(told[-_TOLD_LINES:])
        raise BuildError(f"'{' '.join(arguments[:2])}' failed:\n  {last}")
    return ended.stdout


def _say(text: str) -> None:
    sys.stderr.write(f"images: {text}\n")


def main() -> int:
    """Build the images named on the command line, or all; return the exit code."""
    parser = argparse.ArgumentParser(description="Build the images that the tests measure.")
    parser.add_argument("names", nargs="*", help=f"which; all by default: {', '.join(names())}")
    parser.add_argument("--anew", action="store_true", help="also what is up to date, and the base")
    given = parser.parse_args()
    try:
        build(given.names or names(), anew=given.anew)
    except BuildError as error:
        _say(str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
