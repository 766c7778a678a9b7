"""What a container used is in the record, also when it was gone before anybody could ask."""

import json
import platform
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import MakeCase, RunBenchyard
from tests.resources.containers import BASE, WAITS, step_of

pytestmark = [pytest.mark.slow, pytest.mark.requires("docker")]

SHARE = 0.01
MEGABYTES = 512
#: Source: Linux, arch/x86/entry/syscalls/syscall_64.tbl, scripts/syscall.tbl.
GETRUSAGE = 98 if platform.machine() == "x86_64" else 165
#: A child uses processor and memory and tells its largest resident set; then its parent tells what
#: the kernel accounted for both, to the child's very end (getrusage(2)).
BURNS = f"""
$| = 1;
if (!fork) {{
  my $n = {MEGABYTES} << 20; my $x = 'x' x $n; my $end = (times)[0] + 4; my $i = 0;
  while ((times)[0] < $end) {{ $i++ for 1 .. 1e5 }}
  open F, '/proc/self/status'; my ($kib) = map {{ /VmHWM:\\s+(\\d+)/ }} <F>;
  printf '{{"memory_bytes": %d, ', $kib * 1024; exit;
}}
wait; my $t = 0;
for my $who (0, -1) {{
  my $r = chr(0) x 144; syscall {GETRUSAGE}, $who, $r;
  my @r = unpack 'q4', $r; $t += $r[0] + $r[2] + ($r[1] + $r[3]) / 1e6;
}}
printf '"cpu_s": %.6f}}', $t;
"""


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
    assert found["resource_cpu_s"] == pytest.approx(own["cpu_s"], rel=SHARE)
    parts = found["resource_cpu_user_s"] + found["resource_cpu_system_s"]
    assert parts == pytest.approx(found["resource_cpu_s"])
    assert found["resource_memory_peak_bytes"] == pytest.approx(own["memory_bytes"], rel=SHARE)
    assert found["resource_disk_write_bytes"] is None or found["resource_disk_write_bytes"] >= 0


def test_limits_and_image_are_in_the_record_and_no_secret(
    record: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_SECRET", "s3cret")
    environment = {"PASSWORD": "${env:A_SECRET}"}
    step = step_of("nothing", "execute", ["true"])
    document, folder = record(step, memory="64MB", environment=environment)
    facts = document["resources"]["Container"]
    assert facts["limits"]["memory_bytes"] == 64 << 20
    assert facts["id"].startswith("sha256:")
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
