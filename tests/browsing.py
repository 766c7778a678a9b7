"""Debian's Chromium at Prefect's UI, as tests use it: every look waits for what it wants to see.

With BENCHYARD_PICTURES naming a folder, the screenshots of the docs are taken anew.
"""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import pytest
from selenium import webdriver
from selenium.common.exceptions import (
    ElementClickInterceptedException,
    StaleElementReferenceException,
    TimeoutException,
)
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from tests.conftest import eventually, program

OPTIONS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--window-size=1400,1100"),
    # The graph of a flow run is drawn with WebGL.
    *("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
)
_DRAWN_ANEW = (StaleElementReferenceException, ElementClickInterceptedException)
PATIENCE_SECONDS = 120.0
_LOADS = 4
_ATTEMPTS = 3
#: A picture of a page on which nothing is drawn is smaller.
_EMPTY_BYTES = 20_000
FoundT = TypeVar("FoundT")


class Browser:
    """A browser at the UI of the server whose address is ``root``."""

    def __init__(self, root: str) -> None:
        options = Options()
        options.binary_location = program("chromium")
        for option in OPTIONS:
            options.add_argument(option)
        self._root = root
        service = Service(program("chromedriver"))
        self.driver = webdriver.Chrome(options=options, service=service)

    def open(self, page: str) -> None:
        self.driver.get(self._root + page)

    def log_in(self, password: str) -> None:
        """Give the password on Prefect's own page."""
        self.open("/login")
        self.find(lambda: self.first("input[type=password]")).send_keys(password, Keys.ENTER)
        self.wait_for_text("Dashboard")

    def find(self, look: Callable[[], FoundT | None], seconds: float = PATIENCE_SECONDS) -> FoundT:
        """Look again and again: the page is drawn by a program that asks the server first."""
        waiting = WebDriverWait(self.driver, seconds, ignored_exceptions=_DRAWN_ANEW)
        try:
            return waiting.until(lambda _: look() or False)
        except TimeoutException as error:
            error.msg = f"{self.driver.current_url} shows:\n{self.text}"
            raise

    def elements(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def first(self, selector: str) -> WebElement | None:
        return next(iter(self.elements(selector)), None)

    def click(self, look: Callable[[], WebElement | None]) -> None:
        """Click as soon as it can be: the page may be drawn anew between look and click."""

        def clicked() -> bool | None:
            element = look()
            if element is None:
                return None
            element.click()
            return True

        self.find(clicked)

    def press(self, text: str, within: str = "body") -> None:
        """Press the button of that name."""
        self.click(
            lambda: next((b for b in self.elements(f"{within} button") if b.text == text), None)
        )

    def repeat_until(self, done: Callable[[], object], action: Callable[[], object]) -> None:
        """Repeat an action on a page until it has taken effect, as a user would.

        With three other labs on two processors, about one press of a button in twenty has no
        effect, or shows "Oops": the UI does not retry when the server's database is locked.
        """
        for _ in range(_ATTEMPTS):
            with suppress(TimeoutException):  # a late effect may have removed the button
                action()
            if eventually(done, PATIENCE_SECONDS / _ATTEMPTS):
                return
        pytest.fail(f"the action had no effect; {self.driver.current_url} shows:\n{self.text}")

    def wait_for_text(self, *texts: str, seconds: float = PATIENCE_SECONDS) -> None:
        self.find(lambda: all(text in self.text for text in texts) or None, seconds)

    @property
    def text(self) -> str:
        """What the page shows."""
        return self.driver.find_element(By.TAG_NAME, "body").text

    def page(self, page: str, *texts: str, tab: str | None = None) -> str:
        """Open a page and return what it is made of, as soon as it shows all the texts.

        It is loaded again now and then: what the server recorded after it was drawn, a page about
        something that ended does not ask for.
        """
        for _ in range(_LOADS - 1):
            with suppress(TimeoutException):
                return self._page(page, texts, tab, PATIENCE_SECONDS / _LOADS)
        return self._page(page, texts, tab, PATIENCE_SECONDS)

    def _page(self, page: str, texts: tuple[str, ...], tab: str | None, seconds: float) -> str:
        self.open(page)
        if tab is not None:
            self.click(lambda: self.first(f"li#{tab}"))
        self.wait_for_text(*texts, seconds=seconds)
        return self.driver.page_source

    def keep_picture(self, name: str) -> None:
        """Look whether there is something to be seen; keep it if pictures are wanted."""
        self.find(lambda: len(self.driver.get_screenshot_as_png()) > _EMPTY_BYTES or None)
        folder = os.environ.get("BENCHYARD_PICTURES")
        if folder:
            time.sleep(2)  # nothing in the page tells that what moves has come to rest
            (Path(folder) / name).write_bytes(self.driver.get_screenshot_as_png())

    def close(self) -> None:
        self.driver.quit()
