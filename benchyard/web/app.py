"""The application: its pages, its safety, its errors."""

import asyncio
import gc
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any, cast

from anyio.to_thread import current_default_thread_limiter
from fastapi import Depends, FastAPI, Response
from fastapi.responses import RedirectResponse
from fastapi.staticfiles import StaticFiles
from starlette.types import Scope
from uvicorn.protocols.http.h11_impl import H11Protocol

from benchyard import __version__
from benchyard.catalogue.index import READERS
from benchyard.web.answers import Answers
from benchyard.web.explorer import Explorer, check_address
from benchyard.web.guard import Guard
from benchyard.web.pages import api
from benchyard.web.rendering import STATIC, static, tell_troubles

#: Names of the modules of pages, each with a router; the order is that of the first match.
_PAGES = (
    "overview",
    "runs",
    "cases",
    "case",
    "case_tables",
    "report",
    "compare",
    "plot",
    "failures",
    "alarms",
    "testbeds",
    "entries",
    "profiles",
    "explain",
    "curves",
    "live",
    "run",
    "api",
)


class HeadInTime(H11Protocol):
    """Closes a connection that sends no whole head within ``timeout_keep_alive`` seconds.

    Uvicorn begins to count after an answer, and stops at the first byte of the next head.
    """

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to wait for the first head."""
        super().connection_made(cast("asyncio.Transport", transport))
        self.timeout_keep_alive_task = self.loop.call_later(
            self.timeout_keep_alive, self.timeout_keep_alive_handler
        )

    def data_received(self, data: bytes) -> None:
        """Take what came; only a whole head stops the waiting."""
        self.conn.receive_data(data)
        self.handle_events()


class _Static(StaticFiles):
    """Files whose address changes with their content."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Answer with a file that browsers keep if the address says which content is meant."""
        response = await super().get_response(path, scope)
        if b"v=" in scope["query_string"]:
            response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return response


def _icon() -> Response:
    """Lead browsers to the icon, which documents of data cannot name."""
    return RedirectResponse(static("icon.svg"))


@asynccontextmanager
async def _ready_for_many(_: FastAPI) -> AsyncGenerator[None]:
    """Make answers to many readers at once quicker, as long as the application is served."""
    # Each thread has a connection to the index that stays open. More of them would wait for each
    # other, as one at a time executes Python, and take memory.
    current_default_thread_limiter().total_tokens = READERS
    # All wait while the collector looks through what was imported, and stays.
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


class _App(FastAPI):
    def openapi(self) -> dict[str, Any]:
        """Describe what is answered as it is."""
        if self.openapi_schema is None:
            api.describe(super().openapi())
        return super().openapi()


def make_app(explorer: Explorer) -> FastAPI:
    """Make the application of an explorer."""
    app = _App(
        title="Benchyard",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        lifespan=_ready_for_many,
    )
    app.state.explorer = explorer
    app.mount("/static", _Static(directory=STATIC), "static")
    for page in _PAGES:
        router = import_module(f"benchyard.web.pages.{page}").router
        app.include_router(router, dependencies=[Depends(check_address)])
    app.add_api_route("/favicon.ico", _icon, include_in_schema=False)
    tell_troubles(app)
    # The last one is asked first.
    app.add_middleware(Answers, explorer=explorer)
    app.add_middleware(Guard, explorer=explorer)
    return app
