"""What a person does in Prefect's UI: start a case from the form, retry it, read the dashboard."""

from collections.abc import Callable, Generator
from contextlib import closing, suppress

import pytest
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select

from benchyard.results.folders import Results
from benchyard.results.record import read_record
from tests.benchyard.lab.labs import FINAL, RunningLab, Shell
from tests.browsing import PATIENCE_SECONDS, Browser
from tests.conftest import eventually

pytestmark = [pytest.mark.slow, pytest.mark.lab, pytest.mark.requires("chromium", "chromedriver")]


@pytest.fixture(scope="module")
def browser(lab: RunningLab) -> Generator[Browser]:
    with closing(Browser(lab.url.removesuffix("/api"))) as browser:
        browser.open(f"/benchyard/login#{lab.password}")
        yield browser


def flow_runs(lab: RunningLab) -> set[str]:
    return {str(one["id"]) for one in lab.ask("/flow_runs/filter", {})}


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
    before = flow_runs(lab)
    press_until(lambda: flow_runs(lab) - before, browser, "Submit")
    (made,) = flow_runs(lab) - before
    return made


def press_until(done: Callable[[], object], browser: Browser, text: str, **place: str) -> None:
    """Press a button until it has led to something.

    With three other labs on two processors, one press in some twenty led to nothing; the form still
    stood there, and a user would press again.
    """
    for _ in range(3):
        with suppress(TimeoutException):  # a press that took effect late took the button away
            browser.press(text, **place)
        if eventually(done, PATIENCE_SECONDS / 3):
            return
    pytest.fail(f"{text} led to nothing: {browser.text}")


def read_artifact(browser: Browser, key: str, *texts: str) -> None:
    """Go the way of a reader: the artifact's history by its key, then the newest version."""
    browser.open(f"/artifacts/key/{key}")
    browser.click(lambda: browser.first("a[href*='/artifacts/artifact/']"))
    browser.wait_for_text(*texts)
    browser.keep_picture(f"{key}.png")


def test_a_case_is_started_from_the_form_and_retried(
    lab: RunningLab, browser: Browser, shell: Shell
) -> None:
    results = shell.checkout / "cases" / "shaky" / "results"
    flow_run = start_from_the_form(lab, browser)
    assert lab.wait_for(flow_run, *FINAL) == "FAILED"
    assert [*Results(results).done()] == []

    (shell.home.parent / "mended").touch()
    browser.open(f"/runs/flow-run/{flow_run}")
    browser.press("Retry")
    browser.keep_picture("retry.png")
    browser.press("Retry", within="[role=dialog]")
    assert lab.wait_for(flow_run, "COMPLETED") == "COMPLETED"

    assert lab.ask(f"/flow_runs/{flow_run}")["run_count"] == 2
    assert [*Results(results).done()] == [1, 2]
    record = read_record(results / "run_1")
    assert record.flow_run["attempt"] == 2
    assert [one["outcome"] for one in record.tries] == ["failed"]


def inputs(browser: Browser) -> list[WebElement]:
    return browser.elements("[role=dialog] input")


def value(element: WebElement) -> str:
    return element.get_attribute("value") or ""


def test_a_schedule_is_set_in_the_form(lab: RunningLab, browser: Browser) -> None:
    browser.open(f"/deployments/deployment/{lab.deployment()['id']}")
    browser.press("Schedule")
    browser.wait_for_text("Parameter Overrides")
    browser.press("Cron", within="[role=dialog]")
    slug = browser.find(lambda: browser.first("input[placeholder^='Enter a unique']"))
    times = browser.find(lambda: next((i for i in inputs(browser) if "*" in value(i)), None))
    slug.send_keys("my-nights")
    times.send_keys(Keys.CONTROL, "a")
    times.send_keys("0 1 * * *")
    browser.wait_for_text("At 01:00 AM")
    browser.keep_picture("schedule.png")
    press_until(lambda: lab.deployment()["schedules"], browser, "Save", within="[role=dialog]")
    (made,) = lab.deployment()["schedules"]
    assert (made["slug"], made["active"]) == ("my-nights", True)
    assert made["schedule"]["cron"] == "0 1 * * *"
    place = f"/deployments/{lab.deployment()['id']}/schedules/{made['id']}"
    lab.ask(place, method="DELETE")  # and the flow runs of its times


def test_the_retry_table_and_the_result_are_found(browser: Browser) -> None:
    read_artifact(browser, "retries-shaky", "no route to host")
    read_artifact(browser, "retries", "shaky")
    read_artifact(browser, "result-shaky", "2 runs")
