"""What a person does in Prefect's UI: start a case from the form, retry it, read the dashboard."""

from collections.abc import Generator
from contextlib import closing

import pytest
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select

from benchyard.results.folders import Results
from benchyard.results.record import read_record
from tests.benchyard.lab.labs import FINAL, RunningLab, Shell
from tests.browsing import Browser

pytestmark = [pytest.mark.slow, pytest.mark.lab, pytest.mark.requires("chromium", "chromedriver")]


@pytest.fixture(scope="module")
def browser(lab: RunningLab) -> Generator[Browser]:
    with closing(Browser(lab.url.removesuffix("/api"))) as browser:
        browser.log_in(lab.password)
        yield browser


def flow_runs(lab: RunningLab) -> set[str]:
    return {str(one["id"]) for one in lab.ask("/flow_runs/filter", {})}


def start_from_the_form(lab: RunningLab, browser: Browser) -> str:
    before = flow_runs(lab)
    browser.repeat_until(lambda: flow_runs(lab) - before, lambda: submit_the_form(lab, browser))
    (made,) = flow_runs(lab) - before
    return made


def submit_the_form(lab: RunningLab, browser: Browser) -> None:
    browser.open(f"/deployments/deployment/{lab.deployment()['id']}/run")
    choice = browser.find(
        lambda: next((s for s in browser.elements("select") if "cases/shaky" in s.text), None)
    )
    Select(choice).select_by_visible_text("cases/shaky")
    runs, _interval, _rest = browser.find(
        lambda: fields if len(fields := browser.elements("input[type=number]")) == 3 else None
    )
    runs.send_keys(Keys.CONTROL, "a")
    runs.send_keys("2")
    browser.keep_picture("form.png")
    browser.press("Submit")


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
    browser.repeat_until(
        lambda: lab.ask(f"/flow_runs/{flow_run}")["state_type"] != "FAILED",
        lambda: retry(browser, flow_run),
    )
    assert lab.wait_for(flow_run, "COMPLETED") == "COMPLETED"

    assert lab.ask(f"/flow_runs/{flow_run}")["run_count"] == 2
    assert [*Results(results).done()] == [1, 2]
    record = read_record(results / "run_1")
    assert record.flow_run["attempt"] == 2
    assert [one["outcome"] for one in record.tries] == ["failed"]


def retry(browser: Browser, flow_run: str) -> None:
    browser.open(f"/runs/flow-run/{flow_run}")
    browser.press("Retry")
    browser.keep_picture("retry.png")
    browser.press("Retry", within="[role=dialog]")


def inputs(browser: Browser) -> list[WebElement]:
    return browser.elements("[role=dialog] input")


def value(element: WebElement) -> str:
    return element.get_attribute("value") or ""


def save_the_schedule(lab: RunningLab, browser: Browser) -> None:
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
    browser.press("Save", within="[role=dialog]")


def test_a_schedule_is_set_in_the_form(lab: RunningLab, browser: Browser) -> None:
    browser.repeat_until(
        lambda: lab.deployment()["schedules"], lambda: save_the_schedule(lab, browser)
    )
    (made,) = lab.deployment()["schedules"]
    assert (made["slug"], made["active"]) == ("my-nights", True)
    assert made["schedule"]["cron"] == "0 1 * * *"
    place = f"/deployments/{lab.deployment()['id']}/schedules/{made['id']}"
    lab.ask(place, method="DELETE")  # and the flow runs of its times


def test_the_retry_table_and_the_result_are_found(browser: Browser) -> None:
    read_artifact(browser, "retries-shaky", "no route to host")
    read_artifact(browser, "retries", "shaky")
    read_artifact(browser, "result-shaky", "2 runs")
