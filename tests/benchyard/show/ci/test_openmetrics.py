"""Medians as OpenMetrics."""

import re
import shlex
from pathlib import Path

from benchyard.show.ci.reports import openmetrics
from tests.benchyard.analysis.comparison.conftest import failed, run, step, titled
from tests.benchyard.show.ci.conftest import outcome

_SAMPLE = re.compile(r'(benchyard_\w+)\{((?:\w+="(?:[^"\\]|\\["\\n])*",?)*)\} (-?[0-9.e+-]+)')


def test_each_measured_step_has_its_median_interval_and_runs(tmp_path: Path) -> None:
    hostile = 'a "b\\ \n\x1b{}'
    records = [
        run(
            n,
            step(1.0 + n, values={"rows": 7}),
            step(0.1, name="set", index=2, measure=False),
            **titled(hostile),
        )
        for n in range(1, 8)
    ]
    made = openmetrics([outcome(tmp_path / "r", [*records, run(8, failed(), **titled(hostile))])])
    lines = made.splitlines()
    assert lines[-1] == "# EOF"
    samples = [line for line in lines if not line.startswith("#")]
    found = [_SAMPLE.fullmatch(line) for line in samples]
    assert all(found)
    values = {(one[1], 'step="load"' in one[2]): float(one[3]) for one in found if one}
    assert values == {
        ("benchyard_step_median_seconds", True): 5.0,
        ("benchyard_step_low_seconds", True): 2.0,
        ("benchyard_step_high_seconds", True): 8.0,
        ("benchyard_step_runs", True): 7.0,
        ("benchyard_step_reported", True): 7.0,
        ("benchyard_failed_runs", False): 1.0,
    }
    # Readers split lines as a shell does, or at the last blank.
    assert all(len(shlex.split(line)) == 2 for line in samples)


def test_a_family_is_declared_once_and_before_its_samples(tmp_path: Path) -> None:
    lines = openmetrics([outcome(tmp_path / "results", [run(1, step(1.0))])]).splitlines()
    declared = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(set(declared)) == len(declared)
    at = ""
    for line in lines[:-1]:
        at = line.split()[2] if line.startswith("# TYPE") else at
        assert line.startswith(("#", f"{at}{{"))
