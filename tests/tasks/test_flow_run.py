"""What a flow run says of itself, and what of that its case asks."""

import pytest
from prefect import flow
from prefect.context import FlowRunContext

from tasks.flow_run import baseline_of_flow_run, campaign_of_flow_run, first_start, this_flow_run


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
