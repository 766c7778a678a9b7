"""What programs may ask the explorer: the addresses, and what each takes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from fastapi import APIRouter, Request, Response

from benchyard.core.table import LONG, TEXT, Cell, Field
from benchyard.web.rendering import render
from benchyard.web.tables import table_of

router = APIRouter()

#: By the end of a path; all else is JSON.
_MEDIA = {
    ".csv": "text/csv",
    ".md": "text/markdown",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".html": "text/html",
    "/live": "text/event-stream",
    "/image/{path}": "*/*",
}
_ERROR = {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}}

_FIELDS: Sequence[Field] = (
    ("address", "Address", TEXT, lambda one: Cell(one[0], href=None if "{" in one[0] else one[0])),
    ("summary", "What it answers", LONG, lambda one: one[1]["summary"]),
    ("query", "Takes", LONG, lambda one: ", ".join(_taken(one[1]))),
)


def describe(document: dict[str, Any]) -> None:
    """Let a document of OpenAPI say what FastAPI cannot know: media types, errors, fields."""
    schemas: dict[str, Any] = document.get("components", {}).pop("schemas", {})
    kept = {name: one for name, one in schemas.items() if "enum" in one}
    document["components"] = {"schemas": kept}
    for path, offered in document["paths"].items():
        operation = offered["get"]
        operation["parameters"] = [*_fields(operation.get("parameters", ()), schemas)]
        media = next((kind for end, kind in _MEDIA.items() if path.endswith(end)), "")
        known = operation["responses"]["200"]["content"].get("application/json", {}).get("schema")
        schema = {} if media else known or {"type": "object"}
        content = {media or "application/json": {"schema": schema}}
        kinds = ("text/plain", media, "text/html") if media else ("application/json",)
        refusal = {kind: {"schema": {} if media else _ERROR} for kind in kinds}
        operation["responses"] = {
            "200": {"description": "What is asked for", "content": content},
            "4XX": {"description": "Why there is none", "content": refusal},
        }


def _fields(taken: Iterable[Any], schemas: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the parameters of an address; FastAPI has one for all the fields of a model."""
    for one in taken:
        model = schemas.get(one["schema"].get("$ref", "").rpartition("/")[2], {})
        if "properties" not in model:
            yield one
        for name, schema in model.get("properties", {}).items():
            yield {"name": name, "in": "query", "required": False, "schema": schema}


@router.get("/api", include_in_schema=False)
def api(request: Request) -> Response:
    """Show the addresses of the API."""
    paths: dict[str, Any] = request.app.openapi()["paths"]
    found = ((path, offered["get"]) for path, offered in paths.items() if "get" in offered)
    table = table_of("addresses", "Addresses", _FIELDS, found)
    return render(request, "api.html", title="API", table=table)


def _taken(operation: Mapping[str, Any]) -> Iterator[str]:
    return (one["name"] for one in operation.get("parameters", ()) if one["in"] == "query")
