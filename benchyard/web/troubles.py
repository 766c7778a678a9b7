"""What a caller is told when an address leads nowhere: one sentence, as a page or as JSON."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import cast

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import PlainTextResponse
from starlette.exceptions import HTTPException

from benchyard.core.errors import BenchyardError, InputError, NotFoundError
from benchyard.core.wording import quote
from benchyard.web.rendering import SAFETY_HEADERS, json_answer, render

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
