"""What happens in a run that goes on, as server-sent events."""

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from benchyard.web.answers import keep_fresh
from benchyard.web.live import LiveRuns
from benchyard.web.runs import Shown

router = APIRouter()
_runs = LiveRuns()


@router.get("/run/{run_id}/live", response_class=StreamingResponse)
async def live(request: Request, shown: Shown) -> StreamingResponse:
    """Tell what happens in a run: events ``log``, ``steps``, ``curves``, and ``end`` at last."""
    keep_fresh(request)
    return StreamingResponse(
        _runs.events(shown.entry.place),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )
