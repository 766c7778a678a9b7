"""A flow's parameters, made of the fields of a request: types, defaults, bounds and words."""

from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from inspect import Parameter, Signature, signature
from typing import Any, TypeVar, get_type_hints

from benchyard.run.request import ExecutionOptions, descriptions

FlowT = TypeVar("FlowT", bound=Callable[..., Any])


def parameters_of(kind: type[ExecutionOptions]) -> Callable[[FlowT], FlowT]:
    """Say that a flow takes the fields of a request by name, the first also by its place.

    Prefect makes the form, and what a deployment may give, of a function's signature and docstring.
    """

    def say(function: FlowT) -> FlowT:
        hints, told = get_type_hints(kind, include_extras=True), descriptions(kind)
        own = [one for one in fields(kind) if one not in fields(ExecutionOptions)]
        first, *rest = own
        ordered = [first, *fields(ExecutionOptions), *rest]
        parameters = [_parameter(one, hints[one.name]) for one in ordered]
        parameters[0] = parameters[0].replace(kind=Parameter.POSITIONAL_OR_KEYWORD)
        returns = signature(function).return_annotation
        vars(function)["__signature__"] = Signature(parameters, return_annotation=returns)
        listed = "".join(f"\n        {one.name}: {told[one.name]}" for one in ordered)
        function.__doc__ = f"{function.__doc__}\n\n    Args:{listed}\n    "
        return function

    return say


def _parameter(field: "Field[Any]", hint: Any) -> Parameter:
    default: Any = Parameter.empty if field.default is MISSING else field.default
    return Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=hint)
