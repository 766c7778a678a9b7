"""This machine's settings for apt, pip and npm, for builds that are to find what it finds."""

import ast
import json
import os
import re
import ssl
import subprocess
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

#: Where the certificates that this machine trusts lie in the images.
CERTIFICATES = "etc/benchyard-test/certificates.pem"

#: The engine knows these build arguments by itself. Source: Dockerfile reference,
#: "Predefined ARGs".
_PROXIES = ("http_proxy", "https_proxy", "ftp_proxy", "no_proxy", "all_proxy")
_PIP = ("index-url", "extra-index-url", "trusted-host", "proxy", "timeout", "default-timeout")
_PIP_SECTIONS = (":env:", "install", "global")
_TARGET = "$(REPO_URI) $(RELEASE) $(COMPONENT)"
_NPM = ("registry", "proxy", "https-proxy", "strict-ssl")
_APT = re.compile(
    r'Acquire::((https?|ftp)::Proxy(::\S+)?|Retries|ForceIPv[46]) ".+";', re.IGNORECASE
)


def files(suite: str) -> dict[str, bytes]:
    """Return the files, relative to an image's root, that carry the settings over.

    Args:
        suite: The image's Debian: a mirror of another one is of no use to it.
    """
    pip = _told(sys.executable, "-m", "pip", "config", "list")
    certificates = _certificates(pip)
    there = f"/{CERTIFICATES}" if certificates else ""
    found = {
        "etc/apt/sources.list": apt_sources(mirrors(suite)).encode(),
        "etc/apt/apt.conf.d/90host": apt_options(_told("apt-config", "dump"), there).encode(),
        "etc/pip.conf": pip_options(pip, there).encode(),
        "root/.npmrc": npm_options(_told("npm", "config", "list", "--json"), there).encode(),
        CERTIFICATES: certificates,
    }
    return {name: content for name, content in found.items() if content}


def proxies() -> dict[str, str]:
    """Return the proxies that this machine's programs are told of, by variable."""
    names = [name for lower in _PROXIES for name in (lower, lower.upper())]
    return {name: os.environ[name] for name in names if os.environ.get(name)}


def mirrors(suite: str) -> dict[str, str]:
    """Return where this machine finds a Debian's packages, by suite; nothing if it has another."""
    told = _told("apt-get", "indextargets", "--format", _TARGET, "Created-By: Packages")
    return suite_mirrors(told, suite)


def suite_mirrors(told: str, suite: str) -> dict[str, str]:
    """Pick a suite's mirrors from apt's targets, a line ``address suite component`` each."""
    wanted = (suite, f"{suite}-updates", f"{suite}-security")
    targets = [line.split() for line in told.splitlines() if len(line.split()) == 3]
    found = {
        release: address
        for address, release, component in reversed(targets)
        if component == "main" and release in wanted and address.startswith("http")
    }
    return {release: found[release] for release in wanted if release in found}


def apt_sources(found: Mapping[str, str]) -> str:
    """Return apt's list of sources; nothing without a mirror, then the image keeps its own."""
    return _lines(f"deb {address} {release} main" for release, address in found.items())


def apt_options(dump: str, certificates: str) -> str:
    """Return apt's options from its own dump: proxies, and where the certificates are."""
    kept = [line for line in dump.splitlines() if _APT.fullmatch(line)]
    return _lines([*kept, f'Acquire::https::CAInfo "{certificates}";'] if certificates else kept)


def pip_options(listing: str, certificates: str) -> str:
    """Return pip's configuration from its own listing; what is a path of this machine is left."""
    options = {name: _reachable(value) for name, value in _pip_listing(listing).items()}
    options = {name: value for name, value in options.items() if name in _PIP and value}
    if certificates:
        options["cert"] = certificates
    return _lines(["[global]", *(f"{name} = {value}" for name, value in options.items())])


def _pip_listing(listing: str) -> dict[str, str]:
    """Return pip's options by name; for one that is set twice, what pip's install goes by."""
    found: dict[str, str] = {}
    for section in reversed(_PIP_SECTIONS):
        for line in listing.splitlines():
            where, _, value = line.partition("=")
            if where.startswith(f"{section}."):
                found[where.removeprefix(f"{section}.")] = str(ast.literal_eval(value))
    return found


def _reachable(value: str) -> str:
    return " ".join(part for part in value.split() if not part.startswith(("file:", "/")))


def npm_options(listing: str, certificates: str) -> str:
    """Return npm's configuration from its own listing, which is JSON."""
    found: dict[str, object] = json.loads(listing) if listing else {}
    options = {name: found[name] for name in _NPM if isinstance(found.get(name), (str, bool))}
    if certificates:
        options["cafile"] = certificates
    return _lines(f"{name}={json.dumps(value)}" for name, value in options.items())


def _certificates(pip_listing: str) -> bytes:
    """Return the certificates that this machine's programs are told to trust, if they are."""
    told = [ssl.get_default_verify_paths().cafile, _pip_listing(pip_listing).get("cert")]
    for path in filter(None, told):
        with suppress(OSError):
            return Path(path).read_bytes()
    return b""


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _told(*arguments: str) -> str:
    """Ask a program that this machine may lack; it has then no settings either."""
    try:
        ended = subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return "" if ended.returncode else ended.stdout
