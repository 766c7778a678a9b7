"""What a flow run says of itself, and what of that its case asks."""

from typing import Any

import pytest
from prefect import Task, flow
from prefect.cache_policies import NO_CACHE
from prefect.context import FlowRunContext
from prefect.settings import PREFECT_RESULTS_PERSIST_BY_DEFAULT, temporary_settings

from tasks.flow_run import baseline_of_flow_run, campaign_of_flow_run, first_start, this_flow_run
from tasks.housekeeping import look, publish
from tasks.suite import compare_suite, plan_suite, summarize_suite


@pytest.mark.slow
@pytest.mark.usefixtures("prefect_server")
@pytest.mark.parametrize("scheduled", [True, False])
def test_what_a_schedule_starts_begins_a_campaign(*, scheduled: bool) -> None:
    campaigns: list[str] = []

    @flow(persist_result=False)
    def asks() -> None:
        context = FlowRunContext.get()
        assert context is not None
        assert context.flow_run is not None
        context.flow_run.auto_scheduled = scheduled
        assert first_start() == context.flow_run.start_time
        assert campaign_of_flow_run("auto", filtered=True) == "auto"
        assert baseline_of_flow_run("old") == "old"
        assert baseline_of_flow_run(None) == ("previous" if scheduled else None)
        campaigns.extend(campaign_of_flow_run(asked) for asked in ("auto", "new", "keep"))

    asks()
    assert campaigns == ["new" if scheduled else "auto", "new", "keep"]


def test_outside_of_a_flow_run_there_is_none() -> None:
    assert (this_flow_run(), first_start()) == ({}, None)


@pytest.mark.parametrize("task", [plan_suite, compare_suite, summarize_suite, look, publish])
def test_no_task_is_answered_from_a_cache_however_prefect_is_configured(
    task: Task[..., Any],
) -> None:
    with temporary_settings({PREFECT_RESULTS_PERSIST_BY_DEFAULT: True}):
        made = task.with_options()
    assert (made.persist_result, made.cache_policy) == (False, NO_CACHE)
