"""What happens in a run that goes on, as server-sent events."""

import asyncio

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from benchyard.web.explorer import keep_fresh
from benchyard.web.live import LiveRuns
from benchyard.web.runs import Shown

router = APIRouter()
_runs = LiveRuns()


class _Events(StreamingResponse):
    """Events as they come; a server that stops ends them in good order."""

    media_type = "text/event-stream"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        except asyncio.CancelledError:
            await send({"type": "http.response.body", "body": b"", "more_body": False})


@router.get("/run/{run_id}/live", response_class=_Events)
async def live(request: Request, shown: Shown) -> Response:
    """Tell what happens in a run: events ``log``, ``steps``, ``curves``, and ``end`` at last."""
    keep_fresh(request)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return _Events(_runs.events(shown.entry.place), headers=headers)
