"""Pages from templates, and sentences from errors; every text is escaped."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path
from typing import Any, cast

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, PlainTextResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.exceptions import HTTPException

from benchyard import __version__
from benchyard.core.errors import BenchyardError, InputError, NotFoundError
from benchyard.core.json_text import encoded
from benchyard.core.model import Json, Outcome
from benchyard.core.quantity import day_and_time, duration, plural
from benchyard.core.wording import printable, quote

#: Of every answer.
SAFETY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
#: The folder of style sheets and scripts.
STATIC = Path(__file__).parent / "static"
_MARKS = {
    Outcome.COMPLETED: "good",
    Outcome.TOLERATED: "doubtful",
    Outcome.CANCELLED: "quiet",
    Outcome.SKIPPED: "quiet",
    Outcome.FAILED: "bad",
    Outcome.TIMED_OUT: "bad",
}


def outcome_mark(outcome: str | None) -> str:
    """Return the mark of an outcome: ``good``, ``bad``, ``doubtful`` or ``quiet``."""
    return _MARKS.get(Outcome(outcome), "") if outcome in set(Outcome) else "quiet"


def padded(rows: Iterable[Sequence[Any]], length: int) -> Iterator[tuple[Any, ...]]:
    """Yield rows with None for what is left out at their ends."""
    for row in rows:
        yield (*row, *[None] * (length - len(row)))


@cache
def static(name: str) -> str:
    """Return the address of a style sheet, script or picture; it changes with the content."""
    return f"/static/{name}?v={sha256((STATIC / name).read_bytes()).hexdigest()[:12]}"


def _visible(value: Any) -> Any:
    """Escape what would turn the direction of the text around it, or cannot be seen."""
    return printable(value, but="\n\t") if type(value) is str else value


def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("benchyard.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        finalize=_visible,
    )
    cast("dict[str, Any]", made.globals).update(version=__version__, static=static)
    cast("dict[str, Any]", made.filters).update(
        day_and_time=day_and_time,
        seconds=duration,
        plural=plural,
        outcome_mark=outcome_mark,
        padded=padded,
    )
    return made


_TEMPLATES = _environment()


def render(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    """Answer with a page; ``macros.html`` tells how a template is written."""
    explorer = request.app.state.explorer
    text = _TEMPLATES.get_template(template).render(request=request, explorer=explorer, **values)
    return HTMLResponse(_utf8(text), status)


def json_answer(value: Json, status: int = 200) -> Response:
    """Answer with a JSON document; a number that is not finite becomes null."""
    return Response(_utf8(encoded(value)), status, media_type="application/json")


def document_of(*members: str) -> dict[int | str, dict[str, Any]]:
    """Return how OpenAPI describes the answer with a JSON object that has these members."""
    schema = {"type": "object", "required": [*members]}
    return {200: {"content": {"application/json": {"schema": schema}}}}


def csv_answer(text: str) -> Response:
    """Answer with a table as CSV."""
    return Response(_utf8(text), media_type="text/csv; charset=utf-8")


def _utf8(text: str) -> bytes:
    # Names of files may be no Unicode; JSON knows these escapes, people can read them.
    return text.encode("utf-8", "backslashreplace")


_SENTENCES = {
    HTTPStatus.NOT_FOUND: "there is nothing at this address",
    HTTPStatus.METHOD_NOT_ALLOWED: "the explorer shows and changes nothing: it knows GET and HEAD",
}
_UNEXPECTED = (
    "this page failed, which is a fault of Benchyard; the terminal of benchyard serve tells more"
)


def tell_troubles(app: FastAPI) -> None:
    """Let an application answer to errors."""
    app.add_exception_handler(BenchyardError, _deliberate)
    app.add_exception_handler(RecursionError, _too_deep)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _by_status)
    app.add_exception_handler(Exception, _unexpected)


def refused(request: Request, status: int, sentence: str) -> Response:
    """Answer with what is wrong: as JSON, text or a page, by the address and by ``Accept``."""
    suffix = request.url.path.rpartition("/")[2].rpartition(".")[2]
    accept = request.headers.get("accept", "")
    of_api = suffix == "json" or request.url.path.startswith("/explain-jobs")
    if of_api or ("json" in accept and "html" not in accept):
        return json_answer({"error": sentence}, status)
    if suffix in ("csv", "md", "svg", "png", "txt"):
        return PlainTextResponse(f"{sentence}\n".encode("utf-8", "backslashreplace"), status)
    title = HTTPStatus(status).phrase
    return render(request, "error.html", status, title=title, message=sentence)


def _deliberate(request: Request, error: Exception) -> Response:
    wrong_input = isinstance(error, InputError) and not isinstance(error, NotFoundError)
    return refused(request, 422 if wrong_input else 404, str(error))


def _too_deep(request: Request, error: Exception) -> Response:
    del error  # It tells of Python's stack.
    return refused(request, 422, "what is to be shown is nested too deeply")


def _invalid(request: Request, error: Exception) -> Response:
    found = cast("RequestValidationError", error).errors()
    return refused(request, 422, "; ".join(map(_problem, found)))


def _problem(found: Mapping[str, object]) -> str:
    place = ".".join(str(part) for part in cast("tuple[object, ...]", found["loc"])[1:])
    message = str(found["msg"])
    return f"{place}={quote(found['input'])}: {message[:1].lower()}{message[1:]}"


def _by_status(request: Request, error: Exception) -> Response:
    known = cast("HTTPException", error)
    sentence = _SENTENCES.get(HTTPStatus(known.status_code), str(known.detail))
    response = refused(request, known.status_code, sentence)
    response.headers.update(known.headers or {})
    return response


def _unexpected(request: Request, error: Exception) -> Response:
    del error  # The server logs it, with its traceback.
    response = refused(request, 500, _UNEXPECTED)
    response.headers.update(SAFETY_HEADERS)  # This answer passes by the guard.
    return response
