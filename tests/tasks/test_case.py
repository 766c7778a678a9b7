"""The tasks of a case: each kind of stage is a task of its own."""

import tasks.case
from tasks.lazy import Task

OF_A_RUN = (
    *("cooldown", "initialize", "start-collector", "stop", "stop-collector"),
    *("keep-outputs", "record", "checkpoint"),
)


def test_each_kind_of_stage_has_its_own_name_and_the_name_of_its_run_says_which() -> None:
    found = {one.name: one.run_name for one in vars(tasks.case).values() if isinstance(one, Task)}

    assert found == {
        **{name: f"run{{session.run}}/{name}" for name in OF_A_RUN},
        "step": "run{planned.run}/{planned.label}",
        **{name: name for name in ("summarize", "upload", "archive")},
    }
