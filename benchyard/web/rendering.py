"""Templates into answers. Every text is escaped, whatever it contains."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from fastapi import Request, Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from benchyard import __version__
from benchyard.core.json_text import encoded
from benchyard.core.model import Json, Outcome
from benchyard.core.quantity import day_and_time, duration, plural
from benchyard.core.wording import printable

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
_STATIC = Path(__file__).parent / "static"
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
    return f"/static/{name}?v={sha256((_STATIC / name).read_bytes()).hexdigest()[:12]}"


def static_folder() -> str:
    """Return the folder of style sheets and scripts."""
    return str(_STATIC)


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
