"""A flow's parameters, made of the fields of a request: types, defaults, bounds and words."""

from collections.abc import Callable
from dataclasses import MISSING, fields
from inspect import Parameter, Signature, signature
from typing import Any, TypeVar

from benchyard.core.fields import Described, described
from benchyard.run.request import ExecutionOptions

FlowT = TypeVar("FlowT", bound=Callable[..., Any])


def parameters_of(kind: type[ExecutionOptions]) -> Callable[[FlowT], FlowT]:
    """Say that a flow takes the fields of a request by name, the first also by its place.

    Prefect makes the form, and what a deployment may give, of a function's signature and docstring.
    """

    def say(function: FlowT) -> FlowT:
        told, shared = described(kind), [one.name for one in fields(ExecutionOptions)]
        first, *rest = [name for name in told if name not in shared]
        ordered = [first, *shared, *rest]
        parameters = [_parameter(name, told[name]) for name in ordered]
        parameters[0] = parameters[0].replace(kind=Parameter.POSITIONAL_OR_KEYWORD)
        returns = signature(function).return_annotation
        vars(function)["__signature__"] = Signature(parameters, return_annotation=returns)
        listed = "".join(f"\n        {name}: {told[name].meaning}" for name in ordered)
        function.__doc__ = f"{function.__doc__}\n\n    Args:{listed}\n    "
        return function

    return say


def _parameter(name: str, field: Described) -> Parameter:
    default: Any = Parameter.empty if field.default is MISSING else field.default
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=field.hint)
