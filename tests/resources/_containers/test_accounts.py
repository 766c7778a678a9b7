"""What a container used is in the record, also when it was gone before anybody could ask."""

import json
import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchyard.cli import call
from benchyard.host.counters import lives
from tests.conftest import MakeCase, RunBenchyard
from tests.resources._containers.workloads import ENDS, PEAK, TELLS, measure
from tests.resources.containers import BASE, WAITS, container_in, shell, step_of, workspace_in

pytestmark = [pytest.mark.slow, pytest.mark.requires("docker")]

#: Uses memory and gives it back before it tells: what that costs at its end, it could not count.
BURNS = f"{TELLS} my $n = 512 << 20; my $x = 'x' x $n; {PEAK} undef $x; burn(4); {ENDS}"


@pytest.fixture
def record(run_benchyard: RunBenchyard, case_folder: MakeCase) -> Any:
    """Return a function that executes a case of one step; it returns the record and the folder."""

    def execute(step: Any, **settings: Any) -> tuple[Any, Path]:
        given = {"image": BASE, "command": WAITS, **settings}
        folder = case_folder("accounted", step, resources={"Container": given})
        ended = run_benchyard("run", folder, "--direct", "--runs", "1", "--cooldown", "0")
        assert ended.returncode == 0, ended.stderr
        return json.loads((folder / "results/run_1/run.json").read_text()), folder

    return execute


def used(record: Any) -> Any:
    return record["steps"][0]["attempts"][-1]["repetitions"][-1]["used"]


@pytest.mark.parametrize(
    ("command", "runs"), [("run_to_end", True), ("run_to_end", False), ("execute", True)]
)
def test_defect_12_a_program_is_accounted_for_to_its_end(
    record: Any, command: str, *, runs: bool
) -> None:
    document, folder = record(step_of("burn", command, ["perl", "-e", BURNS]), runs=runs)
    own = json.loads((folder / "results/run_1/container/01-burn.stdout.txt").read_text())
    found = used(document)
    # The group's peak counts pages of files as well: 5.4 MB more on a busy host.
    metrics = (("cpu_s", "cpu_s", 0.01), ("memory_peak_bytes", "peak_bytes", 0.03))
    for metric, counted, rel in metrics:
        if (value := found[f"resource_{metric}"]) is None:
            # On a busy host the lab may come too late for what ended with its container.
            assert command == "run_to_end"
            assert document["collector"]["unknown"][f"resource_{metric}"]
        else:
            assert value == pytest.approx(own[counted], rel=rel)


def test_limits_and_image_are_in_the_record_and_no_secret(
    record: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_SECRET", "s3cret")
    environment = {"PASSWORD": "${env:A_SECRET}"}
    step = step_of("fails", "execute", shell('echo "$PASSWORD"; exit 1'), may_fail=True)
    document, folder = record(step, cpus=1.5, memory="64MB", environment=environment)
    facts = document["resources"]["Container"]
    assert facts["image"] == BASE
    assert facts["id"].startswith("sha256:")
    assert facts["version"] == f"{BASE} ({facts['id']})"
    assert facts["created"]
    assert facts["limits"] == {"cpus": 1.5, "cpuset": None, "memory_bytes": 64 << 20}
    assert {"version", "storage_driver", "cgroup_driver", "cgroup_version"} <= set(facts["engine"])
    for file in (folder / "results").rglob("*"):
        assert file.is_dir() or b"s3cret" not in file.read_bytes(), file


@pytest.mark.parametrize(
    ("code", "metric", "limit"),
    [
        # Less than what a busy host gives it: who gets no more than its limit is not throttled.
        ("1 while (times)[0] < 0.05", "resource_throttled_s", {"cpus": 0.1}),
        ("my $x = 'x' x (300 << 20)", "resource_oom_kill_count", {"memory": "64MB"}),
    ],
)
def test_a_limit_that_the_group_around_does_not_see_is_never_told_as_zero(
    record: Any, code: str, metric: str, limit: dict[str, Any]
) -> None:
    step = step_of("limited", "run_to_end", ["perl", "-e", code], may_fail=True, retries=0)
    assert used(record(step, runs=False, **limit)[0])[metric] != 0


@pytest.mark.skipif(bool(os.environ.get("DOCKER_HOST")), reason="the engine is elsewhere")
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


# -- two containers of one class and of different images in one case

OTHER = "benchyard-test/python:3.11"


def test_two_images_fit_in_one_case(
    case_folder: MakeCase, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = ["sh", "-c", "hostname -i; getent hosts old new | wc -l; command -v python3 || true"]
    settings = {"command": WAITS, "entrypoint": [], "stop_seconds": 1}
    folder = case_folder(
        "two",
        {"resource": "old", "command": "execute", "parameters": {"arguments": ["true"]}},
        {"resource": "new", "command": "execute", "parameters": {"arguments": program}},
        resources={
            "old": {"class": "Container", "image": BASE, **settings},
            "new": {"class": "Container", "image": "${matrix.image}", **settings},
        },
        matrix={"image": [OTHER]},
    )
    arguments = ["--root", str(tmp_path), "--direct", "--runs", "1", "--cooldown", "0"]
    assert call(["run", *arguments]) == 0, capsys.readouterr().err
    [record] = folder.glob("results/*/run_1/run.json")
    told = json.loads(record.read_text())["resources"]
    assert {name: facts["class"] for name, facts in told.items()} == {
        "old": "Container",
        "new": "Container",
    }
    assert told["old"]["image"] == BASE
    assert told["new"]["image"] == OTHER
    assert told["old"]["version"] != told["new"]["version"]
    said = (record.parent / "new" / "02-new-execute.stdout.txt").read_text().split()
    assert said[1] == "2"  # each is found by its name
    assert not (record.parent / "container").exists()
