"""The parameters of a command, read from its annotations: JSON Schema, and which name files."""

import dataclasses
import inspect
import json
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from benchyard.case.problems import JsonPath
from benchyard.case.resource import FileRole
from benchyard.core.model import Json, JsonObject, literal

_PLAIN: dict[Any, JsonObject] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
}


#: Around a type, these say nothing about its values.
_TRANSPARENT = (Annotated, Required, NotRequired)


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file name that stands among the parameters of a step.

    Args:
        path: Where it stands, from the parameters down.
    """

    role: FileRole
    name: str
    path: JsonPath


@dataclass(frozen=True, slots=True)
class Signature:
    """The outside of one command.

    Args:
        annotations: Parameter name to annotation.
        required: Parameters without a default.
        open: Whether further parameters are taken (``**parameters``).
        summary: First line of the docstring.
    """

    annotations: Mapping[str, Any]
    required: tuple[str, ...]
    defaults: Mapping[str, Any]
    open: bool
    summary: str

    def schema(self) -> JsonObject:
        """Return the JSON Schema of the parameters object."""
        properties: JsonObject = {
            name: schema_of(annotation) for name, annotation in self.annotations.items()
        }
        return {
            "type": "object",
            "properties": properties,
            "required": list(self.required),
            "additionalProperties": self.open,
        }

    def shown_default(self, name: str) -> str:
        """Return a parameter's default as JSON, or … if it is not a plain value."""
        default = self.defaults[name]
        plain = default is None or isinstance(default, str | int | float)
        return json.dumps(default) if plain else "…"

    def files(self, parameters: Mapping[str, Json]) -> Iterator[NamedFile]:
        """Yield each file that ``parameters`` or their defaults name.

        Values of a wrong type are passed over.
        """
        for name, annotation in self.annotations.items():
            value = parameters[name] if name in parameters else self.defaults.get(name)
            # An empty text that is the default means that there is none.
            if value != "" or self.defaults.get(name) != "":
                yield from _files_in(annotation, value, (name,))


@cache
def signature_of(target: Callable[..., Any]) -> Signature:
    """Read what a method takes, ``self`` left out, or a settings dataclass."""
    hints = get_type_hints(target, include_extras=True)
    parameters = list(inspect.signature(target).parameters.values())
    own = parameters if isinstance(target, type) else parameters[1:]
    named = [p for p in own if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    return Signature(
        annotations={p.name: hints.get(p.name, Any) for p in named},
        required=tuple(p.name for p in named if p.default is p.empty),
        defaults={p.name: p.default for p in named if p.default is not p.empty},
        open=any(p.kind is p.VAR_KEYWORD for p in own),
        summary=(inspect.getdoc(target) or "").partition("\n")[0],
    )


def schema_of(annotation: Any) -> JsonObject:
    """Return the JSON Schema of a type that JSON can express; an empty one for all others."""
    if annotation in _PLAIN:
        return dict(_PLAIN[annotation])
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in _TRANSPARENT:
        return schema_of(arguments[0])
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [schema_of(argument) for argument in arguments]}
    return _schema_of_container(annotation, origin, arguments)


def type_name(annotation: Any) -> str:
    """Name a type for people: ``input file``, ``list of string``, ``integer or null``."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        roles = [mark.value for mark in arguments[1:] if isinstance(mark, FileRole)]
        return roles[0] if roles else type_name(arguments[0])
    if origin in (Union, types.UnionType):
        return " or ".join(type_name(argument) for argument in arguments)
    if origin is tuple and arguments[1:] != (...,):
        return f"[{', '.join(type_name(argument) for argument in arguments)}]"
    schema = schema_of(annotation)
    if origin is Literal:
        return " or ".join(
            f'"{value}"' if isinstance(value, str) else f"{value}" for value in arguments
        )
    if schema.get("type") == "array":
        return f"list of {type_name(arguments[0])}"
    if is_typeddict(annotation):
        hints = get_type_hints(annotation, include_extras=True)
        return "{" + ", ".join(f"{n}: {type_name(hint)}" for n, hint in hints.items()) + "}"
    return str(schema.get("type", "anything"))


def _schema_of_container(annotation: Any, origin: Any, arguments: tuple[Any, ...]) -> JsonObject:
    if origin is tuple and arguments[1:] == (...,):
        return {"type": "array", "items": schema_of(arguments[0])}
    if origin is tuple:
        return {
            "type": "array",
            "prefixItems": [schema_of(argument) for argument in arguments],
            "minItems": len(arguments),
            "maxItems": len(arguments),
        }
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": schema_of(arguments[1])}
    if origin is list or (isinstance(origin, type) and origin.__name__ == "Sequence"):
        return {"type": "array", "items": schema_of(arguments[0])}
    if is_typeddict(annotation) or dataclasses.is_dataclass(annotation):
        return _schema_of_fields(annotation)
    return {}


def _schema_of_fields(annotation: Any) -> JsonObject:
    hints = get_type_hints(annotation, include_extras=True)
    required: list[Json] = [*sorted(getattr(annotation, "__required_keys__", ()))]
    return {
        "type": "object",
        "properties": {name: schema_of(hint) for name, hint in hints.items()},
        "required": required,
        "additionalProperties": False,
    }


def _files_in(annotation: Any, value: Json, path: JsonPath) -> Iterator[NamedFile]:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        roles = [mark for mark in arguments[1:] if isinstance(mark, FileRole)]
        if roles and isinstance(value, str):
            yield NamedFile(roles[0], literal(value), path)
    elif origin in (Union, types.UnionType, Required, NotRequired):
        for argument in arguments:
            yield from _files_in(argument, value, path)
    elif isinstance(value, list):
        yield from _files_in_list(origin, arguments, value, path)
    elif isinstance(value, dict):
        for name, hint in _members(annotation, value).items():
            yield from _files_in(hint, value.get(name), (*path, name))


def _members(annotation: Any, value: JsonObject) -> Mapping[str, Any]:
    """Return the annotation of each member that an object may have."""
    if is_typeddict(annotation):
        return get_type_hints(annotation, include_extras=True)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return dict.fromkeys(value, arguments[1])
    return {}


def _files_in_list(
    origin: Any, arguments: tuple[Any, ...], value: list[Json], path: JsonPath
) -> Iterator[NamedFile]:
    if not arguments:
        return
    fixed = origin is tuple and arguments[1:] != (...,)
    inner = list(arguments) if fixed else [arguments[0]] * len(value)
    for position, (argument, item) in enumerate(zip(inner, value, strict=False)):
        yield from _files_in(argument, item, (*path, position))
