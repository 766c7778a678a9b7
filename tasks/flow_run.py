"""Which flow run this is, for the record."""

from prefect.context import FlowRunContext

from benchyard.model import Json


def this_flow_run() -> dict[str, Json]:
    """Return id, name and attempt of the flow run under way; empty outside of one."""
    context = FlowRunContext.get()
    if context is None or context.flow_run is None:
        return {}
    run = context.flow_run
    return {"id": str(run.id), "name": run.name, "attempt": run.run_count}
