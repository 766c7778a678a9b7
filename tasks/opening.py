"""From a request to everything that an execution needs; no Prefect here."""

import sys
from collections.abc import Mapping
from pathlib import Path

import resources
from benchyard.analysis.regressions import check_baseline
from benchyard.case.selection import one_case
from benchyard.case.subject.contents import declaration
from benchyard.case.subject.current import remember_code
from benchyard.case.testbeds import refuse_unfit
from benchyard.core.errors import InputError
from benchyard.core.model import Json
from benchyard.host.checks import findings
from benchyard.host.measuring import LocalCollector
from benchyard.publish import check_sinks
from benchyard.results.layout import results_folder
from benchyard.results.trust import Suspect
from benchyard.run.ordering import new_session
from benchyard.run.progress import current_listener
from benchyard.run.request import Request
from benchyard.run.run_context import RunContext
from benchyard.run.secrets import Provider, Secrets, no_secrets


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
