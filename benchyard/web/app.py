"""The application: its pages, its safety, its errors."""

from collections.abc import Awaitable, Callable

from fastapi import FastAPI, Request, Response
from fastapi.staticfiles import StaticFiles

from benchyard import __version__
from benchyard.core.errors import BenchyardError
from benchyard.web.explorer import Explorer
from benchyard.web.pages import overview, run
from benchyard.web.rendering import render, static_folder

_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
#: Modules of pages, each with a router; the order is that of the first match.
_PAGES = (overview, run)


def make_app(explorer: Explorer) -> FastAPI:
    """Make the application of an explorer."""
    app = FastAPI(title="Benchyard", version=__version__, docs_url=None, redoc_url=None)
    app.state.explorer = explorer
    app.mount("/static", StaticFiles(directory=static_folder()), "static")
    for page in _PAGES:
        app.include_router(page.router)
    app.middleware("http")(_with_headers)
    app.add_exception_handler(BenchyardError, _refused)
    return app


async def _with_headers(
    request: Request, answer: Callable[[Request], Awaitable[Response]]
) -> Response:
    response = await answer(request)
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value)
    return response


async def _refused(request: Request, error: Exception) -> Response:
    return render(request, "error.html", 404, title="Not found", message=str(error))
