"""A flow's parameters: made of the fields of a request, with cases to choose; what they ask for.

No Prefect here.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, TypeVar

import resources
from benchyard.analysis.regressions import check_baseline
from benchyard.case.loading import find_cases, one_case
from benchyard.case.subject.contents import declaration
from benchyard.case.subject.current import remember_code
from benchyard.case.testbeds import refuse_unfit
from benchyard.core.errors import InputError
from benchyard.core.fields import Described, described
from benchyard.core.model import Case, Json, point_suffix
from benchyard.host.checks import findings
from benchyard.host.measuring import LocalCollector
from benchyard.publish.service import check_sinks
from benchyard.results.layout import results_folder
from benchyard.results.trust import Suspect
from benchyard.run.ordering import new_session
from benchyard.run.progress import current_listener
from benchyard.run.request import Request
from benchyard.run.run_context import RunContext
from benchyard.run.secrets import Provider, Secrets, no_secrets

FlowT = TypeVar("FlowT", bound=Callable[..., Any])


#: What people set, in the order of the form; the titles of all others say that they are advanced.
_FIRST = (
    *("case", "cases", "runs", "campaign", "baseline", "root"),
    *("most_runs", "until", "changed", "budget", "pool"),
)


def parameters_of(kind: type) -> Callable[[FlowT], FlowT]:
    """Say that a flow takes the fields of a request by name, the first also by its place.

    Prefect makes the form, and what a deployment may give, of a function's signature. Without
    Prefect the function stays as it is.
    """

    def say(function: FlowT) -> FlowT:
        if "prefect" in sys.modules:
            told = described(kind)
            first = [name for name in _FIRST if name in told]
            ordered = dict.fromkeys([*first, *told])
            parameters = [_parameter(name, told[name]) for name in ordered]
            parameters[0] = parameters[0].replace(kind=Parameter.POSITIONAL_OR_KEYWORD)
            returns = signature(function).return_annotation
            vars(function)["__signature__"] = Signature(parameters, return_annotation=returns)
        return function

    return say


def _parameter(name: str, field: Described) -> Parameter:
    from pydantic import Field  # noqa: PLC0415 - Prefect has imported it

    default: Any = Parameter.empty if field.default is MISSING else field.default
    title = name if name in _FIRST else f"Advanced: {name}"
    # Prefect gives each field a title, and the docstring's words; these stand above them.
    words = Field(json_schema_extra={"title": title, "description": field.meaning})
    hint = Annotated[field.hint, words]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def reference(case: Case, checkout: Path) -> str:
    """Return how a deployment's parameter names a case.

    Args:
        checkout: The folder that flow runs work in.
    """
    return f"{below(checkout, case.folder)}{point_suffix(case.point)}"


def below(checkout: Path, folder: Path) -> str:
    """Write a folder as flow runs find it: below the checkout where it is there, else absolute."""
    place, base = folder.resolve(), checkout.resolve()
    return str(place.relative_to(base) if place.is_relative_to(base) else place)


def choices(root: Path, checkout: Path, folders: Iterable[Path] = ()) -> list[str]:
    """Return the valid cases below a folder with their points, in the order of a listing.

    Args:
        root: Where cases are looked for.
        checkout: The folder that flow runs work in.
        folders: Further resource classes.

    Raises:
        InputError: If there is no such folder.
    """
    found = find_cases(root, (), (), resources.find(folders))
    return [reference(case, checkout) for item in found if not item.problems for case in item.cases]


def open_case(
    request: Request,
    *,
    provider: Provider = no_secrets,
    flow_run: Mapping[str, Json] | None = None,
    lab: Mapping[str, int] | None = None,
) -> RunContext:
    """Load the case and say where its results go and what measures it.

    Args:
        provider: Gives the values of ``${secret:NAME}``.
        flow_run: Prefect's id and name of the flow run.
        lab: The lab's own processes beside this one: name to process id.

    Raises:
        CaseError: If the case is invalid; all problems at once.
        InputError: If the request names no case or several, its amounts or its rule cannot be
            meant, or a sink lacks what it needs.
    """
    request.check()
    if request.wait_for_user and not sys.stdin.isatty():
        raise InputError("wait_for_user needs a terminal: nobody is there to press Enter")
    rule = request.rule
    check_sinks(request.publish)
    check_baseline(request.baseline)
    root = Path(request.root)
    registry = resources.find(Path(folder) for folder in request.resources)
    case = one_case(root, request.case, registry)
    remember_code(case, registry)
    read = declaration(case.folder, case.included)
    if not request.ignore_requirements:
        refuse_unfit([case])
    elsewhere = Path(request.results).resolve() if request.results else None
    results = results_folder(case, root, elsewhere)
    return RunContext(
        case=case,
        results=results,
        registry=registry,
        interval=request.interval,
        make_collector=LocalCollector,
        preflight=lambda: [finding.to_json() for finding in findings(results, look_seconds=0)],
        lab=lab or {},
        adaptive=rule.to_json() if rule else {},
        flow_run={**(flow_run or {}), **({"suite": request.suite} if request.suite else {})},
        secrets=Secrets(provider),
        session=request.session or new_session(),
        suspect=Suspect(request.suspect),
        sinks=request.publish,
        declaration=read,
        listener=current_listener(),
    )
