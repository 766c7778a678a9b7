"""What a person does in Prefect's UI: start a case from the form, retry it, read the dashboard.

With BENCHYARD_PICTURES naming a folder, the screenshots of the docs are taken anew.
"""

import os
import shutil
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, TypeVar

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
from selenium.webdriver.support.ui import Select, WebDriverWait

from benchyard.execution.layout import done_runs
from benchyard.record import read_record
from tests.conftest import eventually
from tests.flows.lab.labs import FINAL, RunningLab, Shell, add_case, make_checkout

pytestmark = [pytest.mark.slow, pytest.mark.lab, pytest.mark.requires("chromium", "chromedriver")]

OPTIONS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--window-size=1400,1100"),
)
_DRAWN_ANEW = (StaleElementReferenceException, ElementClickInterceptedException)
PATIENCE_SECONDS = 120.0
FoundT = TypeVar("FoundT")


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    base = tmp_path_factory.mktemp("browser")
    checkout = make_checkout(base / "checkout")
    flag = base / "mended"
    add_case(checkout, "shaky", f"test -e {flag} || {{ echo no route to host >&2; exit 3; }}")
    (base / "home").mkdir()
    return Shell(base / "home", checkout)


@pytest.fixture(scope="module")
def lab(shell: Shell) -> Generator[RunningLab]:
    with shell.up("--name", "bench") as lab:
        yield lab


class Browser:
    """Debian's Chromium at the UI of a lab."""

    def __init__(self, lab: RunningLab) -> None:
        options = Options()
        options.binary_location = shutil.which("chromium") or "chromium"
        for option in OPTIONS:
            options.add_argument(option)
        self._root = lab.url.removesuffix("/api")
        service = Service(shutil.which("chromedriver"))
        self.driver = webdriver.Chrome(options=options, service=service)

    def open(self, page: str) -> None:
        self.driver.get(self._root + page)

    def find(self, look: Callable[[], FoundT | None]) -> FoundT:
        """Look again and again: the page is drawn by a program that asks the server first."""
        waiting = WebDriverWait(self.driver, PATIENCE_SECONDS, ignored_exceptions=_DRAWN_ANEW)
        try:
            return waiting.until(lambda _: look())  # pyright: ignore[reportReturnType] - None never ends it
        except TimeoutException as error:
            error.msg = f"{self.driver.current_url} shows:\n{self.text}"
            raise

    def elements(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

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

    def wait_for_text(self, *texts: str) -> None:
        self.find(lambda: all(text in self.text for text in texts) or None)

    @property
    def text(self) -> str:
        """What the page shows."""
        return self.driver.find_element(By.TAG_NAME, "body").text

    def keep_picture(self, name: str) -> None:
        folder = os.environ.get("BENCHYARD_PICTURES")
        if folder:
            time.sleep(2)  # what moves has come to rest
            (Path(folder) / name).write_bytes(self.driver.get_screenshot_as_png())


@pytest.fixture(scope="module")
def browser(lab: RunningLab) -> Generator[Browser]:
    made = Browser(lab)
    yield made
    made.driver.quit()


def newest(lab: RunningLab) -> dict[str, Any]:
    wanted = {"limit": 1, "sort": "EXPECTED_START_TIME_DESC"}
    found = lab.ask("/flow_runs/filter", wanted)
    return found[0] if found else {}


def start_from_the_form(lab: RunningLab, browser: Browser) -> str:
    browser.open(f"/deployments/deployment/{lab.deployment()['id']}/run")
    choice = browser.find(
        lambda: next((s for s in browser.elements("select") if "cases/shaky" in s.text), None)
    )
    Select(choice).select_by_visible_text("cases/shaky")
    runs, _interval, cooldown = browser.find(
        lambda: fields if len(fields := browser.elements("input[type=number]")) == 3 else None
    )
    for field, text in ((runs, "2"), (cooldown, "0")):
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(text)
    browser.keep_picture("form.png")
    # With three other labs on two processors, one press in some twenty led to nothing; the form
    # still stood there, and a user would press again.
    for _ in range(3):
        browser.press("Submit")
        if eventually(lambda: newest(lab), PATIENCE_SECONDS / 3):
            break
    return str(browser.find(lambda: newest(lab).get("id")))


def read_artifact(browser: Browser, key: str, *texts: str) -> None:
    """Go the way of a reader: the artifact's history by its key, then the newest version."""
    browser.open(f"/artifacts/key/{key}")
    browser.click(lambda: next(iter(browser.elements("a[href*='/artifacts/artifact/']")), None))
    browser.wait_for_text(*texts)
    browser.keep_picture(f"{key}.png")


def test_a_case_is_started_from_the_form_and_retried(
    lab: RunningLab, browser: Browser, shell: Shell
) -> None:
    results = shell.checkout / "cases" / "shaky" / "results"
    flow_run = start_from_the_form(lab, browser)
    assert lab.wait_for(flow_run, *FINAL) == "FAILED"
    assert done_runs(results) == []

    (shell.home.parent / "mended").touch()
    browser.open(f"/runs/flow-run/{flow_run}")
    browser.press("Retry")
    browser.keep_picture("retry.png")
    browser.press("Retry", within="[role=dialog]")
    assert lab.wait_for(flow_run, "COMPLETED") == "COMPLETED"

    assert lab.ask(f"/flow_runs/{flow_run}")["run_count"] == 2
    assert done_runs(results) == [1, 2]
    record = read_record(results / "run_1")
    assert record.flow_run["attempt"] == 2
    assert [one["outcome"] for one in record.tries] == ["failed"]


def test_the_retry_table_and_the_result_are_found(browser: Browser) -> None:
    read_artifact(browser, "retries-shaky", "no route to host")
    read_artifact(browser, "retries", "shaky")
    read_artifact(browser, "result-shaky", "2 runs")
