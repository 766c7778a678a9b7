"""An explorer in a process of its own, and Debian's Chromium at its pages."""

import os
import re
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast
from urllib.parse import urljoin, urlsplit

from playwright.sync_api import (
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Page,
    Request,
    sync_playwright,
)

from tests.conftest import eventually, program

_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")
_FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--disable-dev-shm-usage",
)
#: Ids and names in addresses, which tell pages of one kind apart.
_ID = re.compile(r"[0-9a-f]{16}")
#: Of each kind of page that links lead to.
_PAGES_OF_A_KIND = 2


@contextmanager
def serving(*arguments: str | Path, **environment: str) -> Generator[str]:
    """Serve folders; give the address."""
    program = Path(sys.executable).with_name("benchyard")
    process = subprocess.Popen(
        [program, "serve", "--port", "0", *arguments],
        env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    said: list[str] = []
    reader = threading.Thread(target=_read, args=(process.stdout, said), daemon=True)
    reader.start()
    try:
        assert eventually(lambda: _address(said) or process.poll() is not None, 60), said
        address = _address(said)
        assert address, said
        assert eventually(lambda: _answers(address), 60), said
        yield address
    finally:
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(20)
        process.kill()
        process.wait()
        reader.join(20)
        cast("IO[str]", process.stdout).close()


def _read(stream: Any, said: list[str]) -> None:
    said.extend(stream)


def _address(said: Sequence[str]) -> str:
    found = _ADDRESS.search("".join(said))
    return found[0] if found else ""


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:  # noqa: S310
            return answer.status == 200
    except OSError:
        return False


@dataclass
class Surfer:
    """A browser at an explorer; it keeps what pages complained of.

    Args:
        trouble: Errors of scripts, of the console, refused contents, and dialogs: hostile texts
            that came to life would open one.
    """

    page: Page
    root: str
    trouble: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.page.on("pageerror", lambda error: self._note("script", str(error)))
        self.page.on("console", self._heard)
        self.page.on("dialog", self._asked)
        self.page.on("requestfailed", self._failed)

    def _note(self, kind: str, text: str) -> None:
        self.trouble.append(f"{self.page.url}: {kind}: {text}")

    def _heard(self, message: ConsoleMessage) -> None:
        # A picture that says why there is none; the answers of pages are looked at anyway.
        if message.type == "error" and "status of 422" not in message.text:
            self._note("console", message.text)

    def _asked(self, dialog: Dialog) -> None:
        self._note("dialog", dialog.message)
        dialog.dismiss()

    def _failed(self, request: Request) -> None:
        # Streams, and what belongs to a page that was left, end so.
        if "ERR_ABORTED" not in (request.failure or ""):
            self._note("request", f"{request.url} {request.failure}")

    def open(self, address: str) -> bool:
        """Open a page; tell whether it is one, and no document of data."""
        answer = self.page.goto(urljoin(self.root, address), wait_until="load")
        assert answer is not None
        if not answer.ok:
            self._note("answer", str(answer.status))
        return "text/html" in answer.headers.get("content-type", "")

    def links(self) -> list[str]:
        """Return where the page's links lead, within the explorer, without fragments."""
        found: list[str] = self.page.eval_on_selector_all("a[href]", "all => all.map(a => a.href)")
        own = [urlsplit(one)._replace(fragment="").geturl() for one in found]
        return list(dict.fromkeys(one for one in own if one.startswith(self.root)))

    def width_of_content(self) -> int:
        """Return how wide the page is, in pixels, with what has to be scrolled to."""
        width: int = self.page.evaluate("document.documentElement.scrollWidth")
        return width


@contextmanager
def surfing(root: str, **settings: Any) -> Generator[Surfer]:
    """Open a browser with Playwright's settings of a context."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program("chromium"), args=list(_FLAGS))
        context: BrowserContext = browser.new_context(**settings)
        try:
            yield Surfer(context.new_page(), root)
        finally:
            context.close()
            browser.close()


def kind_of(address: str) -> str:
    """Return an address without ids and what is asked for, the same for pages of one kind."""
    return _ID.sub("ID", urlsplit(address).path)


def is_page(address: str) -> bool:
    """Tell whether an address is that of a page for people, not of data or a file."""
    return not re.search(r"\.[a-z]+$", urlsplit(address).path) and "/file/" not in address


def crawl(surfer: Surfer, begin: Sequence[str] = ("/",)) -> dict[str, list[str]]:
    """Follow links; return pages by kind, a few of each."""
    waiting, seen = [urljoin(surfer.root, one) for one in begin], dict[str, list[str]]()
    while waiting:
        address = waiting.pop(0)
        known = seen.setdefault(kind_of(address), [])
        if address in known or len(known) >= _PAGES_OF_A_KIND or not is_page(address):
            continue
        if surfer.open(address):
            known.append(address)
            waiting.extend(surfer.links())
    assert not surfer.trouble, "\n".join(surfer.trouble)
    return {kind: pages for kind, pages in seen.items() if pages}
