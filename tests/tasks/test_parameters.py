"""A flow's parameters: what the fields of a request say is what the form and a deployment get."""

import json
from dataclasses import asdict
from typing import Any, cast

import pytest
from prefect.exceptions import ParameterTypeError
from prefect.flows import Flow

from benchyard.core.fields import described
from benchyard.run.request import ExecutionOptions, Request
from benchyard.suite.request import SuiteRequest
from flows import execute_case as case_module
from flows.execute_suite import execute_suite

#: Prefect's flow, since it is imported here.
execute_case = cast("Flow[..., Any]", case_module.execute_case)


def vars_of(request: Request) -> dict[str, object]:
    """Return all fields but the case, as JSON has them."""
    found = json.loads(json.dumps(asdict(request)))
    del found["case"]
    return found


FLOWS: list[tuple[Flow[..., Any], type[ExecutionOptions]]] = [
    (execute_case, Request),
    (execute_suite, SuiteRequest),
]


@pytest.mark.parametrize(("flow", "kind"), FLOWS)
def test_each_field_is_a_parameter_with_its_words(
    flow: Flow[..., Any], kind: type[ExecutionOptions]
) -> None:
    schema = flow.parameters.model_dump()
    told = {name: field.meaning for name, field in described(kind).items()}

    assert {name: one["description"] for name, one in schema["properties"].items()} == told


@pytest.mark.parametrize(
    ("flow", "first"),
    [
        (execute_case, "case runs campaign baseline root most_runs until"),
        (execute_suite, "cases runs campaign baseline root changed budget pool"),
    ],
)
def test_what_people_set_stands_first_and_the_rest_is_advanced(
    flow: Flow[..., Any], first: str
) -> None:
    properties = flow.parameters.model_dump()["properties"]
    ordered = sorted(properties, key=lambda name: properties[name]["position"])
    plain = [name for name in ordered if properties[name]["title"] == name]
    rest = ordered[len(plain) :]
    assert ordered[: len(plain)] == plain == first.split()
    assert [properties[name]["title"] for name in rest] == [f"Advanced: {name}" for name in rest]


def test_defaults_are_those_of_the_request() -> None:
    properties = execute_case.parameters.model_dump()["properties"]
    defaults = vars_of(Request("any"))
    assert {name: properties[name].get("default") for name in defaults} == defaults


@pytest.mark.parametrize(
    "wrong", [{"runs": 0}, {"interval": 0.0}, {"campaign": "old"}, {"until": 1.0}, {"unknown": 1}]
)
def test_what_a_form_must_not_send_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises((ParameterTypeError, TypeError)):
        execute_case.validate_parameters({"case": "any", **wrong})
    given = {"case": "any", "runs": 1, "interval": 0.001, "campaign": "keep", "until": 0.5}
    assert execute_case.validate_parameters(given).items() >= given.items()
