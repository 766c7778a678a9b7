"""Templates into answers. Every text is escaped, whatever it contains."""

from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

from fastapi import Request, Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

_TEMPLATES = Environment(
    loader=PackageLoader("benchyard.web"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def day_and_time(seconds: float | None) -> str:
    """Return a time since the epoch as UTC; a dash if it is not known."""
    if seconds is None:
        return "-"
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")


_TEMPLATES.filters["day_and_time"] = day_and_time


def render(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    """Answer with a page."""
    text = _TEMPLATES.get_template(template).render(request=request, **values)
    return HTMLResponse(text, status)


def static_folder() -> str:
    """Return the folder of style sheets and scripts."""
    return str(files("benchyard.web") / "static")
