"""What is said of a container's program is true, or null, also if the lab looks late."""

import os
from functools import partial
from pathlib import Path

import pytest

from benchyard.host.counters import lives
from tests.resources._containers.workloads import ENDS, TELLS, measure
from tests.resources.containers import container_in, workspace_in

pytestmark = [
    pytest.mark.slow,
    pytest.mark.requires("docker"),
    pytest.mark.skipif(bool(os.environ.get("DOCKER_HOST")), reason="the engine is elsewhere"),
]


@pytest.mark.parametrize("command", ["execute", "run_to_end"])
@pytest.mark.parametrize("pause", [0.001, 0.05, 0.3])
def test_what_a_lab_that_looks_late_says_is_true_or_null(
    command: str, pause: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lives, "_PAUSE", pause)
    with container_in(workspace_in(tmp_path), runs=command == "execute") as made:
        call = partial(getattr(made, command), ["perl", "-e", f"{TELLS} burn(0.5); {ENDS}"])
        told = measure(made, call, "01-step")
    own, cpu_s = told["own"], told["used"]["resource_cpu_s"]
    # Its clock starts after its begin, and stops before its end.
    assert told["run_s"] is None or told["run_s"] > 0.99 * own["run_s"]
    if cpu_s is None:
        assert told["reasons"]["resource_cpu_s"]
    else:
        assert cpu_s == pytest.approx(own["cpu_s"], rel=0.01)
