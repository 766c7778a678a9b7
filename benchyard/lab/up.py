"""Start a lab on this machine, or let the machine join the lab of another."""

import getpass
import shlex
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchyard.core.errors import InputError
from benchyard.lab import state
from benchyard.lab.automations import ensure_alerts, ensure_heartbeat_automation
from benchyard.lab.checkout import FLOWS
from benchyard.lab.deploying import Offered, declared, deploy
from benchyard.lab.ending import keep_up
from benchyard.lab.exploring import explorer_of
from benchyard.lab.lab import Lab, TestbedPlan, wait_for_dead_labs
from benchyard.lab.options import JoinOptions, LabOptions
from benchyard.lab.supervisor import Say, as_interrupts
from benchyard.lab.where import choose, reachable, use
from tasks.names import SERVER, SHOWN_PASSWORD, TESTBEDS, this_host
from tasks.prefect_internals import our_client

SERVED = "the testbed is served already, by pid {pid} on this machine; give another --name"


def join(options: JoinOptions, say: Say) -> bool:
    """Serve a lab as a testbed until somebody asks for the end.

    Returns:
        Whether the flow run that was under way at the end could finish.

    Raises:
        BenchyardError: If the server does not answer or does not take our password, or the worker
            does not come up.
        InputError: If the testbed is served already, or there are no flows.
    """
    name = options.testbed or this_host()
    raise_if_unfit(name)
    checkout = options.checkout.resolve()
    if not (checkout / FLOWS).is_file():
        raise InputError(f"there is no {FLOWS} in {checkout}; --checkout names Benchyard's folder")
    with ExitStack() as held:
        held.enter_context(state.claim(f"testbed-{name}", SERVED))
        with as_interrupts():
            use(where := reachable())
            queue = options.queue or name
            testbed = TestbedPlan(name, queue, options.testbed_tags, checkout, options.allow)
            lab = Lab(where, testbed, say)
            try:
                lab.start_testbed()
                lab.wait_for_workers()
            except BaseException:
                lab.abandon()
                raise

        def ready() -> None:
            say(
                f"the testbed {name} serves the lab at {where.ui}: one run at a time, of "
                f"the queues {queue} and default of the pool {TESTBEDS}"
            )
            say("Ctrl-C lets the run in progress finish, a second one stops it")

        return keep_up(lab, ready, options.grace)


def raise_if_unfit(name: str) -> None:
    """Refuse a name of a testbed that Prefect would not take for a worker and a queue.

    Raises:
        InputError: If it is one.
    """
    if not name.strip() or any(letter in name for letter in "/%&><") or len(name) > 60:
        raise InputError(f"'{name}' is no name for a testbed: it has no / % & < >, and is short")


_TWICE = "a lab is up on this machine already (pid {pid}): {url}; stop it with Ctrl-C or SIGTERM"


def up(options: LabOptions, say: Say, ready: Callable[[dict[str, Any]], None]) -> bool:
    """Bring a lab up and keep it up until somebody asks for its end.

    Args:
        say: Tells the user a line.
        ready: Called with what there is, once all of it answers.

    Returns:
        Whether the flow runs that were under way at the end could finish.

    Raises:
        BenchyardError: If a part does not come up.
        InputError: If a lab is up here already, or an option cannot be met.
    """
    name = options.testbed or this_host()
    raise_if_unfit(name)
    declared(options.prefect_yaml)
    with ExitStack() as held:
        tell = held.enter_context(state.claim("up", _TWICE))
        if not options.no_testbed:
            held.enter_context(state.claim(f"testbed-{name}", SERVED))
        with as_interrupts():
            wait_for_dead_labs(say)
            where = choose(options.host, options.port, own=not options.no_server)
            password = use(where)
            checkout = options.prefect_yaml.resolve().parent
            tags, allowed = options.testbed_tags, _reach(options)
            lab = Lab(where, TestbedPlan(name, name, tags, checkout, allowed), say)
            try:
                offered = _bring_up(lab, options, password)
            except BaseException:
                lab.abandon()
                raise
        tell(url=where.ui, api=where.api, password=password or "")

        def told() -> None:
            for line in [*welcome(lab, offered), *who_may(lab, password)]:
                say(line)
            ready(_facts(lab, offered, password))

        return keep_up(lab, told, options.grace)


def _reach(options: LabOptions) -> list[Path]:
    return [*([options.root] if options.root else []), *options.resource_folders, *options.allow]


def _bring_up(lab: Lab, options: LabOptions, password: str | None) -> Offered:
    if not options.no_explorer:
        folders = [lab.testbed.checkout, *lab.testbed.allowed]
        lab.start_explorer(explorer_of(lab.where, options.explorer_port, password, folders))
    if lab.where.bind is not None:
        lab.say(f"starting a Prefect server at {lab.where.ui}")
        lab.start_server(options.database_url)
    offered = deploy(options.prefect_yaml.resolve(), options.root, options.resource_folders)
    with our_client() as client:
        ensure_heartbeat_automation(client)
    if options.alerts is not None:
        ensure_alerts(options.alerts)
    if not options.no_testbed:
        lab.start_testbed()
    lab.start_control()
    lab.wait_for_workers()
    return offered


def welcome(lab: Lab, offered: Offered) -> list[str]:
    """Return what people are told of a lab that is up."""
    case_page = next((d.page for d in offered.deployments if d.name.startswith("execute-case")), "")
    lines = [
        "",
        f"the lab is up: {lab.where.ui}",
        f"  {_measuring(lab)}",
        f"  {len(offered.cases)} cases to choose from; execute one: {case_page} (Run, Custom run)",
    ]
    lines += [
        f"  schedule {slug} of {one.name}: {'active' if active else 'off, switch it on in the UI'}"
        for one in offered.deployments
        for slug, active in one.schedules.items()
    ]
    lines += [f"  the results: {lab.explorer.url}"] if lab.explorer else []
    lines.append(f"  failures and retries of all cases: {lab.where.ui}/artifacts/key/retries")
    lines += [f"  {offered.kept()}"] if offered.kept() else []
    return [*lines, "  Ctrl-C lets the run in progress finish, a second one stops it"]


def _measuring(lab: Lab) -> str:
    if not any(TESTBEDS in part.arguments for part in lab.workers):
        return f"this host measures nothing; benchyard worker adds testbeds to the pool {TESTBEDS}"
    testbed = lab.testbed
    queues = f"queues {testbed.queue} and default of the pool {TESTBEDS}"
    return f"testbed {testbed.name}: one run at a time; {queues}"


def who_may(lab: Lab, password: str | None) -> list[str]:
    """Return who may start what, and how to log in.

    The password itself is shown in a terminal alone: elsewhere it would stay in some log.
    """
    server = f"  for Prefect's own command line: export {SERVER}={lab.where.api}"
    if password is None:
        return [server]
    file = shlex.quote(str(state.password_file()))
    lines = [f'{server} {SHOWN_PASSWORD}="$(cat {file})"']
    if sys.stderr.isatty():
        lines.append(f"  log in with: {password}")
        lines += [f"  to the results: {lab.explorer.login}"] if lab.explorer else []
    user = getpass.getuser()
    return [*lines, f"  the password is in {file}; whoever has it starts programs as {user}"]


def _facts(lab: Lab, offered: Offered, password: str | None) -> dict[str, Any]:
    return {
        "ui": lab.where.ui,
        "api": lab.where.api,
        "explorer": lab.explorer.url if lab.explorer else None,
        "testbed": lab.testbed.name,
        "password_file": str(state.password_file()) if password else None,
        "deployments": [one.to_json() for one in offered.deployments],
        "cases": list(offered.cases),
        "processes": {part.name: part.process.pid for part in lab.parts if part.process},
        "logs": {part.name: str(part.log) for part in lab.parts},
    }
