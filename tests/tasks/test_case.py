"""The tasks of a case: each kind of stage is a task of its own."""

import tasks.case
from tasks.lazy import Task


def test_each_kind_of_stage_has_its_own_name_and_the_name_of_its_run_says_which() -> None:
    found = {one.name: one.run_name for one in vars(tasks.case).values() if isinstance(one, Task)}

    of_run = {name for name, run_name in found.items() if run_name == f"run{{session.run}}/{name}"}
    assert of_run == {
        *("cooldown", "initialize", "start-collector", "stop", "stop-collector"),
        *("keep-outputs", "record", "checkpoint"),
    }
    others = {name: run_name for name, run_name in found.items() if name not in of_run}
    assert others == {
        "step": "run{planned.run}/{planned.label}",
        **{name: name for name in ("summarize", "upload", "archive")},
    }
